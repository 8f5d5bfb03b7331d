#include "ckpt/codec/cbor_float.hpp"

#include <bit>

namespace ckpt::cbor {
namespace {

// A binary interchange format of IEEE 754: one sign bit, then exponent, then fraction.
struct Layout {
  unsigned exponent_bits;
  unsigned fraction_bits;
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr std::uint64_t exponent_mask() const { return (1ULL << exponent_bits) - 1; }
  constexpr std::uint64_t fraction_mask() const { return (1ULL << fraction_bits) - 1; }
};

constexpr Layout half{5, 10};
constexpr Layout single{8, 23};
constexpr Layout wide{11, 52};
constexpr std::uint64_t quiet = 1ULL << (wide.fraction_bits - 1);

std::uint64_t widen(std::uint64_t bits, Layout from) {
  const unsigned shift = wide.fraction_bits - from.fraction_bits;
  const std::uint64_t sign = (bits >> (from.exponent_bits + from.fraction_bits)) << 63U;
  std::uint64_t exponent = (bits >> from.fraction_bits) & from.exponent_mask();
  std::uint64_t fraction = bits & from.fraction_mask();
  if (exponent == from.exponent_mask()) {
    const std::uint64_t nan = fraction == 0 ? 0 : quiet;
    return sign | wide.exponent_mask() << wide.fraction_bits | nan | fraction << shift;
  }
  if (exponent == 0) {
    if (fraction == 0) return sign;
    // A subnormal of the narrow format is a normal double: its leading bit becomes the implicit one.
    const auto lift = from.fraction_bits + 1 - static_cast<unsigned>(std::bit_width(fraction));
    fraction = (fraction << lift) & from.fraction_mask();
    exponent = 1;
    return sign |
           (exponent + static_cast<std::uint64_t>(wide.bias() - from.bias()) - lift) << wide.fraction_bits |
           fraction << shift;
  }
  return sign | (exponent + static_cast<std::uint64_t>(wide.bias() - from.bias())) << wide.fraction_bits |
         fraction << shift;
}

// The upper bits of the number, if widening them could give it back; the caller tries.
std::uint64_t narrow_candidate(std::uint64_t bits, Layout to) {
  const unsigned shift = wide.fraction_bits - to.fraction_bits;
  const std::uint64_t sign = (bits >> 63U) << (to.exponent_bits + to.fraction_bits);
  const std::uint64_t exponent = (bits >> wide.fraction_bits) & wide.exponent_mask();
  const std::uint64_t fraction = bits & wide.fraction_mask();
  if (exponent == wide.exponent_mask())
    return sign | to.exponent_mask() << to.fraction_bits | fraction >> shift;
  const int narrow = static_cast<int>(exponent) - wide.bias() + to.bias();
  if (narrow >= static_cast<int>(to.exponent_mask())) return sign | to.exponent_mask() << to.fraction_bits;
  if (narrow >= 1) return sign | static_cast<std::uint64_t>(narrow) << to.fraction_bits | fraction >> shift;
  const unsigned lower = shift + static_cast<unsigned>(1 - narrow);
  if (exponent == 0 || lower >= 64) return sign;
  return sign | (fraction | 1ULL << wide.fraction_bits) >> lower;
}

}  // namespace

std::uint64_t double_bits_of_half(std::uint16_t bits) { return widen(bits, half); }
std::uint64_t double_bits_of_single(std::uint32_t bits) { return widen(bits, single); }

std::optional<std::uint16_t> half_of_double_bits(std::uint64_t bits) {
  const std::uint64_t candidate = narrow_candidate(bits, half);
  if (widen(candidate, half) != bits) return std::nullopt;
  return static_cast<std::uint16_t>(candidate);
}

std::optional<std::uint32_t> single_of_double_bits(std::uint64_t bits) {
  const std::uint64_t candidate = narrow_candidate(bits, single);
  if (widen(candidate, single) != bits) return std::nullopt;
  return static_cast<std::uint32_t>(candidate);
}

}  // namespace ckpt::cbor
