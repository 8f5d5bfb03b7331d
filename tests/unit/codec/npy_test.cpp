#include "ckpt/codec/npy.hpp"

#include <catch2/catch.hpp>

#include "ckpt/core/error.hpp"

using namespace ckpt;

namespace {

std::string numpy(std::string_view dict) {
  return std::string("\x93NUMPY\x01\x00v\x00", 10) + std::string(dict) + std::string(117 - dict.size(), ' ') +
         "\n";
}

}  // namespace

// What numpy.save of NumPy 1.24 writes before the data.
TEST_CASE("headers are NumPy's, byte for byte") {
  CHECK(npy::header(DType::f32, {3, 4}) ==
        numpy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"));
  CHECK(npy::header(DType::i64, {}) == numpy("{'descr': '<i8', 'fortran_order': False, 'shape': (), }"));
  CHECK(npy::header(DType::boolean, {5}) ==
        numpy("{'descr': '|b1', 'fortran_order': False, 'shape': (5,), }"));
  CHECK(npy::header(DType::c64, {0, 2}) ==
        numpy("{'descr': '<c8', 'fortran_order': False, 'shape': (0, 2), }"));
}

TEST_CASE("long shapes grow the header by 64 bytes at a time, up to its limit") {
  for (std::size_t dimensions = 1; dimensions < 200; dimensions += 7) {
    const std::string header = npy::header(DType::u8, Shape(dimensions, 1));
    CHECK(header.size() % 64 == 0);
    CHECK(header.size() ==
          10U + static_cast<unsigned char>(header[8]) + 256U * static_cast<unsigned char>(header[9]));
  }
  CHECK_THROWS_AS(npy::header(DType::u8, Shape(40000, 1)), Error);
}

TEST_CASE("types that NumPy lacks are refused") {
  for (const DType dtype : {DType::bf16, DType::f8_e4m3, DType::c32, DType::qfloat, DType::f4}) {
    CHECK(!npy::descriptor(dtype));
    CHECK_THROWS_AS(npy::header(dtype, {1}), Error);
  }
}

// numpy.dtype(...).str of NumPy 1.24.
TEST_CASE("every type that NumPy has is called as NumPy calls it") {
  for (const auto& [dtype, descriptor] :
       std::vector<std::pair<DType, std::string_view>>{{DType::f64, "<f8"},
                                                       {DType::f32, "<f4"},
                                                       {DType::flex32, "<f4"},
                                                       {DType::f16, "<f2"},
                                                       {DType::i64, "<i8"},
                                                       {DType::i32, "<i4"},
                                                       {DType::i16, "<i2"},
                                                       {DType::i8, "|i1"},
                                                       {DType::u64, "<u8"},
                                                       {DType::u32, "<u4"},
                                                       {DType::u16, "<u2"},
                                                       {DType::u8, "|u1"},
                                                       {DType::boolean, "|b1"},
                                                       {DType::bool_u8, "|b1"},
                                                       {DType::c64, "<c8"},
                                                       {DType::c128, "<c16"}})
    CHECK(npy::descriptor(dtype) == descriptor);
}
