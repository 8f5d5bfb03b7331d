#pragma once

#include <cstdint>
#include <functional>
#include <unordered_set>

#include "ckpt/core/tensor.hpp"

namespace ckpt {

/// The numbers of a quantised matrix as a source of F32: each element times the scale of its block, one F32
/// multiplication, row by row. Scales lie row by row too: that of element (i, j) is at (i / block_rows,
/// j / block_columns). Computed a piece at a time when somebody reads.
struct ScaledMatrix {
  Tensor weight;  ///< a floating-point type of whole bytes, contiguous
  Tensor scale;   ///< the same of its scales
  std::uint64_t rows = 0, columns = 0;
  std::uint64_t block_rows = 1, block_columns = 1;  ///< at least 1
};
Bytes scaled_source(ScaledMatrix matrix);

/// The rows of another source, each `row_bytes` long, in another order: row i is row `row_of(i)` of `source`
/// after `offset`. `row_of` must be a permutation of the `rows` rows.
struct PermutedRows {
  Bytes source;
  std::uint64_t offset = 0;
  std::uint64_t rows = 0;
  std::uint64_t row_bytes = 0;
  std::function<std::uint64_t(std::uint64_t)> row_of;
};
Bytes permuted_source(PermutedRows rows);

/// Adds `source` and, where its bytes are computed, what they are computed from.
void add_origins(const ByteSource& source, std::unordered_set<const ByteSource*>& into);
/// Adds all sources that delivering `tensor` reads.
void add_origins(const Tensor& tensor, std::unordered_set<const ByteSource*>& into);

}  // namespace ckpt
