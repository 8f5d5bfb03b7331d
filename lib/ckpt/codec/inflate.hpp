#pragma once

#include <cstdint>

#include "ckpt/core/bytes.hpp"
#include "ckpt/core/spool.hpp"

namespace ckpt {

/// Unfolds raw deflate data (RFC 1951) of `source` into `out` and returns the CRC-32 of the result.
/// Throws `corrupt` when the data is damaged or does not unfold to exactly `size` bytes; never
/// writes more than that.
std::uint32_t inflate_raw(const ByteSource& source, std::uint64_t size, Spool& out);

}  // namespace ckpt
