#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ckpt/core/dtype.hpp"

namespace ckpt {

/// What one pass over a tensor's elements finds that should not be in weights.
struct Scan {
  std::uint64_t elements = 0;
  std::uint64_t nans = 0;
  std::uint64_t infinities = 0;
  std::uint64_t zeros = 0;        ///< plus and minus zero
  std::uint64_t not_boolean = 0;  ///< of a boolean type: neither 0 nor 1
  bool is_constant = true;        ///< every element has the bits of the first
};

/// Whether elements of this type can be scanned: all that fill whole bytes and are not quantised.
bool can_scan(DType dtype);

/// Adds the elements of `bytes`, contiguous and little-endian, to `scan`. `first` is the first element
/// of the whole tensor, for `is_constant`; both hold whole elements.
void scan_elements(DType dtype, std::span<const std::byte> bytes, std::span<const std::byte> first,
                   Scan& scan);

}  // namespace ckpt
