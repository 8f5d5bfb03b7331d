#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/codec/cbor.hpp"
#include "ckpt/core/checkpoint.hpp"
#include "ckpt/core/tensor.hpp"

// A burnpack (.bpk), as the crate burn-pack of tracel-ai/burn writes it:
//
//     0       4    6       10               10 + M     S                                 end of file
//     ┌───────┬────┬───────┬────────────────┬──────────┬────────┬─────┬────────┬─────┬────────┐
//     │ magic │ v. │ M     │ metadata, CBOR │ zeros to │ tensor │ 0…  │ tensor │ 0…  │ tensor │
//     │ NRUB  │u16 │ u32   │ M bytes        │ 256      │        │     │        │     │        │
//     └───────┴────┴───────┴────────────────┴──────────┴────────┴─────┴────────┴─────┴────────┘
//                                                      0        data offsets count from S
//
// S is the next multiple of 256 from the end of the metadata, and each tensor begins at the next
// multiple of 256 after the one before it; nothing follows the last. Numbers and elements are
// little-endian, elements row-major.
//
// The metadata is a map: `tensors` (name → descriptor, sorted by the bytes of the names, whatever the
// order of the data), `metadata` (text → text) and `scalars` (text → {kind: value}), the last two left
// out when empty. A descriptor is a map of `dtype`, `shape`, `data_offsets` [start, end) and, where
// the tensor is a parameter, `param_id`.
//
// burn 0.19 wrote the same version number without any of the padding: data at 10 + M, tensors back to
// back. What burn 0.19 to 0.21 called booleans and quantised types is told in `metadata_reader.cpp`.

namespace ckpt::burnpack {

inline constexpr std::array magic{std::byte{'N'}, std::byte{'R'}, std::byte{'U'}, std::byte{'B'}};
inline constexpr std::uint16_t version = 1;
inline constexpr std::uint64_t header_size = 10;
inline constexpr std::uint64_t alignment = 256;
inline constexpr std::string_view unpadded_container = "0.19";

/// One tensor as the metadata states it; nothing about the numbers has been checked.
struct Descriptor {
  std::string name = {};
  DType dtype = DType::f32;
  std::string quantization = {};  ///< the scheme of a QFLOAT, see scheme.hpp
  bool only_in_019 = false;       ///< the dtype is spelled as only burn 0.19 did
  Shape shape = {};
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::optional<std::uint64_t> param_id = {};
};

struct Metadata {
  std::vector<Descriptor> tensors;  ///< in the order of the map
  std::map<std::string, std::string> metadata;
  std::map<std::string, Scalar> scalars;
};

/// Reads the one map that the metadata is, as leniently as burn does and strictly beyond that: names
/// must not stand twice. Throws `corrupt` with offsets and names.
Metadata read_metadata(cbor::Reader& reader);

}  // namespace ckpt::burnpack
