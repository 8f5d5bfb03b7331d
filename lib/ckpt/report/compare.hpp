#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ckpt/core/checkpoint.hpp"

namespace ckpt {

/// How close values must be, as NumPy's `allclose` defines it: |a - b| <= absolute + relative * |b|, for
/// complex numbers with their modulus.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

/// How the values of two tensors of one shape differ.
struct ValueDifference {
  std::uint64_t count = 0;             ///< elements that lie outside the tolerance
  std::uint64_t elements = 0;          ///< of how many
  double max_abs = 0;                  ///< largest |a - b|; NaN where only one side is a number
  std::vector<std::uint64_t> at = {};  ///< index of the element where that is
  double mean_abs = 0;                 ///< of |a - b| over all elements; NaN or infinite where one is
  double max_relative = 0;             ///< largest |a - b| / |b| where b is a number other than 0
};

/// One tensor that both have and that is not the same.
struct Difference {
  enum class What { shape, dtype, values };
  What what = What::values;
  const Tensor* a = nullptr;
  const Tensor* b = nullptr;
  std::optional<ValueDifference> values;  ///< not for shapes; for dtypes only where values differ too
  /// Where shapes differ in the first dimension only and all rows that both have are equal: how many.
  std::optional<std::uint64_t> common_rows = {};
};

struct Comparison {
  std::vector<const Tensor*> only_in_a;
  std::vector<const Tensor*> only_in_b;
  /// Tensors of A and B under other names, and the only ones of these bytes: in neither list above.
  std::vector<std::pair<const Tensor*, const Tensor*>> renamed;
  std::vector<Difference> different;  ///< one entry a tensor, in A's order
  std::uint64_t equal = 0;            ///< tensors that are the same
  double max_abs = 0;  ///< over all tensors whose values were compared, within tolerance or not
  bool is_equal() const noexcept {
    return only_in_a.empty() && only_in_b.empty() && renamed.empty() && different.empty();
  }
};

struct CompareOptions {
  Tolerance tolerance = {};
  bool reads_values = true;           ///< false: names, shapes and types only, no data is read
  std::uint64_t memory = 64U << 20U;  ///< of all buffers together
  unsigned threads = 0;               ///< 0: as many as there are processors
};

/// Compares names, shapes, types, then values, in one pass over each side. NaN equals NaN at the same
/// place, -0 equals 0. Packed and quantised data, whose numbers are not taken apart, are equal when their
/// bytes are. Throws `corrupt` where data that were read are not what the file's checksum states. The result
/// points into both checkpoints, and is the same for any number of threads.
Comparison compare_with(const CompareOptions& options, const Checkpoint& a, const Checkpoint& b);
Comparison compare(const Checkpoint& a, const Checkpoint& b, const Tolerance& tolerance,
                   std::uint64_t memory = 64U << 20);

}  // namespace ckpt
