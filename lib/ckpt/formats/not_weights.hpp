#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ckpt {

/// How sure a beginning is: `certain` ones are looked for before any format, `likely` ones (JSON, gzip,
/// plain text, which a format may also consist of) only after every format has passed.
enum class Certainty { certain, likely };

/// Throws `unsupported`, in one sentence that says what the file is instead, when it begins like
/// something that is no checkpoint. `head` is the first up to 512 bytes of a file of `size` bytes.
void refuse_not_weights(std::span<const std::byte> head, std::uint64_t size, Certainty certainty);

}  // namespace ckpt
