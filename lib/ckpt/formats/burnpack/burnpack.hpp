#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/core/input.hpp"
#include "ckpt/core/plan.hpp"
#include "ckpt/formats/salvage.hpp"

namespace ckpt {

/// Whether the bytes begin with burnpack's magic.
bool recognise_burnpack(std::span<const std::byte> head, std::uint64_t size);

/// Reads the files of burn 0.19 to 0.22. Tensors come in the order of their data, so that planning the
/// same checkpoint again gives the same file. `container` is "0.19" for the unpadded layout of that
/// version and empty for the one of today. Throws `corrupt` with tensor and offset where burn refuses
/// the file, and also where burn would read wrong values: where sizes and shapes disagree, ranges
/// overlap or a name stands twice.
Checkpoint read_burnpack(const Input& input);

/// The tensors that lie inside a file whose metadata are whole. Which of the two layouts it has, the size of
/// a file that is cut off cannot tell; a note says so where nothing else proves it.
Salvaged salvage_burnpack(const Input& input);

/// The bytes that burn writes for the same tensors in the same order. Throws `refused` for what burn
/// has no type for and for what burn would not read back.
Plan plan_burnpack(const Checkpoint& checkpoint);

bool burnpack_holds(DType dtype);

}  // namespace ckpt
