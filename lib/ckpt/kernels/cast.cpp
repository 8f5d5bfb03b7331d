#include "ckpt/kernels/cast.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "ckpt/core/error.hpp"
#include "ckpt/kernels/minifloat.hpp"

namespace ckpt {
namespace {

template <typename T> T load(std::span<const std::byte> bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

template <typename T> void store(std::span<std::byte> bytes, std::size_t i, T value) {
  std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
}

// E8M0 holds powers of two from 2^-127 to 2^127 and NaN; it has neither sign nor zero.
constexpr unsigned e8m0_nan = 255;

double decode_e8m0(unsigned bits) {
  return bits == e8m0_nan ? std::numeric_limits<double>::quiet_NaN()
                          : std::ldexp(1.0, static_cast<int>(bits) - 127);
}

unsigned encode_e8m0(double value) {
  if (!(value > 0)) return value == 0 ? 0 : e8m0_nan;  // the smallest power stands for what is below it
  if (std::isinf(value)) return e8m0_nan;
  // Halves to even in the one place that is kept: of 1.5 * 2^e, the even exponent.
  const int exponent = std::ilogb(value);
  const double rest = std::ldexp(value, -exponent);
  const int up = rest > 1.5 || (rest == 1.5 && exponent % 2 != 0) ? 1 : 0;
  const int code = exponent + up + 127;
  return code < 0 ? 0 : code > 254 ? e8m0_nan : static_cast<unsigned>(code);
}

double read_number(DType dtype, std::span<const std::byte> in, std::size_t i, const Minifloat& type) {
  switch (dtype) {
    case DType::f64:
      return load<double>(in, i);
    case DType::f32:
    case DType::flex32:
      return static_cast<double>(load<float>(in, i));
    case DType::f8_e8m0:
      return decode_e8m0(load<std::uint8_t>(in, i));
    case DType::f16:
    case DType::bf16:
      return decode_minifloat(load<std::uint16_t>(in, i), type);
    default:
      return decode_minifloat(load<std::uint8_t>(in, i), type);
  }
}

/// Writes the nearest number of the type and gives back what it is.
double write_number(DType dtype, std::span<std::byte> out, std::size_t i, const Minifloat& type,
                    double value) {
  switch (dtype) {
    case DType::f64:
      store(out, i, value);
      return value;
    case DType::f32:
    case DType::flex32: {
      const auto rounded = static_cast<float>(value);
      store(out, i, rounded);
      return static_cast<double>(rounded);
    }
    case DType::f8_e8m0: {
      const unsigned code = encode_e8m0(value);
      store(out, i, static_cast<std::uint8_t>(code));
      return decode_e8m0(code);
    }
    default: {
      const unsigned code = encode_minifloat(value, type);
      if (element_size(dtype) == 2) store(out, i, static_cast<std::uint16_t>(code));
      else store(out, i, static_cast<std::uint8_t>(code));
      return decode_minifloat(code, type);
    }
  }
}

void count_loss(double before, double after, CastStatistics& statistics) {
  if (before == after || std::isnan(before)) return;
  // Neither zero nor infinity becomes another number, unless the type lacks it.
  if (before == 0 || std::isinf(before) || !std::isfinite(after)) ++statistics.overflowed;
  else if (after == 0) ++statistics.flushed;
  else
    statistics.max_relative_error =
        std::max(statistics.max_relative_error, std::fabs((after - before) / before));
}

void cast_any(DType from, DType to, std::span<const std::byte> in, std::span<std::byte> out,
              CastStatistics& statistics) {
  const std::size_t count = in.size() / element_size(from);
  const Minifloat source = minifloat(from).value_or(Minifloat{});
  const Minifloat target = minifloat(to).value_or(Minifloat{});
  for (std::size_t i = 0; i < count; ++i) {
    const double before = read_number(from, in, i, source);
    count_loss(before, write_number(to, out, i, target, before), statistics);
  }
}

/// One rounding of F32 bits, without branches where the compiler can do without.
struct ToBfloat16 {
  static std::uint16_t encode(std::uint32_t bits) {
    const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U;
    const std::uint32_t nan = (bits >> 16U & 0x8000U) | 0x7FC0U;
    return static_cast<std::uint16_t>((bits & 0x7FFFFFFFU) > 0x7F800000U ? nan : rounded);
  }
  static float decode(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
  }
};

struct ToHalf {
  static std::uint16_t encode(std::uint32_t bits) {
    const std::uint32_t sign = bits >> 16U & 0x8000U;
    const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
    // Normal: the exponent is counted from 15 instead of 127, then 13 bits are rounded off. What rounds up
    // past the largest half carries into the exponent and is infinity.
    const std::uint32_t shifted = magnitude - (112U << 23U);
    const std::uint32_t normal = (shifted + 0xFFFU + (shifted >> 13U & 1U)) >> 13U;
    // Subnormal: a half's last place is 2^-24, which is that of 0.5 in F32; adding 0.5 rounds there.
    const float sum = std::bit_cast<float>(magnitude) + 0.5F;
    const std::uint32_t small = std::bit_cast<std::uint32_t>(sum) - std::bit_cast<std::uint32_t>(0.5F);
    std::uint32_t code = magnitude < 0x38800000U ? small : normal;
    code = magnitude >= 0x47800000U ? 0x7C00U : code;
    code = magnitude > 0x7F800000U ? 0x7E00U : code;
    return static_cast<std::uint16_t>(sign | code);
  }
  static float decode(std::uint16_t bits) {
    const auto sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
    const std::uint32_t magnitude = bits & 0x7FFFU;
    // The same shift back; subnormals are made normal by subtracting what their implied bit would add.
    const std::uint32_t normal = (magnitude << 13U) + (112U << 23U);
    const float small =
        std::bit_cast<float>((magnitude << 13U) + (113U << 23U)) - std::bit_cast<float>(113U << 23U);
    std::uint32_t value = magnitude < 0x400U ? std::bit_cast<std::uint32_t>(small) : normal;
    value = magnitude >= 0x7C00U ? value + (112U << 23U) : value;
    return std::bit_cast<float>(sign | value);
  }
};

template <typename To>
void cast_from_f32(std::span<const std::byte> in, std::span<std::byte> out, CastStatistics& statistics) {
  constexpr std::size_t run = 4096;  // between two looks at the counters
  const std::size_t count = in.size() / sizeof(float);
  for (std::size_t at = 0; at < count; at += run) {
    const std::size_t end = std::min(at + run, count);
    std::uint32_t overflowed = 0;
    std::uint32_t flushed = 0;
    float error = 0;
    for (std::size_t i = at; i < end; ++i) {
      const auto bits = load<std::uint32_t>(in, i);
      const std::uint16_t code = To::encode(bits);
      store(out, i, code);
      const auto before = std::bit_cast<float>(bits);
      const float after = To::decode(code);
      const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
      const bool is_finite = magnitude < 0x7F800000U;
      const bool is_infinite_now = (std::bit_cast<std::uint32_t>(after) & 0x7FFFFFFFU) >= 0x7F800000U;
      const bool is_zero_now = after == 0;
      overflowed += is_finite && is_infinite_now ? 1U : 0U;
      flushed += is_zero_now && magnitude != 0 ? 1U : 0U;
      const float loss = std::fabs((after - before) / before);
      error = is_finite && !is_infinite_now && !is_zero_now && loss > error ? loss : error;
    }
    statistics.overflowed += overflowed;
    statistics.flushed += flushed;
    statistics.max_relative_error = std::max(statistics.max_relative_error, static_cast<double>(error));
  }
}

bool is_single(DType dtype) { return dtype == DType::f32 || dtype == DType::flex32; }

}  // namespace

bool can_cast(DType from, DType to) {
  return is_floating(from) && is_floating(to) && element_size(from) != 0 && element_size(to) != 0;
}

bool is_exact_cast(DType from, DType to) {
  if (from == to || (is_single(from) && is_single(to)) || to == DType::f64) return true;
  if (is_single(to)) return from != DType::f64;
  const bool is_byte = element_size(from) == 1;
  if (to == DType::bf16) return is_byte;  // eight bits of exponent hold all of theirs
  return to == DType::f16 && is_byte && from != DType::f8_e8m0;
}

void cast_elements(DType from, DType to, std::span<const std::byte> in, std::span<std::byte> out,
                   CastStatistics& statistics) {
  if (!can_cast(from, to)) fail(ErrorKind::refused, "{} cannot be cast to {}", name(from), name(to));
  statistics.elements += in.size() / element_size(from);
  if (is_single(from) && is_single(to)) std::memcpy(out.data(), in.data(), in.size());
  else if (is_single(from) && to == DType::bf16) cast_from_f32<ToBfloat16>(in, out, statistics);
  else if (is_single(from) && to == DType::f16) cast_from_f32<ToHalf>(in, out, statistics);
  else cast_any(from, to, in, out, statistics);
}

}  // namespace ckpt
