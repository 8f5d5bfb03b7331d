#include "ckpt/kernels/read_ahead.hpp"

#include <utility>

#include "ckpt/core/crc32.hpp"

namespace ckpt {

ReadAhead::ReadAhead(std::vector<const Tensor*> tensors, bool wants_crc32, bool in_any_order,
                     std::uint64_t memory)
    : tensors_(std::move(tensors)),
      wants_crc32_(wants_crc32),
      reader_({.memory = memory, .keeps_two = true, .in_any_order = in_any_order}),
      thread_([this] { run(); }) {}

ReadAhead::~ReadAhead() {
  {
    const std::scoped_lock lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
}

void ReadAhead::run() {
  try {
    for (const Tensor* tensor : tensors_) {
      Piece end;
      reader_.start(*tensor);
      for (auto bytes = reader_.next(); !bytes.empty(); bytes = reader_.next()) {
        if (wants_crc32_) end.crc32 = crc32(end.crc32, bytes);
        if (!give({.bytes = bytes, .placement = reader_.placement(), .casts = {}})) return;
      }
      end.casts = reader_.cast_statistics();
      if (!give(end)) return;
    }
  } catch (...) {
    const std::scoped_lock lock(mutex_);
    error_ = std::current_exception();
    changed_.notify_all();
  }
}

/// Waits until the piece is taken, and so the one before it is done with: its buffer is the next one's.
bool ReadAhead::give(const Piece& piece) {
  std::unique_lock lock(mutex_);
  ready_ = piece;
  changed_.notify_all();
  changed_.wait(lock, [this] { return !ready_ || is_stopped_; });
  return !is_stopped_;
}

ReadAhead::Piece ReadAhead::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ready_ || error_; });
  if (!ready_) std::rethrow_exception(error_);
  const Piece piece = *ready_;
  ready_.reset();
  changed_.notify_all();
  return piece;
}

}  // namespace ckpt
