#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ckpt/core/tensor.hpp"

namespace ckpt {

/// For each tensor the index of the first that lies at the same place (`same_place`): its own where it is
/// that one.
std::vector<std::size_t> first_at_same_place(const std::vector<Tensor>& tensors);

/// What tensors use of the storages that they are views of.
struct StorageUse {
  std::uint64_t stored = 0;  ///< bytes of all storages, each once
  std::uint64_t used = 0;    ///< bytes of them that belong to some tensor
};

/// Adds up over every source that some tensor views. A tensor that skips elements counts those it has.
StorageUse storage_use(const std::vector<Tensor>& tensors);

}  // namespace ckpt
