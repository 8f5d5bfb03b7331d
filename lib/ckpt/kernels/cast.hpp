#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ckpt/core/dtype.hpp"

namespace ckpt {

/// What was lost when numbers were cast.
struct CastStatistics {
  std::uint64_t elements = 0;
  std::uint64_t overflowed = 0;   ///< became infinite, or what a type has in place of what it lacks
  std::uint64_t flushed = 0;      ///< numbers that became zero
  double max_relative_error = 0;  ///< over those that did neither

  CastStatistics& operator+=(const CastStatistics& other);
};

/// Whether elements of one type can become those of the other: both floating, neither packed.
bool can_cast(DType from, DType to);
/// Whether every number of `from` is one of `to`.
bool is_exact_cast(DType from, DType to);

/// Casts contiguous little-endian elements, to the nearest number with halves to even; what the type has of
/// NaN, infinities and two zeros is kept. `out` has room for as many elements as `in`. Adds to `statistics`.
void cast_elements(DType from, DType to, std::span<const std::byte> in, std::span<std::byte> out,
                   CastStatistics& statistics);

}  // namespace ckpt
