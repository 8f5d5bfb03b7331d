#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ckpt/core/tensor.hpp"
#include "ckpt/kernels/buffer.hpp"
#include "ckpt/kernels/cast.hpp"
#include "ckpt/kernels/strided_copy.hpp"

namespace ckpt {

/// Gathers tensors, one after the other, into contiguous row-major little-endian bytes of the type that
/// they are to be delivered in, a piece at a time through buffers of fixed size, however large the tensor
/// and whatever its strides.
class TensorReader {
 public:
  /// Where a piece belongs in the contiguous form: its bytes are runs of `run` bytes, the first `offset`
  /// bytes from the tensor's beginning, the others `step` bytes from one another.
  struct Placement {
    std::uint64_t offset = 0;
    std::uint64_t run = 0;
    std::uint64_t step = 0;
  };
  struct Options {
    std::uint64_t memory = 64U << 20;  ///< bytes of all buffers; they grow only as far as a tensor needs
    /// Pieces may come in the order that costs the source the least: of a transposed matrix, tiles.
    bool in_any_order = false;
  };

  explicit TensorReader(std::uint64_t memory = 64U << 20) : TensorReader(Options{.memory = memory}) {}
  explicit TensorReader(const Options& options);

  /// Begins with the first element of `tensor`, which is kept by reference.
  void start(const Tensor& tensor);
  /// The next piece, whole elements; empty at the end. Valid until the next call. Throws what reading the
  /// source throws, told of the tensor.
  std::span<const std::byte> next();
  /// Passes over the next piece without reading it; false at the end.
  bool skip() { return plan(); }
  /// Where the last piece belongs.
  const Placement& placement() const noexcept { return placement_; }
  /// What casting has lost of the tensor so far; all zero where nothing is cast.
  const CastStatistics& cast_statistics() const noexcept { return cast_statistics_; }

 private:
  struct Dimension {
    std::uint64_t count;
    std::uint64_t source_step;  // in bytes
    std::uint64_t target_step;  // in bytes of the contiguous form
  };
  /// What a piece is made of, and where it belongs, counted in elements.
  struct Step {
    std::uint64_t source = 0;      // of its first element, in bytes
    std::uint64_t bytes = 0;       // of the contiguous form as it is stored
    std::vector<Dimension> block;  // empty for a plain range
    Placement elements;
  };
  void start_piece(const Tensor& tensor);
  void plan_tiles();
  bool plan();
  void plan_plain();
  void plan_strided();
  void plan_tile();
  void gather(std::uint64_t source, std::byte* target, std::span<Dimension> block);

  Options options_;
  std::uint64_t source_capacity_;
  std::uint64_t target_capacity_ = 0;  // of bytes as they are stored, room for their cast being left
  Buffer source_;
  Buffer target_;
  Buffer cast_;
  Step step_;
  Placement placement_;  // of the last piece
  CastStatistics cast_statistics_;
  const Tensor* whole_ = nullptr;
  std::size_t piece_ = 0;           // of `whole_`, the one that is being read
  const Tensor* tensor_ = nullptr;  // the same, or `whole_` where it has no pieces
  unsigned size_ = 1;               // bytes of one element
  bool is_cast_ = false;
  std::uint64_t done_ = 0;             // bytes of the contiguous form that were planned
  std::vector<Dimension> dimensions_;  // merged, outermost first; empty for a plain range
  std::size_t level_ = 0;              // the dimension that a piece cuts; those inside it are whole
  std::uint64_t at_most_ = 0;          // of that dimension, how many a piece holds
  std::vector<std::uint64_t> index_;   // of the next piece, down to `level_`
  std::uint64_t before_ = 0;           // elements of `whole_` that stand before `tensor_`
  std::uint64_t tile_rows_ = 0;        // of the matrix as stored; 0 where it is not cut into tiles
  std::uint64_t tile_columns_ = 0;
};

}  // namespace ckpt
