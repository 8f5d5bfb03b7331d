#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ckpt/core/dtype.hpp"

namespace ckpt {

/// Whether `decode` knows the numbers of this type: all but packed and quantised ones.
bool can_decode(DType dtype);

/// How many numbers one element has: 2 for complex types, else 1.
inline std::size_t numbers_per_element(DType dtype) {
  return info(dtype).kind == DTypeClass::complex ? 2 : 1;
}

/// The numbers of contiguous little-endian elements, every one exact: a long double holds all 64-bit
/// integers. `bytes` holds whole elements; `out` gets `numbers_per_element` numbers for each.
void decode(DType dtype, std::span<const std::byte> bytes, std::vector<long double>& out);

/// Whether a type's numbers are real and doubles hold every one of them: all that can be decoded but
/// 64-bit integers and complex types.
bool decodes_to_double(DType dtype);

/// The same numbers as doubles, several times as fast.
void decode(DType dtype, std::span<const std::byte> bytes, std::vector<double>& out);

}  // namespace ckpt
