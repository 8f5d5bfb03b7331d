#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ckpt/core/bytes.hpp"

namespace ckpt {

/// The CRC-32 of ZIP and gzip (RFC 1952, section 8): `crc` is that of the bytes before, 0 at the beginning.
std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes);

/// That of all bytes of `source`, read a piece at a time. Throws what reading throws.
std::uint32_t crc32_of(const ByteSource& source);

}  // namespace ckpt
