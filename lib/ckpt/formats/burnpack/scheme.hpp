#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/codec/cbor.hpp"
#include "ckpt/core/tensor.hpp"

namespace ckpt::burnpack {

/// How the elements of a QFLOAT lie in its bytes: packed values, then the scales of the blocks, then
/// the scale of the tensor. As a line of text:
///
///     value=Q8S store=PackedU32(0) mode=Symmetric tensor=F32 block=F16[2,4]
///
/// with `none` for a scale that is not set (if neither is, there is one F32 for the tensor).
struct Scheme {
  std::string value;                      ///< Q8F E5M2 E4M3 Q4F E2M1 Q2F Q8S Q4S Q2S
  std::string store;                      ///< Native PackedNative PackedU32
  std::uint64_t packed_dimension = 0;     ///< of the packed stores, counted from the innermost
  std::string mode;                       ///< Symmetric Lookup
  std::string tensor;                     ///< type of the tensor's scale; empty when there is none
  std::string block;                      ///< type of the blocks' scales; empty when there are none
  std::vector<std::uint64_t> block_size;  ///< up to five dimensions
  bool only_in_019 = false;               ///< spelled as only burn 0.19 did
};

/// Reads the map of a scheme in the spelling of any version. Throws `corrupt`.
Scheme read_scheme(cbor::Reader& reader);
void write_scheme(cbor::Writer& writer, const Scheme& scheme);

std::string to_line(const Scheme& scheme);
/// Nothing for a line that `to_line` does not write.
std::optional<Scheme> parse_line(std::string_view line);

/// The least bytes that a tensor of this shape takes: its values and its scales, without any padding
/// between them. Nothing when that does not fit 64 bits.
std::optional<std::uint64_t> least_bytes(const Scheme& scheme, const Shape& shape);

}  // namespace ckpt::burnpack
