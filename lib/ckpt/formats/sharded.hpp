#pragma once

#include <set>
#include <string>
#include <string_view>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/core/input.hpp"

namespace ckpt {

/// Whether a file of this name is the index of a sharded set: `model.safetensors.index.json`,
/// `pytorch_model.bin.index.json`, also with a variant before the last extension (`.index.fp16.json`).
bool is_index_name(std::string_view file_name);

/// The names of the files that the index of a set names, in order. Throws `corrupt` where it is none, or
/// names no file.
std::set<std::string> files_of_index(const Input& index);

/// Reads a directory or the index of a set as one checkpoint: the tensors of all shards, shard by shard
/// in the order of their names. A directory must hold one index; or, without one, the shards of one set
/// by their names; or a single checkpoint. Throws `corrupt` where index and shards contradict each
/// other, naming tensor and shard, and `usage` where a directory leaves a choice.
Checkpoint read_sharded(const Input& input);

}  // namespace ckpt
