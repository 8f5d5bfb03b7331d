#include "ckpt/kernels/minifloat.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ckpt {
namespace {

using enum Minifloat::Special;

unsigned mantissa_mask(const Minifloat& type) { return (1U << type.mantissa_bits) - 1; }
unsigned exponent_mask(const Minifloat& type) { return (1U << type.exponent_bits) - 1; }

/// The code of NaN without a sign.
unsigned nan_code(const Minifloat& type) {
  switch (type.special) {
    case ieee:
      return exponent_mask(type) << type.mantissa_bits | 1U << (type.mantissa_bits - 1);
    case fn:
      return exponent_mask(type) << type.mantissa_bits | mantissa_mask(type);
    case fnuz:
      break;
  }
  return 1U << (type.exponent_bits + type.mantissa_bits);  // minus zero
}

/// The code of the largest finite number.
unsigned largest_code(const Minifloat& type) {
  const unsigned all = exponent_mask(type) << type.mantissa_bits | mantissa_mask(type);
  switch (type.special) {
    case ieee:
      return ((exponent_mask(type) - 1) << type.mantissa_bits) | mantissa_mask(type);
    case fn:
      return all - 1;
    case fnuz:
      break;
  }
  return all;
}

}  // namespace

std::optional<Minifloat> minifloat(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return Minifloat{5, 10, 15, ieee};
    case DType::bf16:
      return Minifloat{8, 7, 127, ieee};
    case DType::f8_e4m3:
      return Minifloat{4, 3, 7, fn};
    case DType::f8_e5m2:
      return Minifloat{5, 2, 15, ieee};
    case DType::f8_e4m3fnuz:
      return Minifloat{4, 3, 8, fnuz};
    case DType::f8_e5m2fnuz:
      return Minifloat{5, 2, 16, fnuz};
    default:
      return std::nullopt;
  }
}

double decode_minifloat(unsigned bits, const Minifloat& type) {
  const unsigned mantissa = bits & mantissa_mask(type);
  const unsigned exponent = (bits >> type.mantissa_bits) & exponent_mask(type);
  const bool is_negative = ((bits >> (type.mantissa_bits + type.exponent_bits)) & 1U) != 0;
  const double nan = std::copysign(std::numeric_limits<double>::quiet_NaN(), is_negative ? -1.0 : 1.0);
  if (type.special == ieee && exponent == exponent_mask(type))
    return mantissa != 0 ? nan : is_negative ? -HUGE_VAL : HUGE_VAL;
  if (type.special == fn && exponent == exponent_mask(type) && mantissa == mantissa_mask(type)) return nan;
  if (type.special == fnuz && is_negative && exponent == 0 && mantissa == 0)
    return std::numeric_limits<double>::quiet_NaN();
  const int scale =
      (exponent == 0 ? 1 : static_cast<int>(exponent)) - type.bias - static_cast<int>(type.mantissa_bits);
  const double value =
      std::ldexp(static_cast<double>(mantissa + (exponent == 0 ? 0U : mantissa_mask(type) + 1)), scale);
  return is_negative ? -value : value;
}

unsigned encode_minifloat(double value, const Minifloat& type) {
  const unsigned sign = std::signbit(value) ? 1U << (type.exponent_bits + type.mantissa_bits) : 0;
  const unsigned signed_nan = type.special == fnuz ? nan_code(type) : sign | nan_code(type);
  if (std::isnan(value)) return signed_nan;
  const unsigned infinity =
      type.special == ieee ? sign | exponent_mask(type) << type.mantissa_bits : signed_nan;
  if (std::isinf(value)) return infinity;
  if (value == 0) return type.special == fnuz ? 0 : sign;

  // The spacing of the type's numbers around `value`, no finer than that of its subnormals. Dividing by a
  // power of two is exact, and nearbyint rounds halves to even.
  const int least = 1 - type.bias - static_cast<int>(type.mantissa_bits);
  const int spacing = std::max(std::ilogb(value) - static_cast<int>(type.mantissa_bits), least);
  const double steps = std::nearbyint(std::ldexp(std::fabs(value), -spacing));
  // Counted in steps of the subnormals' spacing, codes of ever larger numbers follow one another.
  const auto count = static_cast<unsigned>(steps);
  const auto octave = static_cast<unsigned>(spacing - least);
  const std::uint64_t code = (static_cast<std::uint64_t>(octave) << type.mantissa_bits) + count;
  if (code > largest_code(type)) return infinity;
  if (code == 0) return type.special == fnuz ? 0 : sign;
  return sign | static_cast<unsigned>(code);
}

}  // namespace ckpt
