#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ckpt/core/tensor.hpp"

namespace ckpt::npy {

/// What NumPy calls the little-endian type, `<f4`; nothing for types that it lacks.
std::optional<std::string_view> descriptor(DType dtype);

/// The header of a .npy file of version 1.0 whose data follow in C order, as `numpy.save` writes it: magic,
/// version, length, a Python dict padded to a multiple of 64 bytes. Throws `unsupported` for a type that
/// NumPy lacks, and for more dimensions than the header of that version holds.
std::string header(DType dtype, const Shape& shape);

}  // namespace ckpt::npy
