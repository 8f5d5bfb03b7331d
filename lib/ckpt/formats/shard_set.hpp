#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/formats/format.hpp"

namespace ckpt {

/// One file of a set that is to be written.
struct Shard {
  std::string file_name;
  Checkpoint checkpoint;
};

/// A set that is to be written: its shards, and the text of its index (empty for a set of one file, which
/// needs none, but may take the place of one that has).
struct ShardSet {
  std::vector<Shard> shards;
  std::string index_name;
  std::string index;
};

/// Cuts a checkpoint into shards of at most `limit` bytes of tensor data, in order, as Hugging Face's
/// libraries do: a tensor that is larger has a shard of its own. Every shard carries the metadata. Throws
/// `usage` for a format that has no sets.
ShardSet plan_shards(const Checkpoint& checkpoint, const Format& format, std::uint64_t limit);

/// Whether `name` is that of a file that a set of this format consists of: a shard, the index, or the one
/// file of a set of one.
bool belongs_to_set(std::string_view name, const Format& format);

}  // namespace ckpt
