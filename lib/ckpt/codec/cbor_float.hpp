#pragma once

#include <cstdint>
#include <optional>

/// Floats as bits: a detour through `float` or libcbor's own half decoder loses NaN signs and payloads.
namespace ckpt::cbor {

/// The bits of the double that has the value of a half or a single. A NaN keeps sign and payload and
/// becomes quiet, as every processor has it.
std::uint64_t double_bits_of_half(std::uint16_t half);
std::uint64_t double_bits_of_single(std::uint32_t single);

/// The half or single that widens to exactly these bits, where there is one.
std::optional<std::uint16_t> half_of_double_bits(std::uint64_t bits);
std::optional<std::uint32_t> single_of_double_bits(std::uint64_t bits);

}  // namespace ckpt::cbor
