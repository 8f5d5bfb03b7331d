#include "ckpt/kernels/decode.hpp"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <limits>

#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

constexpr long double infinity = std::numeric_limits<long double>::infinity();
constexpr long double not_a_number = std::numeric_limits<long double>::quiet_NaN();

/// What the definition of a small float says of one code, given as strings of bits are read by hand.
struct Fields {
  bool is_negative;
  unsigned exponent;
  unsigned mantissa;
};

Fields fields(unsigned code, unsigned exponent_bits, unsigned mantissa_bits) {
  return {code >> (exponent_bits + mantissa_bits) != 0,
          (code / (1U << mantissa_bits)) % (1U << exponent_bits), code % (1U << mantissa_bits)};
}

/// (-1)^s * 2^(e - bias) * 1.m, or with e = 0: (-1)^s * 2^(1 - bias) * 0.m.
long double number(const Fields& f, int bias, unsigned mantissa_bits) {
  const long double fraction =
      static_cast<long double>(f.mantissa) / std::ldexp(1.0L, static_cast<int>(mantissa_bits));
  const long double magnitude = f.exponent == 0
                                    ? std::ldexp(fraction, 1 - bias)
                                    : std::ldexp(1 + fraction, static_cast<int>(f.exponent) - bias);
  return f.is_negative ? -magnitude : magnitude;
}

template <typename Code> std::vector<long double> decoded_codes(DType dtype) {
  std::vector<Code> codes;
  for (unsigned code = 0; code <= std::numeric_limits<Code>::max(); ++code)
    codes.push_back(static_cast<Code>(code));
  std::vector<long double> out;
  decode(dtype, bytes_of(codes), out);
  return out;
}

bool is_same(long double a, long double b) {
  return std::isnan(b) ? std::isnan(a) : a == b && std::signbit(a) == std::signbit(b);
}

template <typename Code, typename Expected> void check_all_codes(DType dtype, const Expected& expected) {
  const std::vector<long double> found = decoded_codes<Code>(dtype);
  REQUIRE(found.size() == std::size_t{std::numeric_limits<Code>::max()} + 1);
  for (unsigned code = 0; code < found.size(); ++code) {
    CAPTURE(name(dtype), code, found[code], expected(code));
    if (!is_same(found[code], expected(code))) FAIL("another number than the definition has");
  }
}

long double ieee(const Fields& f, unsigned highest, int bias, unsigned mantissa_bits) {
  if (f.exponent != highest) return number(f, bias, mantissa_bits);
  return f.mantissa != 0 ? not_a_number : f.is_negative ? -infinity : infinity;
}

template <typename T> std::vector<long double> decoded(DType dtype, const std::vector<T>& values) {
  std::vector<long double> out{99};
  decode(dtype, bytes_of(values), out);
  return out;
}

}  // namespace

TEST_CASE("every code of F16 and BF16 is the number that IEEE 754 gives it") {
  check_all_codes<std::uint16_t>(DType::f16,
                                 [](unsigned code) { return ieee(fields(code, 5, 10), 31, 15, 10); });
  check_all_codes<std::uint16_t>(DType::bf16,
                                 [](unsigned code) { return ieee(fields(code, 8, 7), 255, 127, 7); });
}

TEST_CASE("every code of BF16 is the F32 number whose upper half it is") {
  check_all_codes<std::uint16_t>(
      DType::bf16, [](unsigned code) { return static_cast<long double>(std::bit_cast<float>(code << 16U)); });
}

TEST_CASE("every code of the 8-bit floats is the number of its definition") {
  check_all_codes<std::uint8_t>(DType::f8_e5m2,
                                [](unsigned code) { return ieee(fields(code, 5, 2), 31, 15, 2); });
  check_all_codes<std::uint8_t>(DType::f8_e4m3, [](unsigned code) {
    return code % 128 == 127 ? not_a_number : number(fields(code, 4, 3), 7, 3);
  });
  check_all_codes<std::uint8_t>(DType::f8_e4m3fnuz, [](unsigned code) {
    return code == 128 ? not_a_number : number(fields(code, 4, 3), 8, 3);
  });
  check_all_codes<std::uint8_t>(DType::f8_e5m2fnuz, [](unsigned code) {
    return code == 128 ? not_a_number : number(fields(code, 5, 2), 16, 2);
  });
  check_all_codes<std::uint8_t>(DType::f8_e8m0, [](unsigned code) {
    return code == 255 ? not_a_number : std::pow(2.0L, static_cast<long double>(code) - 127);
  });
}

TEST_CASE("the largest and smallest 8-bit floats are those of the specifications") {
  // OCP 8-bit Floating Point Specification, tables 1 and 2; FNUZ as in MLIR's documentation.
  CHECK(decoded<std::uint8_t>(DType::f8_e4m3, {0x7E, 0x01, 0x08}) ==
        std::vector<long double>{448, std::ldexp(1.0L, -9), std::ldexp(1.0L, -6)});
  CHECK(decoded<std::uint8_t>(DType::f8_e5m2, {0x7B, 0x01, 0x7C}) ==
        std::vector<long double>{57344, std::ldexp(1.0L, -16), infinity});
  CHECK(decoded<std::uint8_t>(DType::f8_e4m3fnuz, {0x7F}) == std::vector<long double>{240});
  CHECK(decoded<std::uint8_t>(DType::f8_e5m2fnuz, {0x7F}) == std::vector<long double>{57344});
  CHECK(decoded<std::uint16_t>(DType::f16, {0x7BFF, 0x0001}) ==
        std::vector<long double>{65504, std::ldexp(1.0L, -24)});
}

TEST_CASE("64-bit integers are decoded exactly") {
  CHECK(decoded<std::uint64_t>(DType::u64, {UINT64_MAX, (1ULL << 63) + 1}) ==
        std::vector<long double>{18446744073709551615.0L, 9223372036854775809.0L});
  CHECK(decoded<std::int64_t>(DType::i64, {INT64_MIN, INT64_MAX}) ==
        std::vector<long double>{-9223372036854775808.0L, 9223372036854775807.0L});
}

TEST_CASE("plain numbers of every width are decoded with their sign") {
  CHECK(decoded<std::int8_t>(DType::i8, {-128, 127}) == std::vector<long double>{-128, 127});
  CHECK(decoded<std::uint8_t>(DType::u8, {128, 255}) == std::vector<long double>{128, 255});
  CHECK(decoded<std::int16_t>(DType::i16, {-32768}) == std::vector<long double>{-32768});
  CHECK(decoded<std::uint16_t>(DType::u16, {65535}) == std::vector<long double>{65535});
  CHECK(decoded<std::int32_t>(DType::i32, {INT32_MIN}) == std::vector<long double>{-2147483648.0L});
  CHECK(decoded<std::uint32_t>(DType::u32, {UINT32_MAX}) == std::vector<long double>{4294967295.0L});
  CHECK(decoded<std::uint8_t>(DType::boolean, {0, 1}) == std::vector<long double>{0, 1});
  CHECK(decoded<std::uint8_t>(DType::bool_u8, {0, 1}) == std::vector<long double>{0, 1});
  CHECK(decoded<std::uint32_t>(DType::bool_u32, {0, 1}) == std::vector<long double>{0, 1});
  CHECK(decoded<float>(DType::f32, {0.1F}) == std::vector<long double>{0.1F});
  CHECK(decoded<float>(DType::flex32, {-2.5F}) == std::vector<long double>{-2.5L});
  CHECK(decoded<double>(DType::f64, {0.1}) == std::vector<long double>{0.1});
}

TEST_CASE("a complex number gives two, its real part first") {
  CHECK(numbers_per_element(DType::c64) == 2);
  CHECK(numbers_per_element(DType::c128) == 2);
  CHECK(numbers_per_element(DType::f64) == 1);
  CHECK(decoded<float>(DType::c64, {1, 2, 3, 4}) == std::vector<long double>{1, 2, 3, 4});
  CHECK(decoded<double>(DType::c128, {1, -2}) == std::vector<long double>{1, -2});
}

TEST_CASE("every type is either decoded or refused as packed") {
  for (const DTypeInfo& row : dtype_table()) {
    CAPTURE(row.name);
    std::vector<long double> out;
    const std::vector<std::byte> zeros(element_size(row.dtype) == 0 ? 1 : element_size(row.dtype));
    if (can_decode(row.dtype)) {
      decode(row.dtype, zeros, out);
      CHECK(out.size() == numbers_per_element(row.dtype));
    }
  }
  CHECK_FALSE(can_decode(DType::f4));
  CHECK_FALSE(can_decode(DType::f6_e2m3));
  CHECK_FALSE(can_decode(DType::f6_e3m2));
  CHECK_FALSE(can_decode(DType::qfloat));
  std::vector<long double> out;
  CHECK(error_of([&] { decode(DType::qfloat, {}, out); }).kind() == ErrorKind::unsupported);
}

TEST_CASE("doubles are the same numbers, for every half, and where a type has no loop of its own") {
  std::vector<std::uint16_t> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  for (const DType dtype : {DType::f16, DType::bf16, DType::i16, DType::f8_e4m3, DType::f8_e5m2fnuz}) {
    REQUIRE(decodes_to_double(dtype));
    std::vector<long double> exact;
    std::vector<double> fast;
    const auto bytes = std::as_bytes(std::span(halves));
    decode(dtype, bytes, exact);
    decode(dtype, bytes, fast);
    REQUIRE(exact.size() == fast.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < fast.size(); ++i) {
      const bool are_nan = exact[i] != exact[i] && fast[i] != fast[i];
      wrong += are_nan || (exact[i] == static_cast<long double>(fast[i]) &&
                           (1 / exact[i] < 0) == (1 / fast[i] < 0))
                   ? 0U
                   : 1U;
    }
    CHECK(wrong == 0);
  }
  CHECK_FALSE(decodes_to_double(DType::i64));
  CHECK_FALSE(decodes_to_double(DType::c64));
  CHECK_FALSE(decodes_to_double(DType::f4));
}
