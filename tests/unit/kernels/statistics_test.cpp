#include "ckpt/kernels/statistics.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

Statistics statistics_of(DType dtype, const std::vector<std::byte>& bytes, std::size_t piece = 4096) {
  StatisticsGatherer gatherer(dtype);
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    gatherer.add(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
  return gatherer.finish();
}

template <typename T> Statistics statistics_of(DType dtype, const std::vector<T>& values) {
  return statistics_of(dtype, bytes_of(values));
}

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

// Expected values: NumPy 1.24, in float64.
TEST_CASE("mean and deviation are NumPy's, whatever the type and the pieces") {
  std::vector<float> f32(5000);
  std::vector<double> f64(5000);
  std::vector<std::int32_t> i32(5000);
  for (std::size_t i = 0; i < f32.size(); ++i) {
    f64[i] = static_cast<double>(i) * 0.25 - 300;
    f32[i] = static_cast<float>(f64[i]);
    i32[i] = static_cast<std::int32_t>(i) - 1200;
  }
  for (const Statistics& s : {statistics_of(DType::f32, f32), statistics_of(DType::f64, f64),
                              statistics_of(DType::f32, bytes_of(f32), 20)}) {
    CHECK(s.elements == 5000);
    CHECK(s.zeros == 1);
    CHECK(s.min == -300);
    CHECK(s.max == 949.75L);
    CHECK(s.mean == Approx(324.875).epsilon(1e-15));
    CHECK(s.std == Approx(360.84391102663767).epsilon(1e-14));
  }
  CHECK(statistics_of(DType::i32, i32).std == Approx(4 * 360.84391102663767).epsilon(1e-14));
  CHECK(statistics_of(DType::i32, i32).mean == Approx(4 * 324.875).epsilon(1e-15));
}

TEST_CASE("a large mean does not cost the deviation its digits") {
  std::vector<float> values(5000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 0.25F - 300.0F + 1e6F;
  const Statistics s = statistics_of(DType::f32, values);
  CHECK(s.mean == Approx(1000324.875).epsilon(1e-15));
  CHECK(s.std == Approx(360.84391102663767).epsilon(1e-12));
}

TEST_CASE("halves are read exactly, subnormal ones too") {
  // 1.5, -2, the least subnormal 2^-24, 65504, NaN, inf, -inf, -0.
  const std::vector<std::uint16_t> halves{0x3E00, 0xC000, 0x0001, 0x7BFF, 0x7E01, 0x7C00, 0xFC00, 0x8000};
  const Statistics s = statistics_of(DType::f16, halves);
  CHECK(s.elements == 8);
  CHECK(s.nans == 1);
  CHECK(s.infinities == 2);
  CHECK(s.zeros == 1);
  CHECK(s.min == -2);
  CHECK(s.max == 65504);
  CHECK(s.mean == Approx((1.5 - 2 + std::ldexp(1.0, -24) + 65504) / 5).epsilon(1e-15));
  const Statistics tiny = statistics_of<std::uint16_t>(DType::f16, {0x0001, 0x0001, 0x8001, 0x8001});
  CHECK(tiny.max == std::ldexp(1.0L, -24));
  CHECK(tiny.std == std::ldexp(1.0, -24));
}

TEST_CASE("bfloat16 and bytes of floats are measured like any other") {
  const std::vector<std::uint16_t> brain{0x3FC0, 0xC000, 0x7F80, 0x7FC0, 0x0000};  // 1.5, -2, inf, NaN, 0
  const Statistics s = statistics_of(DType::bf16, brain);
  CHECK(s.nans == 1);
  CHECK(s.infinities == 1);
  CHECK(s.zeros == 1);
  CHECK(s.min == -2);
  CHECK(s.max == 1.5L);
  const Statistics bytes = statistics_of<std::uint8_t>(DType::f8_e4m3, {0x38, 0x7F, 0x7E});  // 1, NaN, 448
  CHECK(bytes.nans == 1);
  CHECK(bytes.max == 448);
  CHECK(bytes.mean == 224.5);
}

TEST_CASE("bounds of 64-bit integers are exact") {
  const Statistics s = statistics_of<std::int64_t>(DType::i64, {INT64_MIN, 0, INT64_MAX});
  CHECK(static_cast<std::int64_t>(s.min) == INT64_MIN);
  CHECK(static_cast<std::int64_t>(s.max) == INT64_MAX);
  CHECK(s.zeros == 1);
  CHECK(static_cast<std::uint64_t>(statistics_of<std::uint64_t>(DType::u64, {UINT64_MAX}).max) == UINT64_MAX);
}

TEST_CASE("the least and the greatest number are found at any place") {
  for (std::size_t count = 2; count <= 100; ++count)
    for (std::size_t place = 0; place < count; ++place) {
      std::vector<float> values(count, 0.5F);
      values[place] = -2;
      values[(place + 1) % count] = 3;
      const Statistics s = statistics_of(DType::f32, values);
      REQUIRE(s.min == -2);
      REQUIRE(s.max == 3);
    }
}

TEST_CASE("the largest doubles do not overflow the mean") {
  const double largest = std::numeric_limits<double>::max();
  const Statistics s = statistics_of<double>(DType::f64, {largest, largest, -largest, -largest});
  CHECK(s.mean == 0);
  CHECK(s.std == largest);
}

TEST_CASE("tensors without finite numbers have counts only") {
  const Statistics s = statistics_of<double>(DType::f64, {infinity, -infinity, std::nan("")});
  CHECK(s.finite() == 0);
  CHECK(s.infinities == 2);
  CHECK(s.nans == 1);
  CHECK(statistics_of<double>(DType::f64, {}).elements == 0);
  CHECK(!can_measure(DType::c64));
  CHECK(!can_measure(DType::f4));
  CHECK(!can_measure(DType::qfloat));
}

TEST_CASE("histograms are NumPy's") {
  const auto counts = [](const std::vector<double>& values, std::size_t bins) {
    const Statistics s = statistics_of(DType::f64, values);
    Histogram histogram{s.min, s.max, std::vector<std::uint64_t>(bins)};
    add_to_histogram(DType::f64, bytes_of(values), histogram);
    return histogram.counts;
  };
  CHECK(counts({0, 1, 2, 3, 10}, 10) == std::vector<std::uint64_t>{1, 1, 1, 1, 0, 0, 0, 0, 0, 1});
  CHECK(counts({1, 2, 1, 4, 3.9999, 2.5}, 3) == std::vector<std::uint64_t>{2, 2, 2});
}

TEST_CASE("integers of every width are measured") {
  const auto check = [](DType dtype, const auto& values, long double least, long double most) {
    const Statistics s = statistics_of(dtype, values);
    CAPTURE(name(dtype));
    CHECK(s.elements == values.size());
    CHECK(s.zeros == 1);
    CHECK(s.min == least);
    CHECK(s.max == most);
  };
  check(DType::i8, std::vector<std::int8_t>{-128, 0, 127}, -128, 127);
  check(DType::u8, std::vector<std::uint8_t>{0, 255}, 0, 255);
  check(DType::i16, std::vector<std::int16_t>{-32768, 0, 32767}, -32768, 32767);
  check(DType::u16, std::vector<std::uint16_t>{0, 65535}, 0, 65535);
  check(DType::u32, std::vector<std::uint32_t>{0, 4294967295U}, 0, 4294967295.0L);
  check(DType::bool_u32, std::vector<std::uint32_t>{0, 1}, 0, 1);
  check(DType::boolean, std::vector<std::uint8_t>{0, 1, 1}, 0, 1);
  check(DType::flex32, std::vector<float>{-0.5F, 0, 2}, -0.5L, 2);
}
