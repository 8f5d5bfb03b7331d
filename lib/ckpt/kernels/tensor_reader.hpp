#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ckpt/core/tensor.hpp"
#include "ckpt/kernels/cast.hpp"
#include "ckpt/kernels/strided_copy.hpp"

namespace ckpt {

/// Gathers tensors, one after the other, into contiguous row-major little-endian bytes of the type that
/// they are to be delivered in, a piece at a
/// time through two buffers of fixed size, however large the tensor and whatever its strides.
class TensorReader {
 public:
  /// `memory`: bytes that both buffers may take together; they grow only as far as a tensor needs.
  explicit TensorReader(std::uint64_t memory = 64U << 20);

  /// Begins with the first element of `tensor`, which is kept by reference.
  void start(const Tensor& tensor);
  /// The next piece, whole elements; empty at the end. Valid until the next call. Throws what reading
  /// the source throws, told of the tensor.
  std::span<const std::byte> next();
  /// What casting has lost of the tensor so far; all zero where nothing is cast.
  const CastStatistics& cast_statistics() const noexcept { return cast_statistics_; }

 private:
  struct Dimension {
    std::uint64_t count;
    std::uint64_t source_step;  // in bytes
    std::uint64_t target_step;  // in bytes of the contiguous form
  };
  void start_piece(const Tensor& tensor);
  std::span<const std::byte> next_cast();
  std::span<std::byte> next_plain();
  std::span<std::byte> next_strided();
  void gather(std::uint64_t source, std::byte* target, std::span<Dimension> block);

  std::uint64_t target_capacity_;
  std::uint64_t source_capacity_;
  std::vector<std::byte> target_;
  std::vector<std::byte> source_;
  std::span<const std::byte> uncast_;  // of the last piece, what is still to be cast
  std::vector<std::byte> cast_;
  CastStatistics cast_statistics_;
  const Tensor* whole_ = nullptr;
  std::size_t piece_ = 0;              // of `whole_`, the one that is being read
  const Tensor* tensor_ = nullptr;     // the same, or `whole_` where it has no pieces
  unsigned size_ = 1;                  // bytes of one element
  std::uint64_t done_ = 0;             // bytes of the contiguous form that were delivered
  std::vector<Dimension> dimensions_;  // merged, outermost first; empty for a plain range
  std::size_t level_ = 0;              // the dimension that a piece cuts; those inside it are whole
  std::uint64_t at_most_ = 0;          // of that dimension, how many a piece holds
  std::vector<std::uint64_t> index_;   // of the next piece, down to `level_`
};

}  // namespace ckpt
