#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/core/tensor.hpp"

namespace ckpt {

/// What is known of a tensor without its values.
struct NamedShape {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  bool operator==(const NamedShape&) const = default;
};

/// Whether one may be the other under another name: the shapes are equal, or are so once two dimensions
/// are exchanged, and both hold numbers of one class (floating, integer, …).
bool may_be_same(const NamedShape& a, const NamedShape& b);

/// `layers.0.mlp` as `layers`, `0`, `mlp`.
std::vector<std::string_view> split_segments(std::string_view name);

/// The parts of a name between dots or slashes, with one for several that say the same: `intermediate.dense`
/// is `fc1`.
std::vector<std::string_view> spoken_segments(std::string_view name);

/// What a segment says, as the tables of words have it: looked up once, it is held against many others.
struct SegmentMeaning {
  struct Word {
    std::string text;
    std::uint32_t opposites = 0;  ///< rows of words that exclude each other, as bits
  };
  std::string text;
  bool is_number = false;
  std::uint32_t synonyms = 0;  ///< rows of segments that stand for one thing, as bits …
  std::uint32_t families = 0;  ///< … and what they are one of
  std::vector<Word> words;

  explicit SegmentMeaning(std::string_view segment);
};

/// From below 0 to 1: how alike two segments are. 1 for the same; less for words that mean the same in
/// other models (`q_proj` and `query`, `mlp` and `feed_forward`), and for segments that share words; below
/// 0 where they name opposites (`encoder` and `decoder`, `weight` and `bias`). Numbers are alike only if
/// they are equal.
double segment_likeness(const SegmentMeaning& a, const SegmentMeaning& b);

/// The same where one of them is a number, or empty.
double number_likeness(std::string_view a, std::string_view b);

/// Whether one of two segments is a number of a gated feed-forward layer's parts (`w1`) and the other is not:
/// it says what they are only where the whole set is there; alone, `w1` may be anything.
bool numbers_gated_set(std::string_view a, std::string_view b);

/// Whether all three parts are there, under their names or numbered.
bool holds_gated_set(const std::function<bool(std::string_view)>& contains);

/// The same of whole names: the best alignment of their segments, in order, over their mean length.
double name_likeness(std::string_view a, std::string_view b);

/// Indices of the candidates that `name` may be a slip of, nearest first: those within a few characters,
/// numbers counting as numbers, or with like segments.
std::vector<std::size_t> nearest_names(std::string_view name, std::span<const std::string> candidates,
                                       std::size_t at_most = 3);

/// The candidate that `wanted` most likely goes by: of the same or the transposed shape first, then the
/// likest name. Nothing where none is likely, or two are equally so.
std::optional<std::size_t> did_you_mean(const NamedShape& wanted, std::span<const NamedShape> candidates);

}  // namespace ckpt
