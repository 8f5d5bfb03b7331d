#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "ckpt/core/tensor.hpp"
#include "ckpt/kernels/tensor_reader.hpp"

namespace ckpt {

/// Gathers a list of tensors ahead of who takes them. Every worker, a thread with buffers of its own, goes
/// through all tensors and makes each so-manieth piece; so pieces of one large tensor, too, are read,
/// rearranged and cast side by side, while another one is written.
class ReadAhead {
 public:
  struct Piece {
    std::span<const std::byte> bytes;  ///< valid until the next call of `next` or `end_tensor`
    TensorReader::Placement placement;
  };
  struct Options {
    std::uint64_t memory = 64U << 20;  ///< bytes that all buffers may take together
    unsigned workers = 1;              ///< fewer will do where the system gives no more threads
    bool in_any_order = false;         ///< pieces may come scattered
  };

  /// The tensors are kept by reference. Throws std::system_error where there can be no worker at all.
  ReadAhead(std::vector<const Tensor*> tensors, const Options& options);
  /// Stops reading.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// The next piece; those of a tensor one after the other, and not to be asked for past its last byte.
  /// Throws what reading the tensor threw.
  Piece next();
  /// To be called when all bytes of a tensor were taken: what was lost in casting it.
  CastStatistics end_tensor();

 private:
  struct Worker {
    std::optional<Piece> piece;  // made, and until it is done with
    std::deque<CastStatistics> ends;
    std::exception_ptr error;
  };
  void run(std::size_t number);
  void work(Worker& worker, std::size_t number);
  bool give(Worker& worker, const Piece& piece);
  void release();

  std::vector<const Tensor*> tensors_;
  Options options_;
  std::size_t turn_ = 0;             // whose piece is the next
  std::optional<std::size_t> held_;  // whose piece the taker has

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Worker> workers_;
  std::size_t count_ = 0;  // of workers that run
  bool is_stopped_ = false;
  std::vector<std::jthread> threads_;  // last: they use all of the above
};

}  // namespace ckpt
