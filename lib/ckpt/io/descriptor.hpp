#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ckpt {

/// An open file descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) noexcept : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  explicit operator bool() const noexcept { return value_ >= 0; }
  int get() const noexcept { return value_; }
  int release() noexcept;

 private:
  int value_ = -1;
};

/// Reads up to `out.size()` bytes from where `descriptor` stands; 0 at the end. Throws `io`.
std::size_t read_some(int descriptor, std::span<std::byte> out);
/// Writes all of `bytes`. Throws `io`.
void write_all(int descriptor, std::span<const std::byte> bytes);
/// Writes all of `bytes` at `offset`; where the descriptor stands does not change. Throws `io`.
void write_all_at(int descriptor, std::span<const std::byte> bytes, std::uint64_t offset);

}  // namespace ckpt
