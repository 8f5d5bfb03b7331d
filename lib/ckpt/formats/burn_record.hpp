#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/core/input.hpp"

namespace ckpt {

/// Whether the file is a record of burn before 0.22: named MessagePack or JSON, gzipped or not.
bool recognise_burn_record(std::span<const std::byte> head, std::uint64_t size);

/// Reads such a record. Throws `corrupt`, `unsupported`.
Checkpoint read_burn_record(const Input& input);

}  // namespace ckpt
