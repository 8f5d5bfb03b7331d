#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>

namespace ckpt {

/// Memory that is written before it is read, and used again and again. Large ones lie on large pages where
/// the system has them: a first touch then costs a fault for 2 MiB instead of one for each 4 KiB.
class Buffer {
 public:
  /// `size` bytes, aligned to a cache line, of no value in particular; what an earlier call gave is lost.
  /// Throws std::bad_alloc.
  std::span<std::byte> take(std::size_t size) {
    if (size > capacity_) grow(size);
    return {memory_.get(), size};
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  void grow(std::size_t size);

  std::unique_ptr<std::byte, Free> memory_;
  std::size_t capacity_ = 0;
};

}  // namespace ckpt
