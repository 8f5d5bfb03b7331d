#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>

#include "ckpt/core/checkpoint.hpp"

namespace ckpt {

/// SHA-256 of a stream.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::span<const std::byte> bytes);
  /// Ends the stream; the object can then take another one.
  std::array<std::byte, 32> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Lower-case hexadecimal digits.
std::string hex(std::span<const std::byte> bytes);

/// Throws `corrupt`, naming the member of `file` and both checksums, when `crc32` is not what it states.
void require_checksum(const Integrity& check, std::uint32_t crc32, const std::string& file);

/// Reads every stretch whose checksum the file states and for which `is_wanted` is true, and throws
/// `corrupt`, naming the member and both checksums, at the first that differs.
void verify_integrity(const Checkpoint& checkpoint, const std::function<bool(const Integrity&)>& is_wanted);

/// The same for the storages that some work reads, on a thread beside it: the work's own reads may be ranges,
/// or the kernel's. `checkpoint` must outlive it; left without `require`, it stops as soon as it can.
class IntegrityCheck {
 public:
  IntegrityCheck(const Checkpoint& checkpoint, std::unordered_set<const ByteSource*> read);
  ~IntegrityCheck();
  IntegrityCheck(IntegrityCheck&&) = delete;
  IntegrityCheck& operator=(IntegrityCheck&&) = delete;

  /// Waits, and throws what `verify_integrity` does. Before this nothing that was read is to be trusted.
  void require();

 private:
  const std::unordered_set<const ByteSource*> read_;
  std::atomic<bool> is_wanted_ = true;
  std::future<void> done_;
};

}  // namespace ckpt
