#include "ckpt/report/number_text.hpp"

#include <catch2/catch.hpp>

#include <limits>

#include "ckpt/kernels/checksum.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

template <typename T> std::string text(DType dtype, const std::vector<T>& parts) {
  return number_text(dtype, bytes_of(parts));
}

std::string f32(float value) { return text<float>(DType::f32, {value}); }

}  // namespace

// Expected values: str() of NumPy 1.24's scalars.
TEST_CASE("numbers are printed as NumPy prints them") {
  CHECK(f32(1.5F) == "1.5");
  CHECK(f32(1) == "1.0");
  CHECK(f32(0) == "0.0");
  CHECK(f32(-0.0F) == "-0.0");
  CHECK(f32(1e-4F) == "1e-04");  // a little less than its digits say
  CHECK(f32(1e-5F) == "1e-05");
  CHECK(f32(123456789.0F) == "123456790.0");
  CHECK(f32(1e15F) == "1000000000000000.0");
  CHECK(f32(1e16F) == "1e+16");
  CHECK(f32(3.14159265F) == "3.1415927");
  CHECK(f32(1.0F / 3) == "0.33333334");
  CHECK(f32(std::numeric_limits<float>::quiet_NaN()) == "nan");
  CHECK(f32(-std::numeric_limits<float>::infinity()) == "-inf");
  CHECK(number_text(1e-4) == "0.0001");
  CHECK(number_text(5e-324) == "5e-324");
  CHECK(number_text(1.7976931348623157e308) == "1.7976931348623157e+308");
  CHECK(number_text(1.0 / 3) == "0.3333333333333333");
}

TEST_CASE("every half is printed as NumPy prints it") {
  std::string all;
  for (unsigned bits = 0; bits < 65536; ++bits)
    all += text<std::uint16_t>(DType::f16, {static_cast<std::uint16_t>(bits)}) + "\n";
  // SHA-256 of the 65536 lines that NumPy 1.24 prints.
  Sha256 sha;
  sha.update(as_bytes(all));
  CHECK(hex(sha.finish()) == "174d3a02c106a6e5ff20cffda71a40bf2acdec5e768dbf4a6060dba3a3852c52");
}

TEST_CASE("types that NumPy lacks have the shortest digits too") {
  CHECK(text<std::uint16_t>(DType::bf16, {0x3FC0}) == "1.5");
  CHECK(text<std::uint16_t>(DType::bf16, {0x3DCD}) == "0.1");  // 0.10009765625
  CHECK(text<std::uint16_t>(DType::bf16, {0x7F80}) == "inf");
  CHECK(text<std::uint8_t>(DType::f8_e4m3, {0x7E}) == "450.0");  // 448: 450 is nearer to it than to 416
  CHECK(text<std::uint8_t>(DType::f8_e4m3fnuz, {0x80}) == "nan");
  CHECK(text<std::uint8_t>(DType::f8_e4m3fnuz, {0x81}) == "-0.001");  // -2^-10
}

TEST_CASE("integers, booleans and complex numbers have their own forms") {
  CHECK(text<std::int64_t>(DType::i64, {INT64_MIN}) == "-9223372036854775808");
  CHECK(text<std::uint64_t>(DType::u64, {UINT64_MAX}) == "18446744073709551615");
  CHECK(text<std::int8_t>(DType::i8, {-1}) == "-1");
  CHECK(text<std::uint8_t>(DType::boolean, {1}) == "True");
  CHECK(text<std::uint8_t>(DType::boolean, {0}) == "False");
  CHECK(text<std::uint8_t>(DType::boolean, {2}) == "2");
  CHECK(text<float>(DType::c64, {1, 2}) == "(1+2j)");
  CHECK(text<float>(DType::c64, {-0.0F, -0.5F}) == "(-0-0.5j)");
  CHECK(text<double>(DType::c128, {1.5, -2}) == "(1.5-2j)");
  CHECK(text<float>(DType::c64, {1, std::numeric_limits<float>::quiet_NaN()}) == "(1+nanj)");
}

TEST_CASE("wide floats, pairs of halves and what is no boolean are printed too") {
  CHECK(text<double>(DType::f64, {0.1}) == "0.1");
  CHECK(text<double>(DType::f64, {1e22}) == "1e+22");
  CHECK(text<float>(DType::c64, {1, 2}) == "(1+2j)");
  CHECK(text<double>(DType::c128, {0.5, -2}) == "(0.5-2j)");
  CHECK(text<std::uint16_t>(DType::c32, {0x3C00, 0xC000}) == "1.0 -2.0");
  CHECK(text<std::uint8_t>(DType::f8_e8m0, {128}) == "2.0");
  CHECK(text<std::uint8_t>(DType::boolean, {1}) == "True");
  CHECK(text<std::uint8_t>(DType::boolean, {0}) == "False");
  CHECK(text<std::uint8_t>(DType::boolean, {7}) == "7");
  CHECK(text<std::uint32_t>(DType::bool_u32, {1}) == "1");
  CHECK(text<std::int8_t>(DType::i8, {-128}) == "-128");
  CHECK(text<std::uint64_t>(DType::u64, {UINT64_MAX}) == "18446744073709551615");
}
