#pragma once

#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/kernels/blake3.hpp"
#include "ckpt/kernels/resources.hpp"
#include "ckpt/kernels/tensor_reader.hpp"

namespace ckpt {

using Digest = Blake3::Digest;

/// BLAKE3 of the tensor's contiguous row-major little-endian bytes. Throws what reading throws.
Digest tensor_digest(const Tensor& tensor, TensorReader& reader);

/// What a checkpoint holds, in 32 bytes: the same in every format and however it is cut into files. BLAKE3 of
/// a text that docs/identity.md defines.
struct Identity {
  Digest id{};                  ///< of names, types, shapes and bytes
  Digest weights_id{};          ///< the same without names
  std::vector<Digest> tensors;  ///< of each tensor, in the order of the catalogue
};

/// Digests every tensor, several and parts of large ones side by side, each thread with buffers of its own.
/// Tensors that lie at the same place are read once. Throws what reading throws, and `unsupported` for a view
/// that repeats few elements so often that no digest is made.
Identity identify(const Checkpoint& checkpoint, const Resources& resources = {});

}  // namespace ckpt
