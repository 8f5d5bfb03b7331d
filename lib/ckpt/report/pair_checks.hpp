#pragma once

#include <span>
#include <vector>

#include "ckpt/report/both_lists.hpp"
#include "ckpt/report/pairing.hpp"

namespace ckpt {

/// What pairs must stand when all are made. Each of these drops those that do not.

/// Pairs that rest on their shape, or on there being no other: where one name has words that the other has
/// not and the other way round, several pairs must have exchanged the same.
void drop_unfounded(const BothLists& lists, bool has_whole_sets, std::vector<NamePair>& pairs);

/// Pairs that say of two items of lists that they are each other, which cannot be:
/// `up.2.block.0.norm1.weight` and `up_blocks.2.resnets.0.norm1.weight` may well have one shape, but not if
/// `conv1.weight` stands below both items and has two.
void drop_other_items(std::span<const NamedShape> source, std::span<const NamedShape> target,
                      std::vector<NamePair>& pairs);

/// Pairs in which a name moves to where another one stays.
void drop_occupied(std::span<const NamedShape> source, std::span<const NamedShape> target,
                   std::vector<NamePair>& pairs);

}  // namespace ckpt
