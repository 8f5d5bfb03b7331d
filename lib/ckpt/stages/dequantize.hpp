#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "ckpt/stages/edit.hpp"

namespace ckpt {

/// Rows and columns of the blocks that share a scale.
using BlockSize = std::pair<std::uint64_t, std::uint64_t>;

/// `128x128`. Throws `usage` for anything else.
BlockSize parse_block_size(std::string_view text);

/// Makes a source of F32 numbers from a weight of `rows` × `columns` and its scales; see `scaled_source`.
using MakeScaled = std::function<Bytes(const Tensor& weight, const Tensor& scale, std::uint64_t rows,
                                       std::uint64_t columns, BlockSize block)>;

/// Turns every FP8 weight that has scales beside it (`weight_scale_inv` of blocks, `weight_scale` of the
/// whole, of rows or of blocks) into the F32 tensor that it stands for: element times scale. The scales are
/// used up, `input_scale` is dropped. Nothing is computed before a writer pulls.
///
/// `block` says how large blocks are; without it they are 128 × 128 where the shapes fit that (the last ones
/// may be partial), else what divides both dimensions evenly into powers of two. Throws `refused` where the
/// shapes fit no block, and for every other way of quantising.
Edited dequantize(Checkpoint checkpoint, std::optional<BlockSize> block, const MakeScaled& make_scaled);

}  // namespace ckpt
