#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace ckpt {

/// Has the disk write a growing file while it grows, so that flushing it has little left to wait for. On a
/// thread of its own: once the disk's queue is full, telling it more waits for the disk.
///
/// Only a hint. What goes wrong here goes wrong in `fsync` again, which tells.
class Writeback {
 public:
  /// `descriptor` is that of a regular file and outlives this.
  explicit Writeback(int descriptor) : descriptor_(descriptor) {}
  /// Waits for no more than what the disk is being told at the moment.
  ~Writeback();
  Writeback(const Writeback&) = delete;
  Writeback& operator=(const Writeback&) = delete;

  /// The first `size` bytes of the file will not change any more.
  void advance(std::uint64_t size);

 private:
  void run();

  int descriptor_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t final_ = 0;  // bytes that will not change any more
  std::uint64_t given_ = 0;  // of these, what the disk has been told of
  bool is_stopped_ = false;
  std::jthread thread_;  // from the first bytes on that are worth it; last: it uses all of the above
};

}  // namespace ckpt
