#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/kernels/resources.hpp"
#include "ckpt/kernels/tensor_reader.hpp"

namespace ckpt {

using Digest = std::array<std::byte, 32>;

/// SHA-256 over a header that says dtype and shape, then the contiguous little-endian bytes. The header is
/// one line of text, `ckpt tensor 1 F32 3 4`, with ` scheme …` at its end for a quantised tensor, and a
/// line feed. Throws what reading throws.
Digest tensor_digest(const Tensor& tensor, TensorReader& reader);

/// What a checkpoint holds, in 32 bytes: the same in every format and however it is cut into files.
struct Identity {
  Digest id{};                  ///< of names, types, shapes and bytes
  Digest weights_id{};          ///< the same without names
  std::vector<Digest> tensors;  ///< of each tensor, in the order of the catalogue
};

/// Digests every tensor, tensors side by side, each thread with buffers of its own. Tensors that lie at the
/// same place are read once. Throws what reading throws, and `unsupported` for a view that repeats few
/// elements so often that no digest is made.
Identity identify(const Checkpoint& checkpoint, const Resources& resources = {});

}  // namespace ckpt
