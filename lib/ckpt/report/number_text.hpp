#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "ckpt/core/dtype.hpp"

namespace ckpt {

/// One element (contiguous, little-endian) as NumPy prints a scalar of its type: the shortest digits that
/// no other number of the type has, `1.5`, `1.0`, `1e-05`, `nan`, `True`. Types that NumPy lacks follow
/// the same rule. The type can be decoded.
std::string number_text(DType dtype, std::span<const std::byte> element);

/// A number as NumPy prints a float64.
std::string number_text(double value);

}  // namespace ckpt
