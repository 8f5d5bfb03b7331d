#pragma once

#include <cstdint>
#include <optional>
#include <string>
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
};

/// One tensor that both have and that is not the same.
struct Difference {
  enum class What { shape, dtype, values };
  What what = What::values;
  const Tensor* a = nullptr;
  const Tensor* b = nullptr;
  std::optional<ValueDifference> values;  ///< not for shapes; for dtypes only where values differ too
};

struct Comparison {
  std::vector<const Tensor*> only_in_a;
  std::vector<const Tensor*> only_in_b;
  std::vector<Difference> different;  ///< one entry a tensor, in A's order
  std::uint64_t equal = 0;            ///< tensors that are the same
  double max_abs = 0;  ///< over all tensors whose values were compared, within tolerance or not
  bool is_equal() const noexcept { return only_in_a.empty() && only_in_b.empty() && different.empty(); }
};

/// Compares names, shapes, types, then values, in one pass over each side through buffers of `memory`
/// bytes together. NaN equals NaN at the same place, -0 equals 0. Packed and quantised data, whose
/// numbers are not taken apart, are equal when their bytes are. The result points into both checkpoints.
Comparison compare(const Checkpoint& a, const Checkpoint& b, const Tolerance& tolerance,
                   std::uint64_t memory = 64U << 20);

}  // namespace ckpt
