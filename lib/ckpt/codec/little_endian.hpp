#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ckpt {

/// The unsigned number whose `sizeof(T)` bytes stand at `offset`, least significant first. The
/// caller has checked that they are there.
template <typename T> T load_le(std::span<const std::byte> bytes, std::size_t offset = 0) {
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;)
    value = static_cast<T>(value << 8U | std::to_integer<T>(bytes[offset + i]));
  return value;
}
template <> inline std::uint8_t load_le<std::uint8_t>(std::span<const std::byte> bytes, std::size_t offset) {
  return std::to_integer<std::uint8_t>(bytes[offset]);
}

}  // namespace ckpt
