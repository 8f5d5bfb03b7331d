#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ckpt/core/dtype.hpp"

namespace ckpt {

/// What one pass over a tensor's numbers finds. `min` to `std` are of the finite ones, and mean nothing
/// where there are none.
struct Statistics {
  std::uint64_t elements = 0;
  std::uint64_t nans = 0;
  std::uint64_t infinities = 0;
  std::uint64_t zeros = 0;  ///< plus and minus zero
  long double min = 0;
  long double max = 0;
  double mean = 0;
  double std = 0;  ///< of the population, as NumPy's `std` has it

  std::uint64_t finite() const noexcept { return elements - nans - infinities; }
};

/// Whether a type has numbers that can be put in order: all but complex, packed and quantised ones.
bool can_measure(DType dtype);

/// Gathers statistics in one pass. Means and deviations are taken over short runs in two steps and then
/// joined (Chan, Golub and LeVeque), so that neither many elements nor a large mean cost digits.
class StatisticsGatherer {
 public:
  /// `dtype` can be measured.
  explicit StatisticsGatherer(DType dtype) : dtype_(dtype) {}

  /// Adds whole elements, contiguous and little-endian.
  void add(std::span<const std::byte> bytes);
  Statistics finish() const;

 private:
  template <typename Number> void add_run(std::span<const Number> finite);

  DType dtype_;
  Statistics statistics_;
  long double count_ = 0;
  long double mean_ = 0;
  long double squares_ = 0;  // sum of squared distances from the mean
};

/// Counts of numbers in equal steps from `min` to `max`, the last step closed, as NumPy's `histogram`.
struct Histogram {
  long double min = 0;
  long double max = 0;
  std::vector<std::uint64_t> counts;
};

/// Adds the finite elements of `bytes` that lie within the histogram's bounds.
void add_to_histogram(DType dtype, std::span<const std::byte> bytes, Histogram& histogram);

}  // namespace ckpt
