#include "ckpt/kernels/cast.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "ckpt/core/error.hpp"
#include "ckpt/kernels/minifloat.hpp"
#include "ckpt/kernels/vector_clones.hpp"

namespace ckpt {
namespace {

template <typename T> CKPT_INLINE T load_at(const std::byte* from, std::size_t i) {
  T value;
  std::memcpy(&value, from + i * sizeof(T), sizeof(T));
  return value;
}

template <typename T> CKPT_INLINE void store_at(std::byte* to, std::size_t i, T value) {
  std::memcpy(to + i * sizeof(T), &value, sizeof(T));
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
  // No digit is kept that could be even: of two powers as near, PyTorch and LLVM take the larger.
  const int exponent = std::ilogb(value);
  const int up = std::ldexp(value, -exponent) >= 1.5 ? 1 : 0;
  const int code = exponent + up + 127;
  return code < 0 ? 0 : code > 254 ? e8m0_nan : static_cast<unsigned>(code);
}

double read_number(DType dtype, std::span<const std::byte> in, std::size_t i, const Minifloat& type) {
  switch (dtype) {
    case DType::f64:
      return load_at<double>(in.data(), i);
    case DType::f32:
    case DType::flex32:
      return static_cast<double>(load_at<float>(in.data(), i));
    case DType::f8_e8m0:
      return decode_e8m0(load_at<std::uint8_t>(in.data(), i));
    case DType::f16:
    case DType::bf16:
      return decode_minifloat(load_at<std::uint16_t>(in.data(), i), type);
    default:
      return decode_minifloat(load_at<std::uint8_t>(in.data(), i), type);
  }
}

/// Writes the nearest number of the type and gives back what it is.
double write_number(DType dtype, std::span<std::byte> out, std::size_t i, const Minifloat& type,
                    double value) {
  switch (dtype) {
    case DType::f64:
      store_at(out.data(), i, value);
      return value;
    case DType::f32:
    case DType::flex32: {
      const auto rounded = static_cast<float>(value);
      store_at(out.data(), i, rounded);
      return static_cast<double>(rounded);
    }
    case DType::f8_e8m0: {
      const unsigned code = encode_e8m0(value);
      store_at(out.data(), i, static_cast<std::uint8_t>(code));
      return decode_e8m0(code);
    }
    default: {
      const unsigned code = encode_minifloat(value, type);
      if (element_size(dtype) == 2) store_at(out.data(), i, static_cast<std::uint16_t>(code));
      else store_at(out.data(), i, static_cast<std::uint8_t>(code));
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

/// The types that are cast from one to another by way of F32's bits, without branches. `decode` is exact;
/// `encode` rounds once.
struct Single {
  using Code = std::uint32_t;
  CKPT_INLINE static Code encode(std::uint32_t bits) { return bits; }
  CKPT_INLINE static std::uint32_t decode(Code bits) { return bits; }
};

struct Bfloat16 {
  using Code = std::uint16_t;
  CKPT_INLINE static Code encode(std::uint32_t bits) {
    const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U;
    const std::uint32_t nan = (bits >> 16U & 0x8000U) | 0x7FC0U;
    return static_cast<Code>((bits & 0x7FFFFFFFU) > 0x7F800000U ? nan : rounded);
  }
  CKPT_INLINE static std::uint32_t decode(Code bits) { return static_cast<std::uint32_t>(bits) << 16U; }
};

struct Half {
  using Code = std::uint16_t;
  CKPT_INLINE static Code encode(std::uint32_t bits) {
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
    return static_cast<Code>(sign | code);
  }
  CKPT_INLINE static std::uint32_t decode(Code bits) {
    const auto sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
    const std::uint32_t magnitude = bits & 0x7FFFU;
    // The same shift back; subnormals are made normal by subtracting what their implied bit would add.
    const std::uint32_t normal = (magnitude << 13U) + (112U << 23U);
    const float small =
        std::bit_cast<float>((magnitude << 13U) + (113U << 23U)) - std::bit_cast<float>(113U << 23U);
    std::uint32_t value = magnitude < 0x400U ? std::bit_cast<std::uint32_t>(small) : normal;
    value = magnitude >= 0x7C00U ? value + (112U << 23U) : value;
    return sign | value;
  }
};

template <typename From, typename To>
CKPT_INLINE void cast_exactly(const std::byte* in, std::byte* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    store_at(out, i, To::encode(From::decode(load_at<typename From::Code>(in, i))));
}

/// Counts losses as integers: reductions over floats would have to keep their order.
template <typename From, typename To>
CKPT_INLINE void cast_counting(const std::byte* in, std::byte* out, std::size_t count,
                               CastStatistics& statistics) {
  constexpr std::size_t run = 4096;  // between two looks at the counters
  constexpr std::uint32_t infinity = 0x7F800000U;
  for (std::size_t at = 0; at < count; at += run) {
    const std::size_t end = std::min(at + run, count);
    std::uint32_t overflowed = 0;
    std::uint32_t flushed = 0;
    std::uint32_t error = 0;  // the bits of a float that is not negative grow with it
    for (std::size_t i = at; i < end; ++i) {
      const std::uint32_t bits = From::decode(load_at<typename From::Code>(in, i));
      const typename To::Code code = To::encode(bits);
      store_at(out, i, code);
      const std::uint32_t bits_now = To::decode(code);
      const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
      const std::uint32_t magnitude_now = bits_now & 0x7FFFFFFFU;
      // Comparisons by the sign of a difference: of others the compiler makes branches, not vectors.
      const std::uint32_t is_finite = (magnitude - infinity) >> 31U;
      const std::uint32_t is_finite_now = (magnitude_now - infinity) >> 31U;
      const std::uint32_t is_nonzero = (0U - magnitude) >> 31U;
      const std::uint32_t is_nonzero_now = (0U - magnitude_now) >> 31U;
      overflowed += is_finite & (is_finite_now ^ 1U);
      flushed += is_nonzero & (is_nonzero_now ^ 1U);
      const auto before = std::bit_cast<float>(bits);
      const auto loss = std::bit_cast<std::uint32_t>((std::bit_cast<float>(bits_now) - before) / before);
      const std::uint32_t counted = 0U - (is_finite & is_finite_now & is_nonzero_now);
      error = std::max(error, loss & 0x7FFFFFFFU & counted);
    }
    statistics.overflowed += overflowed;
    statistics.flushed += flushed;
    statistics.max_relative_error =
        std::max(statistics.max_relative_error, static_cast<double>(std::bit_cast<float>(error)));
  }
}

using Cast = void (*)(const std::byte*, std::byte*, std::size_t, CastStatistics&);

CKPT_VECTOR_CLONES void f32_to_bf16(const std::byte* in, std::byte* out, std::size_t count,
                                    CastStatistics& statistics) {
  cast_counting<Single, Bfloat16>(in, out, count, statistics);
}
CKPT_VECTOR_CLONES void f32_to_f16(const std::byte* in, std::byte* out, std::size_t count,
                                   CastStatistics& statistics) {
  cast_counting<Single, Half>(in, out, count, statistics);
}
CKPT_VECTOR_CLONES void f16_to_bf16(const std::byte* in, std::byte* out, std::size_t count,
                                    CastStatistics& statistics) {
  cast_counting<Half, Bfloat16>(in, out, count, statistics);
}
CKPT_VECTOR_CLONES void bf16_to_f16(const std::byte* in, std::byte* out, std::size_t count,
                                    CastStatistics& statistics) {
  cast_counting<Bfloat16, Half>(in, out, count, statistics);
}
CKPT_VECTOR_CLONES void bf16_to_f32(const std::byte* in, std::byte* out, std::size_t count,
                                    CastStatistics& /*exact*/) {
  cast_exactly<Bfloat16, Single>(in, out, count);
}
CKPT_VECTOR_CLONES void f16_to_f32(const std::byte* in, std::byte* out, std::size_t count,
                                   CastStatistics& /*exact*/) {
  cast_exactly<Half, Single>(in, out, count);
}

struct FastCast {
  DType from;
  DType to;
  Cast cast;
};
/// The casts that models are made of; all others go element by element.
constexpr std::array fast_casts{
    FastCast{DType::f32, DType::bf16, f32_to_bf16},    FastCast{DType::f32, DType::f16, f32_to_f16},
    FastCast{DType::flex32, DType::bf16, f32_to_bf16}, FastCast{DType::flex32, DType::f16, f32_to_f16},
    FastCast{DType::bf16, DType::f32, bf16_to_f32},    FastCast{DType::f16, DType::f32, f16_to_f32},
    FastCast{DType::bf16, DType::f16, bf16_to_f16},    FastCast{DType::f16, DType::bf16, f16_to_bf16},
};

bool is_single(DType dtype) { return dtype == DType::f32 || dtype == DType::flex32; }

}  // namespace

CastStatistics& CastStatistics::operator+=(const CastStatistics& other) {
  elements += other.elements;
  overflowed += other.overflowed;
  flushed += other.flushed;
  max_relative_error = std::max(max_relative_error, other.max_relative_error);
  return *this;
}

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
  else if (const auto* fast = std::ranges::find_if(
               fast_casts, [&](const FastCast& f) { return f.from == from && f.to == to; });
           fast != fast_casts.end())
    fast->cast(in.data(), out.data(), in.size() / element_size(from), statistics);
  else cast_any(from, to, in, out, statistics);
}

}  // namespace ckpt
