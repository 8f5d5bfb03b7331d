#pragma once

#include "ckpt/core/bytes.hpp"
#include "ckpt/core/dtype.hpp"

namespace ckpt::pytorch {

/// The storage as a tensor with PyTorch's lazy `conj` and `neg` bits sees it: signs of the imaginary halves
/// (`conjugate`) or of all numbers (`negative`) turned over while reading. `dtype` is a floating or complex
/// type in whole bytes.
Bytes with_signs_flipped(Bytes storage, DType dtype, bool big_endian, bool conjugate, bool negative);

}  // namespace ckpt::pytorch
