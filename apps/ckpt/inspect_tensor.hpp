#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/core/value.hpp"
#include "terminal.hpp"
#include "writing.hpp"

namespace ckpt {

/// Whether tensors are views of storages that have a size of their own: PyTorch's are.
bool has_storages(const Checkpoint& checkpoint);

/// Where a tensor's first element lies in its file, in bytes; nothing where it is not a plain part of one.
std::optional<std::uint64_t> file_offset(const Tensor& tensor);

Value numbers_json(const std::vector<std::uint64_t>& numbers);
/// What a tensor is and where it lies: name, dtype, shape, bytes, offset in the file, strides.
Value place_json(const Tensor& tensor);

/// The tensor of that name. Throws `usage` with the nearest names as the hint.
const Tensor& find_tensor(const Checkpoint& checkpoint, const std::string& name);

/// Everything that can be told of one tensor, its values gone through (`inspect --tensor`).
Value tensor_report(const Checkpoint& checkpoint, const Tensor& tensor);
void print_tensor_report(const Checkpoint& checkpoint, const Tensor& tensor, const Paint& paint);

/// Statistics of every tensor in one pass over the data (`inspect --stats`); `null` members where a type
/// has no order.
std::vector<Value> statistics_json(const Checkpoint& checkpoint, const Resources& resources);
void print_statistics(const Checkpoint& checkpoint, const Resources& resources, const Paint& paint);

/// Writes one tensor as .npy, whole or not at all.
void write_npy(const Checkpoint& checkpoint, const Tensor& tensor, const std::string& path,
               const WriteOptions& options, const Talk& talk);

}  // namespace ckpt
