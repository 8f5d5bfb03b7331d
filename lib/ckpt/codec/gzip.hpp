#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ckpt/core/bytes.hpp"

namespace ckpt {

/// Whether `head` begins like a gzip stream (RFC 1952).
bool is_gzip(std::span<const std::byte> head);

/// What the first bytes of a gzip stream unfold to: up to `size` bytes, fewer where `head` ends first.
/// Nothing for a damaged stream.
std::vector<std::byte> gunzip_head(std::span<const std::byte> head, std::size_t size);

/// The whole stream, unfolded into memory or a temporary file, its checksum and length compared. Throws
/// `corrupt` when it is damaged, cut short, or followed by something else.
Bytes gunzip(const ByteSource& source);

}  // namespace ckpt
