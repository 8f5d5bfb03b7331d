#pragma once

#include <cstddef>
#include <cstdint>

/// Every limit on what a file may ask for, each with its reason. A limit is reached by hostile or
/// broken files only; the error names it.
namespace ckpt::limits {

/// The safetensors crate refuses longer headers.
inline constexpr std::uint64_t safetensors_header = 100'000'000;
/// Bytes of the index of a sharded set: it has a line for each tensor, as a safetensors header has.
inline constexpr std::uint64_t shard_index = safetensors_header;
/// burn refuses larger burnpack metadata.
inline constexpr std::uint64_t burnpack_metadata = 100ULL << 20;
/// burn refuses more tensors in one burnpack.
inline constexpr std::uint64_t burnpack_tensors = 100'000;
/// burn refuses to load a larger tensor of a burnpack.
inline constexpr std::uint64_t burnpack_tensor = 10ULL << 30;
/// burn refuses to open a larger burnpack.
inline constexpr std::uint64_t burnpack_file = 100ULL << 30;
/// Nesting of JSON, CBOR and MessagePack: serde's own limit, far above what any writer makes.
inline constexpr unsigned nesting = 128;
/// A JSON record of burn is taken into memory whole, at several times its size.
inline constexpr std::uint64_t json_record = 1ULL << 30;
/// Nesting of pickled containers and modules: Python's default recursion limit is 1000.
inline constexpr unsigned pickle_nesting = 1000;
/// Bytes of one pickle that are taken into memory. A state dict of 100 000 tensors needs about 30 MB.
inline constexpr std::uint64_t pickle_bytes = 1ULL << 30;
/// Source text of a TorchScript archive that is looked at, for the attributes that its classes declare.
inline constexpr std::uint64_t script_bytes = 64ULL << 20;
/// Nodes of one pickle; a node costs about 100 bytes. The largest checkpoints known have 10 million.
inline constexpr std::uint64_t pickle_nodes = 20'000'000;
/// Items of all containers of one pickle, 4 bytes each: a memo lets few nodes stand in many places.
inline constexpr std::uint64_t pickle_items = 2 * pickle_nodes;
/// Tensors and values that a walk through a pickle may name: shared objects can have 2^60 paths.
inline constexpr std::uint64_t walk_steps = 4'000'000;
/// Places that any pickle may unfold to, and how many more each of its nodes allows: a model that is
/// shared by a few paths stays far below, and the catalogue stays in proportion to the file.
inline constexpr std::uint64_t walk_free_steps = 100'000;
inline constexpr std::uint64_t walk_steps_per_node = 4;
/// Values beside the tensors that are shown; the rest is counted.
inline constexpr std::uint64_t shown_values = 20'000;
/// Members of a ZIP archive; one per storage, and ZIP64 counts them in 64 bits.
inline constexpr std::uint64_t zip_members = 2'000'000;
/// Members of a TAR archive. The only ones that are read have four.
inline constexpr std::uint64_t tar_members = 65'536;
/// A deflated member may unfold to this many times its size: deflate itself cannot do more than 1032.
inline constexpr std::uint64_t inflate_ratio = 1032;
/// A view that repeats its elements can be far larger than the file: past this size, and this many times
/// what is stored, it is listed but neither digested nor written.
inline constexpr std::uint64_t repeated_bytes = 1ULL << 30;
inline constexpr std::uint64_t repetition = 1024;
/// Dimensions of one tensor. PyTorch allows 64; burn's own file tests use up to 1002.
inline constexpr std::uint64_t dimensions = 4096;
/// Digits of an integer that are shown; converting more costs quadratic time.
inline constexpr std::uint64_t integer_bytes = 128;
/// Bytes of a rules or modules file; a rule is a line.
inline constexpr std::uint64_t rules_bytes = 16ULL << 20;

}  // namespace ckpt::limits
