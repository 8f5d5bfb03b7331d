#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/core/input.hpp"
#include "ckpt/formats/salvage.hpp"

namespace ckpt {

/// Whether a file that begins with `head` (up to 512 bytes) is one of PyTorch's containers or a pickle, or
/// clearly was meant to be one, so that the error can say what is wrong with it.
bool recognise_pytorch(std::span<const std::byte> head, std::uint64_t size);

/// Reads any container of PyTorch, told by its content. Throws `corrupt` for damage, naming the place, and
/// `unsupported` for what is no checkpoint.
Checkpoint read_pytorch(const Input& input);

/// The tensors whose storages are whole, of a ZIP archive or a legacy file; other containers are read or
/// refused.
Salvaged salvage_pytorch(const Input& input);

}  // namespace ckpt
