#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ckpt/report/names.hpp"

namespace ckpt {

/// One tensor of the source that is taken to be one of the target.
struct NamePair {
  std::size_t source = 0;
  std::size_t target = 0;
  std::size_t family = 0;  ///< pairs of one family differ in the numbers of their names only
};

struct NamePairs {
  std::vector<NamePair> pairs;
  bool is_cut = false;  ///< there were more names than can be compared: equal ones are paired, and no others
};

/// Pairs tensors of two lists whose names follow different conventions, one-to-one, by shapes, words, the
/// order of items of lists, and neighbours. What has one name and one shape on both sides is itself, unless
/// its list counts differently. A name for which two partners are about equally likely is left out, and so is
/// one whose partner has the right shape, or is the last that is left, but is called otherwise: words that
/// are exchanged need to be synonyms, or several pairs must exchange the same.
///
/// How: names that differ in numbers only, of tensors of one kind, are a class. Between two classes a
/// *template* keeps some numbers and fixes others (`blocks.#.mlp.0.weight` is `layers.#.fc1.weight`); it
/// holds where every name it yields that exists has a fitting shape. Lists that count differently (1, 2, 3
/// and 0, 1, 2; 0, 2, 4; `input_blocks.#` and `down_blocks.#.resnets.#`) are paired item by item
/// (item_pairs.hpp) where all shapes fit in order and nothing is missing around them (item_structure.hpp);
/// what most modules of the items say of them binds the others. Templates and such series compete by the
/// likeness of their names (likeness.hpp), and pairs are taken where both sides have no other choice nearly
/// as good, matrices first. What is taken teaches: segments that stood for each other, modules that are each
/// other, and fewer names left to choose from.
NamePairs pair_names(std::span<const NamedShape> source, std::span<const NamedShape> target);

}  // namespace ckpt
