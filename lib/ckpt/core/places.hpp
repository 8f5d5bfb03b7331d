#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
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

/// Adds up to what tensors unfold storages that they repeat (`limits::repetition`): a few bytes of views can
/// make terabytes of a few bytes of data, in one tensor or in many, of one storage or of many.
class Unfolding {
 public:
  /// Counts a tensor. Where all such are now larger than anybody should go through
  /// (`limits::repeated_bytes`), says so in the words that follow `it`: `repeats 4 B of data until it is
  /// 4.00 TiB`. Empty otherwise; the tensor is then counted.
  std::string excess(const Tensor& tensor);

 private:
  std::unordered_map<const ByteSource*, std::uint64_t> bytes_;  ///< of all tensors of each storage
  std::uint64_t unfolded_ = 0;  ///< bytes of the tensors of storages that are repeated so often …
  std::uint64_t stored_ = 0;    ///< … and of these storages
};

}  // namespace ckpt
