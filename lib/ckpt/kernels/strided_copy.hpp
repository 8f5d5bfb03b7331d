#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ckpt {

/// One dimension of a copy: how many elements, and how far apart they lie, in bytes.
struct CopyDimension {
  std::uint64_t count = 1;
  std::uint64_t source_step = 0;
  std::uint64_t target_step = 0;
};

/// Copies elements of `size` bytes (1, 2, 4, 8 or 16) from one strided layout in memory to another.
/// Both must hold every element that the dimensions reach; they do not overlap. Works in tiles, so
/// that a transpose does not fetch a cache line for each element.
void copy_strided(std::byte* target, const std::byte* source, std::span<const CopyDimension> dimensions,
                  unsigned size);

}  // namespace ckpt
