#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/core/input.hpp"
#include "ckpt/core/plan.hpp"
#include "ckpt/formats/salvage.hpp"

namespace ckpt {

/// Whether the bytes begin as a safetensors file does: a length within the limit, then a JSON object.
bool recognise_safetensors(std::span<const std::byte> head, std::uint64_t size);

/// Throws `corrupt`, saying which tensor and which offset, for a file that the reference crate refuses
/// and for keys that stand twice. Tensors keep the order of the header.
Checkpoint read_safetensors(const Input& input);

/// The tensors that lie inside a file whose header is whole.
Salvaged salvage_safetensors(const Input& input);

/// The bytes that the reference crate writes for the same tensors and metadata. Throws `refused` for
/// types, names and headers that the format cannot hold.
Plan plan_safetensors(const Checkpoint& checkpoint);

bool safetensors_holds(DType dtype);

}  // namespace ckpt
