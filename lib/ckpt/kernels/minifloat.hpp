#pragma once

#include <cstdint>
#include <optional>

#include "ckpt/core/dtype.hpp"

namespace ckpt {

/// The layout of a floating-point type of at most 16 bits: sign, exponent, mantissa, from the top.
struct Minifloat {
  enum class Special : std::uint8_t {
    ieee,  ///< the highest exponent holds infinities and NaN
    fn,    ///< only all ones is NaN, there is no infinity
    fnuz,  ///< only minus zero is NaN, there is no infinity
  };
  unsigned exponent_bits = 0;
  unsigned mantissa_bits = 0;
  int bias = 0;
  Special special = Special::ieee;
};

/// The layout of F16, BF16 and the F8 types with a mantissa; nothing for other types. OCP "8-bit Floating
/// Point Specification"; the FNUZ types as MLIR and PyTorch define them.
std::optional<Minifloat> minifloat(DType dtype);

/// The number that `bits` stand for. Every such number is a double.
double decode_minifloat(unsigned bits, const Minifloat& type);

/// The nearest number of the type, halves to even, with the sign of zero kept; NaN keeps its sign and stays
/// NaN. A number beyond the largest becomes infinite, or NaN where the type has no infinity.
unsigned encode_minifloat(double value, const Minifloat& type);

}  // namespace ckpt
