#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ckpt/core/bytes.hpp"

namespace ckpt {

/// Reads small pieces of a source in rising order. Where they lie close together, many come with one read;
/// where they do not, no more is read than is wanted.
class Window {
 public:
  explicit Window(const ByteSource& source) : source_(source) {}

  /// The bytes at `offset`; valid until the next call. Throws `corrupt` when they leave the source. The
  /// caller has checked `size` against a limit.
  std::span<const std::byte> get(std::uint64_t offset, std::uint64_t size);

 private:
  const ByteSource& source_;
  std::uint64_t begin_ = 0;
  std::uint64_t held_ = 0;  // bytes of the source that `bytes_` begins with
  std::vector<std::byte> bytes_;
};

}  // namespace ckpt
