#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ckpt/core/bytes.hpp"

namespace ckpt {

/// Where a writer puts its bytes, in order. Counting, progress and checksums are sinks around sinks.
class Sink {
 public:
  virtual ~Sink() = default;

  /// Appends `bytes`. Throws `io` when they cannot be written.
  virtual void write(std::span<const std::byte> bytes) = 0;

  /// Appends [offset, offset + size) of `source`. A sink that can have the kernel move a range of a
  /// file does so and says true; where it says false nothing was written and the caller copies.
  virtual bool move(const ByteSource& source, std::uint64_t offset, std::uint64_t size) {
    static_cast<void>(source), static_cast<void>(offset), static_cast<void>(size);
    return false;
  }

  /// Whether bytes may come out of order (`place`): into a file they may, into a pipe not.
  virtual bool can_place() const noexcept { return false; }
  /// Puts bytes `ahead` of the end of what was appended. Throws `io` when they cannot be written.
  virtual void place(std::uint64_t ahead, std::span<const std::byte> bytes) {
    static_cast<void>(ahead), static_cast<void>(bytes);
  }
  /// Appends `size` bytes, all of which were placed. They will not change any more.
  virtual void append_placed(std::uint64_t size) { static_cast<void>(size); }
};

/// Collects everything in memory; for tests and small files.
class MemorySink final : public Sink {
 public:
  void write(std::span<const std::byte> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace ckpt
