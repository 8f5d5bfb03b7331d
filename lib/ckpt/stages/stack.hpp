#pragma once

#include <string_view>

#include "ckpt/stages/edit.hpp"
#include "ckpt/stages/rule.hpp"

namespace ckpt {

/// `experts\.(\d+)\.w1 => experts.w1`: group 1 of the pattern is the index. Throws `usage`: what `parse_rule`
/// throws, and a pattern without a group.
Rule parse_stack_rule(std::string_view line);
/// `experts\.w1 => experts.#.w1`: `#` stands for the index. Throws `usage` also without one.
Rule parse_unstack_rule(std::string_view line);

/// Joins tensors that become one name along a new first dimension, in the order of their indices. No byte
/// moves. Throws `refused` when an index is missing or stands twice, when shapes or types differ, and when
/// the rule matches nothing.
Edited stack(Checkpoint checkpoint, const Rule& rule);

/// The other way: a tensor for each index of the first dimension. Throws `refused` for scalars, packed data,
/// tensors that are themselves joined, and when the rule matches nothing.
Edited unstack(Checkpoint checkpoint, const Rule& rule);

}  // namespace ckpt
