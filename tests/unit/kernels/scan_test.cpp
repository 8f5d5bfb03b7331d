#include "ckpt/kernels/scan.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "ckpt/kernels/decode.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

template <typename T> Scan scanned(DType dtype, const std::vector<T>& values, std::size_t pieces = 1) {
  Scan scan;
  const std::vector<std::byte> bytes = bytes_of(values);
  const std::span<const std::byte> all(bytes);
  const std::size_t size = values.size() / pieces * sizeof(T);
  for (std::size_t at = 0; at < all.size(); at += size)
    scan_elements(dtype, all.subspan(at, std::min(size, all.size() - at)), all.first(element_size(dtype)),
                  scan);
  return scan;
}

template <typename Code> std::vector<Code> codes() {
  std::vector<Code> all;
  for (unsigned code = 0; code <= std::numeric_limits<Code>::max(); ++code)
    all.push_back(static_cast<Code>(code));
  return all;
}

}  // namespace

// How many codes are what follows from the definitions: of IEEE types two infinities, two zeros and all other
// codes of the highest exponent NaN.
TEST_CASE("of all codes of a small float those are found that are NaN, infinite and zero") {
  struct Case {
    DType dtype;
    std::uint64_t nans, infinities, zeros;
  };
  for (const auto& [dtype, nans, infinities, zeros] :
       {Case{DType::f16, 2046, 2, 2}, Case{DType::bf16, 254, 2, 2}, Case{DType::f8_e5m2, 6, 2, 2},
        Case{DType::f8_e4m3, 2, 0, 2}, Case{DType::f8_e8m0, 1, 0, 0}, Case{DType::f8_e4m3fnuz, 1, 0, 1},
        Case{DType::f8_e5m2fnuz, 1, 0, 1}}) {
    CAPTURE(name(dtype));
    const Scan scan = element_size(dtype) == 2 ? scanned(dtype, codes<std::uint16_t>(), 3)
                                               : scanned(dtype, codes<std::uint8_t>(), 3);
    CHECK(scan.elements == (element_size(dtype) == 2 ? 65536U : 256U));
    CHECK(scan.nans == nans);
    CHECK(scan.infinities == infinities);
    if (dtype != DType::f8_e8m0) CHECK(scan.zeros == zeros);
    CHECK_FALSE(scan.is_constant);
  }
}

TEST_CASE("wide floats, also in pairs, are looked at number by number") {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> singles{0, -0.0F, 1, infinity, -infinity, NAN, 1e-45F, 3e38F};
  for (const DType dtype : {DType::f32, DType::flex32}) {
    const Scan scan = scanned(dtype, singles);
    CHECK(scan.nans == 1);
    CHECK(scan.infinities == 2);
    CHECK(scan.zeros == 2);
  }
  const Scan pairs = scanned(DType::c64, singles);
  CHECK(pairs.elements == 4);
  CHECK(pairs.nans == 1);
  CHECK(pairs.infinities == 2);
  const Scan halves = scanned<std::uint16_t>(DType::c32, {0x7C00, 0x7C01, 0, 0x8000});
  CHECK(halves.elements == 2);
  CHECK(halves.nans == 1);
  CHECK(halves.infinities == 1);
  const Scan doubles = scanned<double>(DType::f64, {0, HUGE_VAL, -HUGE_VAL, std::nan(""), 5e-324});
  CHECK(doubles.nans == 1);
  CHECK(doubles.infinities == 2);
  CHECK(doubles.zeros == 1);
  CHECK(scanned<double>(DType::c128, {0, HUGE_VAL, 1, std::nan("")}).infinities == 1);
}

TEST_CASE("of integers zeros are counted, of booleans what is neither 0 nor 1") {
  CHECK(scanned<std::int64_t>(DType::i64, {0, -1, INT64_MIN, 0}).zeros == 2);
  CHECK(scanned<std::int16_t>(DType::i16, {0, 0x7F00, 1}).zeros == 1);
  const Scan flags = scanned<std::uint8_t>(DType::boolean, {0, 1, 2, 255});
  CHECK(flags.not_boolean == 2);
  CHECK(flags.zeros == 1);
  CHECK(scanned<std::uint32_t>(DType::bool_u32, {0, 1, 256}).not_boolean == 1);
  CHECK(scanned<std::uint8_t>(DType::u8, {2, 3}).not_boolean == 0);
}

TEST_CASE("a tensor is constant when every element has the bits of the first, over all pieces") {
  CHECK(scanned<float>(DType::f32, {2, 2, 2, 2}, 2).is_constant);
  CHECK(scanned<float>(DType::f32, {2}).is_constant);
  CHECK_FALSE(scanned<float>(DType::f32, {2, 2, 2, 3}, 2).is_constant);
  CHECK_FALSE(scanned<float>(DType::f32, {2, 2, 3, 3}, 2).is_constant);
  CHECK_FALSE(scanned<float>(DType::f32, {0.0F, -0.0F}).is_constant);
  CHECK(scanned<float>(DType::f32, {}).is_constant);
}

TEST_CASE("long arrays are counted whole, whatever the width of an element") {
  CHECK(scanned<std::uint8_t>(DType::f8_e5m2, std::vector<std::uint8_t>(100'000, 0x7D)).nans == 100'000);
  CHECK(scanned<std::uint16_t>(DType::f16, std::vector<std::uint16_t>(300'000, 0)).zeros == 300'000);
  CHECK(scanned<std::uint16_t>(DType::bf16, std::vector<std::uint16_t>(300'000, 0xFF80)).infinities ==
        300'000);
}
