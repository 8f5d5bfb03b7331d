#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace ckpt {

/// Arithmetic on numbers that come from a file: nothing when the result does not fit 64 bits.
inline std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

inline std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// The next multiple of `alignment` at or after `value`; nothing when that does not fit 64 bits.
inline std::optional<std::uint64_t> checked_align(std::uint64_t value, std::uint64_t alignment) {
  const std::uint64_t rest = value % alignment;
  return rest == 0 ? value : checked_add(value, alignment - rest);
}

/// Whether [offset, offset + size) lies inside [0, whole), computed without overflow.
inline bool range_fits(std::uint64_t offset, std::uint64_t size, std::uint64_t whole) {
  return offset <= whole && size <= whole - offset;
}

}  // namespace ckpt
