#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace ckpt {

/// Memory that is written before it is read, and used again and again.
class Buffer {
 public:
  /// `size` bytes, aligned to a cache line, of no value in particular; what an earlier call gave is lost.
  /// Throws std::bad_alloc.
  std::span<std::byte> take(std::size_t size) {
    if (size > capacity_) grow(size);
    return {memory_.get(), size};
  }

 private:
  static constexpr std::align_val_t line{64};
  struct Free {
    void operator()(std::byte* memory) const noexcept { ::operator delete(memory, line); }
  };
  void grow(std::size_t size) {
    memory_.reset();  // the old bytes are not wanted; both at once would be more than was asked for
    capacity_ = 0;
    memory_.reset(static_cast<std::byte*>(::operator new(size, line)));
    capacity_ = size;
  }

  std::unique_ptr<std::byte, Free> memory_;
  std::size_t capacity_ = 0;
};

}  // namespace ckpt
