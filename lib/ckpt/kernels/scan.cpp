#include "ckpt/kernels/scan.hpp"

#include <cstring>

namespace ckpt {
namespace {

/// The bit patterns of one type: what is left when the sign is masked, from where on that is NaN, and
/// which is infinity (0 where the type has none).
struct Patterns {
  std::uint64_t magnitude;
  std::uint64_t infinity;
  std::uint64_t nan_above;
};

// IEEE types; OCP E4M3 has no infinity and its NaN is all ones; the FNUZ types have minus zero for NaN,
// and E8M0, an exponent alone, has 255.
constexpr std::uint64_t never = UINT64_MAX;

Patterns patterns(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::c128:
      return {0x7FFFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF0000000000000};
    case DType::f32:
    case DType::flex32:
    case DType::c64:
      return {0x7FFFFFFF, 0x7F800000, 0x7F800000};
    case DType::f16:
    case DType::c32:
      return {0x7FFF, 0x7C00, 0x7C00};
    case DType::bf16:
      return {0x7FFF, 0x7F80, 0x7F80};
    case DType::f8_e5m2:
      return {0x7F, 0x7C, 0x7C};
    case DType::f8_e4m3:
      return {0x7F, never, 0x7E};
    case DType::f8_e8m0:
      return {0xFF, never, 0xFE};
    default:
      return {never, never, never};
  }
}

template <typename Bits> Bits load(const std::byte* at) {
  Bits bits;
  std::memcpy(&bits, at, sizeof bits);
  return bits;
}

template <typename Bits>
void scan_floats(std::span<const std::byte> bytes, const Patterns& patterns, Scan& scan) {
  const auto magnitude = static_cast<Bits>(patterns.magnitude);
  const auto infinity = static_cast<Bits>(patterns.infinity);
  const auto nan_above = static_cast<Bits>(patterns.nan_above);
  const bool has_infinity = patterns.infinity != never;
  // Short runs, so that the counters fit the width of an element and the loop becomes vector code.
  constexpr std::size_t run = sizeof(Bits) == 1 ? 128 : 4096;
  const std::size_t count = bytes.size() / sizeof(Bits);
  for (std::size_t at = 0; at < count; at += run) {
    const std::size_t end = at + run < count ? at + run : count;
    Bits nans = 0;
    Bits infinities = 0;
    Bits zeros = 0;
    for (std::size_t i = at; i < end; ++i) {
      const auto value = static_cast<Bits>(load<Bits>(bytes.data() + i * sizeof(Bits)) & magnitude);
      nans = static_cast<Bits>(nans + (value > nan_above ? 1 : 0));
      infinities = static_cast<Bits>(infinities + (value == infinity ? 1 : 0));
      zeros = static_cast<Bits>(zeros + (value == 0 ? 1 : 0));
    }
    scan.nans += nans;
    if (has_infinity) scan.infinities += infinities;
    scan.zeros += zeros;
  }
}

template <typename Bits> void scan_integers(std::span<const std::byte> bytes, bool is_boolean, Scan& scan) {
  const std::size_t count = bytes.size() / sizeof(Bits);
  for (std::size_t i = 0; i < count; ++i) {
    const Bits value = load<Bits>(bytes.data() + i * sizeof(Bits));
    scan.zeros += value == 0 ? 1 : 0;
    if (is_boolean) scan.not_boolean += value > 1 ? 1 : 0;
  }
}

/// FNUZ: only the code of minus zero is NaN, and only that of plus zero is zero.
void scan_fnuz(std::span<const std::byte> bytes, Scan& scan) {
  for (const std::byte b : bytes) {
    scan.nans += b == std::byte{0x80} ? 1 : 0;
    scan.zeros += b == std::byte{0} ? 1 : 0;
  }
}

template <typename Bits> void scan_units(DType dtype, std::span<const std::byte> bytes, Scan& scan) {
  const DTypeClass kind = info(dtype).kind;
  const bool is_number = kind == DTypeClass::floating || kind == DTypeClass::complex;
  if (is_number) scan_floats<Bits>(bytes, patterns(dtype), scan);
  else scan_integers<Bits>(bytes, kind == DTypeClass::boolean, scan);
}

bool repeats(std::span<const std::byte> bytes, std::span<const std::byte> first) {
  if (bytes.empty()) return true;
  if (std::memcmp(bytes.data(), first.data(), first.size()) != 0) return false;
  // All bytes equal those one element before them exactly when all elements are alike.
  return std::memcmp(bytes.data(), bytes.data() + first.size(), bytes.size() - first.size()) == 0;
}

}  // namespace

bool can_scan(DType dtype) { return element_size(dtype) != 0 && dtype != DType::qfloat; }

void scan_elements(DType dtype, std::span<const std::byte> bytes, std::span<const std::byte> first,
                   Scan& scan) {
  scan.elements += bytes.size() / element_size(dtype);
  if (scan.is_constant) scan.is_constant = repeats(bytes, first);
  if (dtype == DType::f8_e4m3fnuz || dtype == DType::f8_e5m2fnuz) return scan_fnuz(bytes, scan);
  switch (info(dtype).unit) {
    case 1:
      return scan_units<std::uint8_t>(dtype, bytes, scan);
    case 2:
      return scan_units<std::uint16_t>(dtype, bytes, scan);
    case 4:
      return scan_units<std::uint32_t>(dtype, bytes, scan);
    default:
      return scan_units<std::uint64_t>(dtype, bytes, scan);
  }
}

}  // namespace ckpt
