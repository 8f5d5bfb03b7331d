#include "ckpt/core/tensor.hpp"

#include <catch2/catch.hpp>

#include "ckpt/core/error.hpp"

using namespace ckpt;

TEST_CASE("a shape whose product does not fit 64 bits has no element count") {
  CHECK(element_count({3, 4}) == 12);
  CHECK(element_count({}) == 1);
  CHECK(element_count({0, 5}) == 0);
  CHECK_FALSE(element_count({1ULL << 32, 1ULL << 32}));
  CHECK(element_count({0, 1ULL << 32, 1ULL << 32}) == 0);
}

TEST_CASE("elements smaller than a byte must fill whole bytes") {
  CHECK(byte_count({4}, DType::f6_e2m3) == 3);
  CHECK_FALSE(byte_count({3}, DType::f6_e2m3));
  CHECK_FALSE(byte_count({1ULL << 61}, DType::f64));
}

TEST_CASE("a view that stays inside its storage is accepted to the last element") {
  const Bytes storage = memory_bytes(std::string(24, 'x'));
  CHECK_FALSE(make_strided_view(storage, 0, {2, 3}, {3, 1}, DType::f32).strides);
  CHECK(make_strided_view(storage, 0, {3, 2}, {1, 3}, DType::f32).strides);
  CHECK_NOTHROW(make_strided_view(storage, 5, {1}, {1}, DType::f32));
  CHECK_NOTHROW(make_strided_view(storage, 6, {0}, {1}, DType::f32));
  CHECK_NOTHROW(make_strided_view(storage, 5, {1ULL << 40}, {0}, DType::f32));
}

TEST_CASE("a view that leaves its storage is refused") {
  const Bytes storage = memory_bytes(std::string(24, 'x'));
  CHECK_THROWS_AS(make_strided_view(storage, 6, {1}, {1}, DType::f32), Error);
  CHECK_THROWS_AS(make_strided_view(storage, 7, {0}, {1}, DType::f32), Error);
  CHECK_THROWS_AS(make_strided_view(storage, 0, {2, 3}, {4, 1}, DType::f32), Error);
  CHECK_THROWS_AS(make_strided_view(storage, 0, {3}, {1ULL << 63}, DType::f32), Error);
  CHECK_THROWS_AS(make_strided_view(storage, UINT64_MAX, {2}, {1}, DType::f32), Error);
  CHECK_THROWS_AS(make_strided_view(storage, 0, {1ULL << 32, 1ULL << 32}, {0, 0}, DType::f32), Error);
}

TEST_CASE("exchanging two dimensions twice gives the plain range back") {
  Tensor tensor{.name = "w", .dtype = DType::f32, .shape = {2, 3}, .view = {}};
  tensor.view = make_strided_view(memory_bytes(std::string(24, 'x')), 0, {2, 3}, {3, 1}, DType::f32);
  const Tensor once = transposed(tensor, 0, 1);
  CHECK(once.shape == Shape{3, 2});
  CHECK(once.view.strides == std::vector<std::uint64_t>{1, 3});
  CHECK_FALSE(transposed(once, 0, 1).view.strides);
}
