#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ckpt/codec/regex.hpp"
#include "ckpt/stages/edit.hpp"

namespace ckpt {

/// How rotary position embeddings pair the rows of a head: Meta's code rotates neighbours (2i, 2i + 1), that
/// of Hugging Face row i of the first half with row i of the second. The same numbers, in two orders.
struct RopeOptions {
  std::vector<Regex>
      names;  ///< of the tensors to permute: projections of queries and keys, weights and biases
  std::uint64_t heads = 0;      ///< of queries
  std::uint64_t kv_heads = 0;   ///< of keys
  bool to_interleaved = false;  ///< from halves to neighbours; else from neighbours to halves
  bool is_burn_layout = false;  ///< matrices are [in, out]: their rows are inputs
};

/// Makes a source whose rows of `row_bytes` bytes are those of `source` after `offset` in another order.
using PermuteRows =
    std::function<Bytes(Bytes source, std::uint64_t offset, std::uint64_t rows, std::uint64_t row_bytes,
                        std::function<std::uint64_t(std::uint64_t)> row_of)>;

/// Reorders the rows of every tensor that is named. A query is told from a key by its module's name
/// (`q_proj`, `wq`, `query`; `k_proj`, `wk`, `key`). Nothing is read. Throws `refused` for a name that says
/// neither, rows that do not divide into heads of an even size, heads of keys and queries that differ in
/// size, data that is not contiguous, a matrix whose rows are not outputs (by the layout, or by its bias),
/// and when a name in the options matches nothing.
Edited permute_rope(Checkpoint checkpoint, const RopeOptions& options, const PermuteRows& permute);

}  // namespace ckpt
