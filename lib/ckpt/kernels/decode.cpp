#include "ckpt/kernels/decode.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "ckpt/core/error.hpp"
#include "ckpt/kernels/minifloat.hpp"

namespace ckpt {
namespace {

template <typename T> void decode_plain(std::span<const std::byte> bytes, std::vector<long double>& out) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T value{};
    std::memcpy(&value, bytes.data() + i, sizeof(T));
    out.push_back(static_cast<long double>(value));
  }
}

template <typename Bits>
void decode_small(std::span<const std::byte> bytes, DType dtype, std::vector<long double>& out) {
  const Minifloat type = minifloat(dtype == DType::c32 ? DType::f16 : dtype).value();
  for (std::size_t i = 0; i + sizeof(Bits) <= bytes.size(); i += sizeof(Bits)) {
    Bits bits{};
    std::memcpy(&bits, bytes.data() + i, sizeof(Bits));
    out.push_back(decode_minifloat(bits, type));
  }
}

template <typename T, typename Of>
void convert(std::span<const std::byte> bytes, std::vector<double>& out, Of of) {
  const std::size_t count = bytes.size() / sizeof(T);
  out.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    T value{};
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = of(value);
  }
}

std::uint32_t as_bits(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

float as_float(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

bool decodes_to_double(DType dtype) {
  return can_decode(dtype) && dtype != DType::i64 && dtype != DType::u64 &&
         info(dtype).kind != DTypeClass::complex;
}

void decode(DType dtype, std::span<const std::byte> bytes, std::vector<double>& out) {
  switch (dtype) {
    case DType::f64:
      return convert<double>(bytes, out, [](double x) { return x; });
    case DType::f32:
    case DType::flex32:
      return convert<float>(bytes, out, [](float x) { return static_cast<double>(x); });
    case DType::bf16:
      return convert<std::uint16_t>(bytes, out, [](std::uint16_t bits) {
        return static_cast<double>(as_float(static_cast<std::uint32_t>(bits) << 16U));
      });
    case DType::f16:
      return convert<std::uint16_t>(bytes, out, [](std::uint16_t bits) {
        // The bias of the exponent, of subnormal numbers too, is mended by a product, which is exact;
        // infinities and NaN keep the highest exponent. Without a branch, so that vector code is made.
        const std::uint32_t sign = (bits & 0x8000U) << 16U;
        const std::uint32_t wide = (bits & 0x7FFFU) << 13U;
        const std::uint32_t number = as_bits(as_float(wide) * 0x1p112F);
        const std::uint32_t special = 0x7F800000U | (wide & 0x7FFFFFU);
        return static_cast<double>(as_float(sign | ((bits & 0x7C00U) == 0x7C00U ? special : number)));
      });
    case DType::i32:
      return convert<std::int32_t>(bytes, out, [](std::int32_t x) { return static_cast<double>(x); });
    default:
      break;
  }
  std::vector<long double> numbers;
  decode(dtype, bytes, numbers);
  out.assign(numbers.begin(), numbers.end());
}

bool can_decode(DType dtype) { return element_size(dtype) != 0 && dtype != DType::qfloat; }

void decode(DType dtype, std::span<const std::byte> bytes, std::vector<long double>& out) {
  out.clear();
  out.reserve(bytes.size() / element_size(dtype) * numbers_per_element(dtype));
  switch (dtype) {
    case DType::f64:
    case DType::c128:
      return decode_plain<double>(bytes, out);
    case DType::f32:
    case DType::flex32:
    case DType::c64:
      return decode_plain<float>(bytes, out);
    case DType::f16:
    case DType::bf16:
    case DType::c32:
      return decode_small<std::uint16_t>(bytes, dtype, out);
    case DType::f8_e4m3:
    case DType::f8_e5m2:
    case DType::f8_e4m3fnuz:
    case DType::f8_e5m2fnuz:
      return decode_small<std::uint8_t>(bytes, dtype, out);
    case DType::f8_e8m0:
      for (const std::byte b : bytes) {
        const int exponent = std::to_integer<int>(b);
        out.push_back(exponent == 255 ? std::numeric_limits<long double>::quiet_NaN()
                                      : std::ldexp(1.0L, exponent - 127));
      }
      return;
    case DType::i64:
      return decode_plain<std::int64_t>(bytes, out);
    case DType::i32:
      return decode_plain<std::int32_t>(bytes, out);
    case DType::i16:
      return decode_plain<std::int16_t>(bytes, out);
    case DType::i8:
      return decode_plain<std::int8_t>(bytes, out);
    case DType::u64:
      return decode_plain<std::uint64_t>(bytes, out);
    case DType::u32:
    case DType::bool_u32:
      return decode_plain<std::uint32_t>(bytes, out);
    case DType::u16:
      return decode_plain<std::uint16_t>(bytes, out);
    case DType::u8:
    case DType::boolean:
    case DType::bool_u8:
      return decode_plain<std::uint8_t>(bytes, out);
    case DType::f6_e2m3:
    case DType::f6_e3m2:
    case DType::f4:
    case DType::qfloat:
      break;
  }
  fail(ErrorKind::unsupported, "{} data is packed and is not taken apart", name(dtype));
}

}  // namespace ckpt
