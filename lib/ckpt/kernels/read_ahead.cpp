#include "ckpt/kernels/read_ahead.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace ckpt {

ReadAhead::ReadAhead(std::vector<const Tensor*> tensors, const Options& options)
    : tensors_(std::move(tensors)), options_(options), workers_(std::max(options.workers, 1U)) {
  const std::scoped_lock lock(mutex_);  // they begin when it is known how many they are
  threads_.reserve(workers_.size());
  try {
    for (std::size_t i = 0; i < workers_.size(); ++i) threads_.emplace_back([this, i] { run(i); });
  } catch (const std::system_error&) {
    if (threads_.empty()) throw;
  }
  count_ = threads_.size();
}

ReadAhead::~ReadAhead() {
  {
    const std::scoped_lock lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
}

void ReadAhead::run(std::size_t number) {
  Worker& worker = workers_[number];
  try {
    work(worker, number);
  } catch (...) {
    const std::scoped_lock lock(mutex_);
    worker.error = std::current_exception();
    changed_.notify_all();
  }
}

void ReadAhead::work(Worker& worker, std::size_t number) {
  const std::size_t count = [this] {
    const std::scoped_lock lock(mutex_);
    return count_;
  }();
  TensorReader reader({.memory = options_.memory / count, .in_any_order = options_.in_any_order});
  std::size_t turn = 0;
  for (const Tensor* tensor : tensors_) {
    reader.start(*tensor);
    while (true) {
      if (turn == number) {
        const std::span<const std::byte> bytes = reader.next();
        if (bytes.empty()) break;
        if (!give(worker, {bytes, reader.placement()})) return;
      } else if (!reader.skip()) {
        break;
      }
      turn = (turn + 1) % count;
    }
    const std::scoped_lock lock(mutex_);
    worker.ends.push_back(reader.cast_statistics());
    changed_.notify_all();
  }
}

/// Waits until the piece is done with: its buffer is that of the worker's next one.
bool ReadAhead::give(Worker& worker, const Piece& piece) {
  std::unique_lock lock(mutex_);
  worker.piece = piece;
  changed_.notify_all();
  changed_.wait(lock, [&] { return !worker.piece || is_stopped_; });
  return !is_stopped_;
}

/// Gives back what was taken last. The lock is held.
void ReadAhead::release() {
  if (!held_) return;
  workers_[*held_].piece.reset();
  held_.reset();
  changed_.notify_all();
}

ReadAhead::Piece ReadAhead::next() {
  std::unique_lock lock(mutex_);
  release();
  Worker& worker = workers_[turn_];
  changed_.wait(lock, [&] { return worker.piece || worker.error; });
  if (!worker.piece) std::rethrow_exception(worker.error);
  held_ = turn_;
  turn_ = (turn_ + 1) % count_;
  return *worker.piece;
}

CastStatistics ReadAhead::end_tensor() {
  std::unique_lock lock(mutex_);
  release();
  CastStatistics whole;
  for (std::size_t i = 0; i < count_; ++i) {
    Worker& worker = workers_[i];
    changed_.wait(lock, [&] { return !worker.ends.empty() || worker.error; });
    if (worker.ends.empty()) std::rethrow_exception(worker.error);
    whole += worker.ends.front();
    worker.ends.pop_front();
  }
  return whole;
}

}  // namespace ckpt
