#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "ckpt/core/tensor.hpp"
#include "ckpt/kernels/tensor_reader.hpp"

namespace ckpt {

/// Gathers a list of tensors on a thread of its own, one piece ahead of who takes them: while a piece is
/// written, the next one is read, rearranged and cast.
class ReadAhead {
 public:
  /// A piece; or, with no bytes, the end of a tensor and what was found on the way through it.
  struct Piece {
    std::span<const std::byte> bytes;  ///< valid until the next call of `next`
    TensorReader::Placement placement;
    CastStatistics casts;     ///< of the whole tensor; at its end
    std::uint32_t crc32 = 0;  ///< of the whole tensor, where it is wanted; at its end
  };

  /// The tensors are kept by reference. `memory`: bytes that all buffers may take together.
  /// `in_any_order`: pieces may come scattered (their checksum cannot be told then).
  ReadAhead(std::vector<const Tensor*> tensors, bool wants_crc32, bool in_any_order, std::uint64_t memory);
  /// Stops reading.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// The next piece, tensors one after the other; not to be called past the end of the last. Throws what
  /// reading the tensor threw.
  Piece next();

 private:
  void run();
  bool give(const Piece& piece);

  std::vector<const Tensor*> tensors_;
  bool wants_crc32_;
  TensorReader reader_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Piece> ready_;  // made, and not taken yet
  std::exception_ptr error_;
  bool is_stopped_ = false;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace ckpt
