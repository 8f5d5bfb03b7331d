#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// Every limit on what a file may ask for, each with its reason: the one list that declares the constants
/// (`limits::zip_members`) and that `ckpt --help-limits` prints. A limit is reached by hostile or broken
/// files only; the error names it.
///
/// X(type, name, value, unit, reason), where the reason begins with what is limited.
#define CKPT_LIMITS(X)                                                                                       \
  X(u64, safetensors_header, 100'000'000, "bytes",                                                           \
    "The header of a safetensors file: the safetensors crate refuses longer ones.")                          \
  X(u64, shard_index, safetensors_header, "bytes",                                                           \
    "The index of a sharded set: it has a line for each tensor, as a safetensors header has.")               \
  X(u64, burnpack_metadata, 100ULL << 20, "bytes", "The metadata of a burnpack: burn refuses larger ones.")  \
  X(u64, burnpack_tensors, 100'000, "tensors",                                                               \
    "Tensors in one burnpack: burn refuses more; told in a note.")                                           \
  X(u64, burnpack_tensor, 10ULL << 30, "bytes",                                                              \
    "One tensor of a burnpack: burn refuses to load a larger one; told in a note.")                          \
  X(u64, burnpack_file, 100ULL << 30, "bytes",                                                               \
    "A burnpack: burn refuses to open a larger one; told in a note.")                                        \
  X(unsigned, nesting, 128, "levels",                                                                        \
    "Nesting of JSON, CBOR and MessagePack: serde's own limit, far above what any writer makes.")            \
  X(u64, json_record, 1ULL << 30, "bytes",                                                                   \
    "The text of a JSON record of burn: reading takes little memory, but half a minute, and gzip hides it.") \
  X(u64, record_text, 16ULL << 20, "bytes",                                                                  \
    "One text or key of an old record of burn: names, which are short.")                                     \
  X(unsigned, pickle_nesting, 1000, "levels",                                                                \
    "Nesting of pickled containers and modules: Python's default recursion limit is 1000.")                  \
  X(u64, pickle_bytes, 256ULL << 20, "bytes",                                                                \
    "One pickle, which is taken into memory: a state dict of 100 000 tensors needs about 30 MB.")            \
  X(u64, script_bytes, 64ULL << 20, "bytes",                                                                 \
    "Source text of a TorchScript archive that is looked at, for the attributes that its classes declare.")  \
  X(u64, pickle_nodes, 20'000'000, "nodes",                                                                  \
    "Nodes of one pickle: a node costs about 100 bytes. The largest checkpoints known have 10 million.")     \
  X(u64, pickle_items, 2 * pickle_nodes, "items",                                                            \
    "Items of all containers of one pickle, 4 bytes each: a memo lets few nodes stand in many places.")      \
  X(u64, walk_steps, 4'000'000, "places",                                                                    \
    "Tensors and values that a walk through a pickle may name: shared objects can have 2^60 paths.")         \
  X(u64, walk_free_steps, 100'000, "places",                                                                 \
    "Places that any pickle may unfold to: a model that is shared by a few paths stays far below.")          \
  X(u64, walk_steps_per_node, 4, "places",                                                                   \
    "How many more each node of a pickle allows: the catalogue stays in proportion to the file.")            \
  X(u64, walk_step_bytes, 64, "bytes",                                                                       \
    "Of a name or a shape, so many count as one place more: many paths may lead through one long key.")      \
  X(u64, shown_values, 20'000, "values", "Values beside the tensors that are shown: the rest is counted.")   \
  X(u64, shown_value_bytes, 256, "bytes",                                                                    \
    "Of a text or key that is shown, so many count as one value more: many may share one.")                  \
  X(u64, zip_members, 2'000'000, "members",                                                                  \
    "Members of a ZIP archive: one per storage, and ZIP64 counts them in 64 bits.")                          \
  X(u64, tar_members, 65'536, "members", "Members of a TAR archive: the only ones that are read have four.") \
  X(u64, inflate_ratio, 1032, "times",                                                                       \
    "Growth of a deflated member when it is unfolded: deflate itself cannot do more than 1032.")             \
  X(u64, repeated_bytes, 1ULL << 30, "bytes",                                                                \
    "All tensors of storages that are repeated so often (below): more is listed, not read or written.")      \
  X(u64, repetition, 1024, "times",                                                                          \
    "Times the size of a storage that larger tensors of it may have: an expanded view costs a few bytes.")   \
  X(u64, dimensions, 4096, "dimensions",                                                                     \
    "Dimensions of one tensor: PyTorch allows 64; burn's own file tests use up to 1002.")                    \
  X(u64, integer_bytes, 128, "bytes",                                                                        \
    "An integer whose digits are shown: converting more costs quadratic time.")                              \
  X(u64, name_bytes, 16ULL << 10, "bytes",                                                                   \
    "A name that patterns are matched with, or make: that can take the square of its length in time.")       \
  X(u64, rules_bytes, 16ULL << 20, "bytes", "A rules or modules file: a rule is a line.")

namespace ckpt::limits {

using u64 = std::uint64_t;

#define CKPT_DECLARE_LIMIT(type, name, value, unit, reason) inline constexpr type name = value;
CKPT_LIMITS(CKPT_DECLARE_LIMIT)
#undef CKPT_DECLARE_LIMIT

/// One row of the list.
struct Limit {
  std::string_view name;
  std::uint64_t value;
  std::string_view unit;    ///< of the value, a plural noun
  std::string_view reason;  ///< what is limited, and why there
};

#define CKPT_LIST_LIMIT(type, name, value, unit, reason) Limit{#name, name, unit, reason},
inline constexpr std::array all{CKPT_LIMITS(CKPT_LIST_LIMIT)};
#undef CKPT_LIST_LIMIT

}  // namespace ckpt::limits
