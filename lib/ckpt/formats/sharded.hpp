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

/// The files that an index names.
struct IndexedFiles {
  std::set<std::string> names;
  bool is_complete = true;  ///< false while the set is being written, or where that was cut short
};

/// Throws `corrupt` where `index` is none.
IndexedFiles files_of_index(const Input& index);

/// An index that stands for a set while its files are given their names, which takes several steps: it places
/// no tensor, so that nobody reads a mixture, and names all that belongs to the set or to the one before it,
/// so that whoever writes the set again knows what may go.
std::string index_of_incomplete(const std::set<std::string>& files);

/// Reads a directory or the index of a set as one checkpoint: the tensors of all shards, shard by shard
/// in the order of their names. A directory must hold one index; or, without one, the shards of one set
/// by their names; or a single checkpoint. Throws `corrupt` where index and shards contradict each
/// other, naming tensor and shard, and `usage` where a directory leaves a choice.
Checkpoint read_sharded(const Input& input);

}  // namespace ckpt
