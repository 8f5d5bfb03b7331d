#include "ckpt/io/writeback.hpp"

#include <fcntl.h>

#include <algorithm>
#include <system_error>

namespace ckpt {
namespace {

// What the disk is told of at a time: enough for it to work in long strides, and little to wait for.
constexpr std::uint64_t step = 8U << 20;

}  // namespace

Writeback::~Writeback() {
  {
    const std::scoped_lock lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_one();
}

void Writeback::advance(std::uint64_t size) {
  const std::scoped_lock lock(mutex_);
  final_ = size;
  if (final_ - given_ < step) return;
  changed_.notify_one();
  if (thread_.joinable()) return;
  try {
    thread_ = std::jthread([this] { run(); });
  } catch (const std::system_error&) {
    given_ = final_;  // no thread to be had now; perhaps for the next bytes
  }
}

void Writeback::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_stopped_ || final_ - given_ >= step; });
    if (is_stopped_) return;
    const std::uint64_t from = given_;
    const std::uint64_t size = std::min(final_ - given_, step);
    lock.unlock();
    static_cast<void>(::sync_file_range(descriptor_, static_cast<off64_t>(from), static_cast<off64_t>(size),
                                        SYNC_FILE_RANGE_WRITE));
    lock.lock();
    given_ = from + size;
  }
}

}  // namespace ckpt
