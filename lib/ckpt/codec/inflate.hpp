#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ckpt/core/bytes.hpp"
#include "ckpt/core/spool.hpp"

namespace ckpt {

/// Unfolds raw deflate data (RFC 1951) of `source` into `out` and returns the CRC-32 of the result.
/// Throws `corrupt` when the data is damaged or does not unfold to exactly `size` bytes; never
/// writes more than that.
std::uint32_t inflate_raw(const ByteSource& source, std::uint64_t size, Spool& out);

/// CRC-32 as ZIP and gzip use it.
std::uint32_t crc32_of(std::span<const std::byte> bytes);
std::uint32_t crc32_of(const ByteSource& source);

}  // namespace ckpt
