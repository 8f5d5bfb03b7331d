#include "ckpt/kernels/cast.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "ckpt/core/error.hpp"
#include "ckpt/kernels/minifloat.hpp"

using namespace ckpt;

namespace {

template <typename To, typename From>
To cast_one(DType from, DType to, From value, CastStatistics& statistics) {
  To result{};
  cast_elements(from, to, std::as_bytes(std::span(&value, 1)), std::as_writable_bytes(std::span(&result, 1)),
                statistics);
  return result;
}

template <typename To, typename From> To cast_one(DType from, DType to, From value) {
  CastStatistics ignored;
  return cast_one<To>(from, to, value, ignored);
}

}  // namespace

TEST_CASE("every code of a small type comes back from the number that it stands for") {
  for (const DType dtype :
       {DType::f16, DType::bf16, DType::f8_e4m3, DType::f8_e5m2, DType::f8_e4m3fnuz, DType::f8_e5m2fnuz}) {
    const Minifloat type = minifloat(dtype).value();
    const unsigned codes = element_size(dtype) == 2 ? 1U << 16U : 1U << 8U;
    for (unsigned code = 0; code < codes; ++code) {
      const double value = decode_minifloat(code, type);
      if (std::isnan(value)) CHECK(std::isnan(decode_minifloat(encode_minifloat(value, type), type)));
      else if (encode_minifloat(value, type) != code) FAIL_CHECK(name(dtype) << " code " << code);
    }
  }
}

TEST_CASE("a number between two codes becomes the nearer one, and of halves the even one") {
  for (const DType dtype :
       {DType::f16, DType::bf16, DType::f8_e4m3, DType::f8_e5m2, DType::f8_e4m3fnuz, DType::f8_e5m2fnuz}) {
    const Minifloat type = minifloat(dtype).value();
    const unsigned half = element_size(dtype) == 2 ? 1U << 15U : 1U << 7U;
    for (unsigned code = 0; code + 1 < half; ++code) {
      const double low = decode_minifloat(code, type);
      const double high = decode_minifloat(code + 1, type);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const double middle = low + (high - low) / 2;  // exact: both have few bits
      const unsigned even = code % 2 == 0 ? code : code + 1;
      if (encode_minifloat(middle, type) != even ||
          encode_minifloat(std::nextafter(middle, low), type) != code ||
          encode_minifloat(std::nextafter(middle, high), type) != code + 1)
        FAIL_CHECK(name(dtype) << " code " << code);
    }
  }
}

// The values are NumPy's: np.float32(x).astype(np.float16).view(np.uint16).
TEST_CASE("F32 becomes F16 as NumPy has it") {
  const auto half = [](float value) { return cast_one<std::uint16_t>(DType::f32, DType::f16, value); };
  CHECK(half(65504.0F) == 0x7BFF);
  CHECK(half(65519.996F) == 0x7BFF);
  CHECK(half(65520.0F) == 0x7C00);
  CHECK(half(70000.0F) == 0x7C00);
  CHECK(half(-0.0F) == 0x8000);
  CHECK(half(6e-8F) == 0x0001);
  CHECK(half(2.9802322e-8F) == 0x0000);  // half of the smallest: to even
  CHECK(half(2.9802326e-8F) == 0x0001);
  CHECK(half(1e-10F) == 0x0000);
  CHECK(half(1.00048828125F) == 0x3C00);  // between 1 and the next
  CHECK(half(1.00146484375F) == 0x3C02);
  CHECK(half(INFINITY) == 0x7C00);
  CHECK((half(NAN) & 0x7C00) == 0x7C00);
  CHECK((half(NAN) & 0x03FF) != 0);
}

TEST_CASE("the quick casts of F32 agree with the definition on every exponent and on all roundings") {
  for (const DType to : {DType::f16, DType::bf16}) {
    const Minifloat type = minifloat(to).value();
    for (std::uint64_t bits = 0; bits <= UINT32_MAX; bits += 0x0FFF) {
      for (const std::uint32_t nudge : {0U, 1U, UINT32_MAX}) {
        const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits) + nudge);
        const auto got = cast_one<std::uint16_t>(DType::f32, to, value);
        const double want = decode_minifloat(encode_minifloat(static_cast<double>(value), type), type);
        const double is = decode_minifloat(got, type);
        if (std::isnan(want) ? !std::isnan(is)
                             : std::bit_cast<std::uint64_t>(want) != std::bit_cast<std::uint64_t>(is))
          FAIL_CHECK(name(to) << " of bits " << bits + nudge);
      }
    }
  }
}

TEST_CASE("what a cast loses is counted") {
  CastStatistics statistics;
  cast_one<std::uint16_t>(DType::f32, DType::f16, 70000.0F, statistics);
  cast_one<std::uint16_t>(DType::f32, DType::f16, 1e-10F, statistics);
  cast_one<std::uint16_t>(DType::f32, DType::f16, INFINITY, statistics);
  cast_one<std::uint16_t>(DType::f32, DType::f16, 1.0F, statistics);
  CHECK(statistics.elements == 4);
  CHECK(statistics.overflowed == 1);
  CHECK(statistics.flushed == 1);
  CHECK(statistics.max_relative_error == 0);
  cast_one<std::uint16_t>(DType::f32, DType::bf16, 1.00390625F, statistics);
  CHECK(statistics.max_relative_error == Approx(0.00390625 / 1.00390625));
}

TEST_CASE("F64 is rounded once on its way to F16") {
  // 1 + 2^-11 + 2^-40: by way of F32 it would become the half between two codes and then the even one.
  CHECK(cast_one<std::uint16_t>(DType::f64, DType::f16, 1.0 + 0x1p-11 + 0x1p-40) == 0x3C01);
}

TEST_CASE("types without infinity overflow to NaN") {
  CastStatistics statistics;
  CHECK(cast_one<std::uint8_t>(DType::f32, DType::f8_e4m3, 448.0F, statistics) == 0x7E);
  CHECK(cast_one<std::uint8_t>(DType::f32, DType::f8_e4m3, 464.0F, statistics) == 0x7E);  // half way: to even
  CHECK(cast_one<std::uint8_t>(DType::f32, DType::f8_e4m3, 465.0F, statistics) == 0x7F);
  CHECK(cast_one<std::uint8_t>(DType::f32, DType::f8_e4m3fnuz, 1e9F, statistics) == 0x80);
  CHECK(cast_one<std::uint8_t>(DType::f32, DType::f8_e4m3fnuz, -0.0F, statistics) == 0x00);
  CHECK(statistics.overflowed == 2);
}

TEST_CASE("what a type lacks is counted: infinities, zero, a sign") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const auto& [to, value] : std::vector<std::pair<DType, float>>{{DType::f8_e4m3, infinity},
                                                                      {DType::f8_e4m3, -infinity},
                                                                      {DType::f8_e4m3fnuz, infinity},
                                                                      {DType::f8_e5m2fnuz, -infinity},
                                                                      {DType::f8_e8m0, infinity},
                                                                      {DType::f8_e8m0, 0.0F},
                                                                      {DType::f8_e8m0, -0.0F},
                                                                      {DType::f8_e8m0, -1.0F},
                                                                      {DType::f8_e8m0, -1e-45F}}) {
    CastStatistics statistics;
    cast_one<std::uint8_t>(DType::f32, to, value, statistics);
    CAPTURE(name(to), value);
    CHECK(statistics.overflowed == 1);
    CHECK(statistics.flushed == 0);
  }
  CastStatistics kept;
  cast_one<std::uint8_t>(DType::f32, DType::f8_e5m2, infinity, kept);
  cast_one<std::uint8_t>(DType::f32, DType::f8_e4m3, -0.0F, kept);
  cast_one<std::uint8_t>(DType::f32, DType::f8_e4m3fnuz, -0.0F, kept);  // plus zero is the same number
  cast_one<std::uint8_t>(DType::f32, DType::f8_e8m0, 2.0F, kept);
  CHECK(kept.overflowed == 0);
}

TEST_CASE("only a cast that keeps every number is exact") {
  CHECK(is_exact_cast(DType::f16, DType::f32));
  CHECK(is_exact_cast(DType::bf16, DType::f32));
  CHECK(is_exact_cast(DType::f32, DType::f64));
  CHECK(is_exact_cast(DType::f8_e4m3, DType::f16));
  CHECK_FALSE(is_exact_cast(DType::f32, DType::bf16));
  CHECK_FALSE(is_exact_cast(DType::f16, DType::bf16));
  CHECK_FALSE(is_exact_cast(DType::f8_e8m0, DType::f16));
  CHECK_FALSE(is_exact_cast(DType::f64, DType::f32));
}

TEST_CASE("whole arrays are cast as their numbers are, and what is lost is counted") {
  std::vector<std::uint16_t> codes(1U << 16U);
  for (unsigned i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint16_t>(i);
  for (const DType from : {DType::f16, DType::bf16}) {
    const Minifloat source = minifloat(from).value();
    CastStatistics exact;
    std::vector<float> singles(codes.size());
    cast_elements(from, DType::f32, std::as_bytes(std::span(codes)),
                  std::as_writable_bytes(std::span(singles)), exact);
    CHECK(exact.overflowed + exact.flushed == 0);

    const DType to = from == DType::f16 ? DType::bf16 : DType::f16;
    const Minifloat target = minifloat(to).value();
    CastStatistics lost;
    std::vector<std::uint16_t> cast(codes.size());
    cast_elements(from, to, std::as_bytes(std::span(codes)), std::as_writable_bytes(std::span(cast)), lost);

    CastStatistics expected{.elements = codes.size()};
    for (unsigned i = 0; i < codes.size(); ++i) {
      const double number = decode_minifloat(codes[i], source);
      const double now = decode_minifloat(cast[i], target);
      CAPTURE(name(from), i);
      if (std::isnan(number)) {
        REQUIRE((std::isnan(singles[i]) && std::isnan(now)));
        continue;
      }
      REQUIRE(std::bit_cast<std::uint64_t>(static_cast<double>(singles[i])) ==
              std::bit_cast<std::uint64_t>(number));
      REQUIRE(cast[i] == encode_minifloat(number, target));
      if (std::isfinite(number) && !std::isfinite(now)) ++expected.overflowed;
      else if (number != 0 && now == 0) ++expected.flushed;
      else if (std::isfinite(number) && number != 0)
        expected.max_relative_error =
            std::max(expected.max_relative_error, std::fabs((now - number) / number));
    }
    CHECK(lost.elements == expected.elements);
    CHECK(lost.overflowed == expected.overflowed);
    CHECK(lost.flushed == expected.flushed);
    CHECK(lost.max_relative_error == Approx(expected.max_relative_error));
  }
}

TEST_CASE("powers of two are rounded to the nearest, halves to the larger") {
  const auto power = [](double value) {
    return int{cast_one<std::uint8_t>(DType::f64, DType::f8_e8m0, value)};
  };
  CHECK(power(1) == 127);
  CHECK(power(1.49) == 127);
  CHECK(power(1.51) == 128);
  // PyTorch's own examples of halves (test of Float8_e8m0fnu).
  CHECK(power(0.375) == 126);
  CHECK(power(0.75) == 127);
  CHECK(power(1.5) == 128);
  CHECK(power(3) == 129);
  CHECK(power(6) == 130);
  CHECK(power(0x1p-127) == 0);
  CHECK(power(0x1p-200) == 0);
  CHECK(power(0x1p127) == 254);
  CHECK(power(0x1.9p127) == 255);
  CHECK(power(HUGE_VAL) == 255);
  CHECK(power(std::nan("")) == 255);
  CHECK(power(0) == 0);
  CHECK(power(-1) == 255);
  CHECK(cast_one<float>(DType::f8_e8m0, DType::f32, std::uint8_t{130}) == 8);
  CHECK(std::isnan(cast_one<float>(DType::f8_e8m0, DType::f32, std::uint8_t{255})));
}

TEST_CASE("casts between types of which one is no plain float are refused") {
  for (const auto& [from, to] : std::vector<std::pair<DType, DType>>{{DType::i32, DType::f32},
                                                                     {DType::f32, DType::i32},
                                                                     {DType::f4, DType::f32},
                                                                     {DType::f32, DType::f4},
                                                                     {DType::qfloat, DType::f32},
                                                                     {DType::f32, DType::c64}}) {
    CAPTURE(name(from), name(to));
    CHECK_FALSE(can_cast(from, to));
    CastStatistics statistics;
    std::vector<std::byte> bytes(16);
    CHECK_THROWS_AS(cast_elements(from, to, bytes, bytes, statistics), Error);
  }
  CHECK(is_exact_cast(DType::flex32, DType::f32));
  CHECK(is_exact_cast(DType::f8_e8m0, DType::bf16));
  CHECK_FALSE(is_exact_cast(DType::bf16, DType::f16));
  CHECK_FALSE(is_exact_cast(DType::f32, DType::f8_e4m3));
  CHECK(cast_one<float>(DType::flex32, DType::f32, 1.25F) == 1.25F);
}
