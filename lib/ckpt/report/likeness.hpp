#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ckpt/report/name_parts.hpp"

namespace ckpt {

/// Likeness of names as lists of segments, with what pairs have taught: segments that stand in each other's
/// place mean the same from then on.
class Likeness {
 public:
  using Segments = std::span<const std::size_t>;

  /// `may_number` says whether both lists have all members of the set that one may number and the other
  /// call by name.
  Likeness(const Texts& texts, bool may_number) : texts_(texts), may_number_(may_number) {}

  /// The best alignment of the segments, over their mean number; what stands in the same gap of both and
  /// names opposites makes them strangers: below 0.
  double of_names(Segments a, Segments b);

  /// What stands in the same gap of both names, numbers aside: `.emb` and `.lm_head`.
  using Exchange = std::pair<std::string, std::string>;
  std::set<Exchange> exchanged(Segments a, Segments b);

  void learn(Segments a, Segments b);

 private:
  double of(std::size_t a, std::size_t b);
  const SegmentMeaning& meaning(std::size_t id);
  void teach(std::size_t a, std::size_t b);
  void align(Segments a, Segments b);
  double& at(std::size_t i, std::size_t j) { return table_[i * width_ + j]; }

  /// [begin, end) of one name and [to_begin, to_end) of the other.
  using TakeGap = std::function<void(std::size_t, std::size_t, std::size_t, std::size_t)>;
  /// Every stretch of either name between well aligned segments, empty ones too.
  void each_gap(Segments a, Segments b, const TakeGap& take);

  const Texts& texts_;
  bool may_number_;
  std::unordered_map<std::uint64_t, double> known_;
  std::unordered_map<std::size_t, SegmentMeaning> meanings_;
  std::vector<double> table_;  // of the last alignment
  std::size_t width_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> steps_;  // its aligned segments, in order
};

}  // namespace ckpt
