#include "ckpt/core/tensor.hpp"

#include <catch2/catch.hpp>

#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

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

TEST_CASE("a view knows when it is contiguous, dimensions of size one aside") {
  const Bytes storage = memory_bytes(std::string(240, 'x'));
  const auto is_plain = [&](const Shape& shape, const std::vector<std::uint64_t>& strides) {
    return !make_strided_view(storage, 0, shape, strides, DType::u8).strides;
  };
  CHECK(is_plain({}, {}));
  CHECK(is_plain({2, 1, 3}, {3, 99, 1}));
  CHECK(is_plain({1, 1}, {7, 1ULL << 63}));
  CHECK(is_plain({0, 5}, {9, 9}));
  CHECK_FALSE(is_plain({2, 3}, {3, 2}));
  CHECK_FALSE(is_plain({2, 3}, {0, 1}));
  CHECK_FALSE(is_plain({2, 3}, {1, 2}));
}

TEST_CASE("a view of packed elements, or with strides for other dimensions, is refused") {
  const Bytes storage = memory_bytes(std::string(24, 'x'));
  CHECK(error_of([&] { make_strided_view(storage, 0, {2}, {1}, DType::f4); }).kind() ==
        ErrorKind::unsupported);
  CHECK(error_of([&] { make_strided_view(storage, 0, {2}, {1, 1}, DType::u8); }).kind() ==
        ErrorKind::corrupt);
}

TEST_CASE("any two dimensions are exchanged, and elements follow") {
  Random random(4);
  for (int round = 0; round < 200; ++round) {
    const Shape shape{random.number(1, 4), random.number(1, 4), random.number(1, 4)};
    const Tensor tensor = counting("t", shape);
    const std::size_t first = random.number(0, 2);
    const std::size_t second = random.number(0, 2);
    const Tensor turned = transposed(tensor, first, second);
    const std::vector<float> before = values_of<float>(gathered_naively(tensor));
    const std::vector<float> after = values_of<float>(gathered_naively(turned));
    std::size_t position = 0;
    for (std::uint64_t i = 0; i < turned.shape[0]; ++i)
      for (std::uint64_t j = 0; j < turned.shape[1]; ++j)
        for (std::uint64_t k = 0; k < turned.shape[2]; ++k) {
          std::vector<std::uint64_t> index{i, j, k};
          std::swap(index[first], index[second]);
          REQUIRE(after[position++] == before[(index[0] * shape[1] + index[1]) * shape[2] + index[2]]);
        }
  }
}

TEST_CASE("rows of a plain tensor and of a view are the elements of these rows") {
  const Tensor plain_tensor = counting("t", {6, 4});
  const Tensor view = transposed(counting("t", {4, 6}), 0, 1);
  for (const Tensor& tensor : {plain_tensor, view}) {
    const std::vector<float> all = values_of<float>(gathered_naively(tensor));
    for (std::uint64_t begin = 0; begin <= 6; ++begin)
      for (std::uint64_t count = 0; begin + count <= 6; ++count) {
        const Tensor part = rows(tensor, begin, count);
        CHECK(part.shape == Shape{count, 4});
        CHECK(part.byte_size() == count * 16);
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin * 4);
        CHECK(values_of<float>(gathered(part)) ==
              std::vector<float>(first, first + static_cast<std::ptrdiff_t>(count * 4)));
      }
  }
  CHECK(rows(counting("t", {3, 0}), 1, 2).shape == Shape{2, 0});
  CHECK(gathered(rows(counting("t", {0, 4}), 0, 0)).empty());
}

TEST_CASE("pieces are joined along the first dimension") {
  const Tensor whole = joined("w", {counting("a", {2, 3}), counting("b", {1, 3}, 6)});
  CHECK(whole.name == "w");
  CHECK(whole.shape == Shape{3, 3});
  CHECK(whole.byte_size() == 36);
  CHECK(gathered(whole) == gathered(counting("c", {3, 3})));
}

TEST_CASE("pieces that do not fit together are refused, by escaped names") {
  const Error shapes = error_of([] { joined("w", {counting("a\x1b", {2, 3}), counting("b", {2, 4})}); });
  CHECK(shapes.kind() == ErrorKind::refused);
  CHECK(contains(shapes.message(), "b is F32 [2, 4]"));
  CHECK_FALSE(contains(shapes.message(), "\x1b"));
  CHECK(error_of([] { joined("w", {counting("a", {2}), counting("b", {2, 1})}); }).kind() ==
        ErrorKind::refused);
  CHECK(error_of([] { joined("w", {counting("a", {}), counting("b", {})}); }).kind() == ErrorKind::refused);
  CHECK(error_of([] {
          joined("w", {counting("a", {2}), plain("b", DType::i32, {2}, std::vector<std::int32_t>{1, 2})});
        }).kind() == ErrorKind::refused);
  Tensor huge{.name = "h", .dtype = DType::u8, .shape = {1ULL << 60}};
  huge.view = make_strided_view(memory_bytes("x"), 0, huge.shape, {0}, DType::u8);
  CHECK(error_of([&] { joined("w", std::vector<Tensor>(16, huge)); }).kind() == ErrorKind::refused);
}

TEST_CASE("a tensor is plain when its bytes lie as they are to be delivered") {
  const Tensor plain = counting("t", {2, 3});
  CHECK(plain.is_plain());
  CHECK_FALSE(transposed(plain, 0, 1).is_plain());
  CHECK_FALSE(joined("j", {plain, plain}).is_plain());
  Tensor other = plain;
  other.view.big_endian = true;
  CHECK_FALSE(other.is_plain());
  other = plain;
  other.dtype = DType::f16;
  CHECK_FALSE(other.is_plain());
  other = plain;
  other.view.source = nullptr;
  CHECK_FALSE(other.is_plain());
}

TEST_CASE("two tensors lie at the same place when all that says where agrees") {
  const Tensor a = counting("a", {2, 2});
  Tensor b = a;
  b.name = "b";
  CHECK(same_place(a, b));
  CHECK_FALSE(same_place(a, counting("a", {2, 2})));
  CHECK_FALSE(same_place(a, transposed(a, 0, 1)));
  CHECK_FALSE(same_place(a, rows(a, 0, 1)));
  CHECK_FALSE(same_place(rows(a, 0, 1), rows(a, 1, 1)));
  b.dtype = DType::f64;
  CHECK_FALSE(same_place(a, b));
  const Tensor empty = counting("e", {0});
  CHECK_FALSE(same_place(empty, empty));
  b = a;
  b.view.big_endian = true;
  CHECK_FALSE(same_place(a, b));
}

TEST_CASE("shapes are written as lists") {
  CHECK(to_string(Shape{}) == "[]");
  CHECK(to_string(Shape{3, 4}) == "[3, 4]");
}

TEST_CASE("parts that do not fit together, or together are beyond counting, are not joined") {
  const auto refusal = [](std::vector<Tensor> pieces) {
    return ckpt::test::message_of([&] { joined("whole", std::move(pieces)); });
  };
  const auto piece = [](std::string name, DType dtype, Shape shape) {
    Tensor tensor{.name = std::move(name), .dtype = dtype, .shape = std::move(shape)};
    tensor.view.stored = dtype;
    tensor.view.bytes = byte_count(tensor.shape, dtype).value();
    return tensor;
  };
  CHECK(refusal({piece("a", DType::f32, {})}) == "whole cannot be joined: a is a scalar");
  CHECK(refusal({piece("a", DType::f32, {2, 3}), piece("b", DType::f32, {2, 4})}) ==
        "whole cannot be joined: a is F32 [2, 3], but b is F32 [2, 4]");
  CHECK(refusal({piece("a", DType::f32, {2, 3}), piece("b", DType::f16, {2, 3})}) ==
        "whole cannot be joined: a is F32 [2, 3], but b is F16 [2, 3]");
  CHECK(refusal({piece("a", DType::f32, {2, 3}), piece("b", DType::f32, {2})}) ==
        "whole cannot be joined: a is F32 [2, 3], but b is F32 [2]");
  const std::vector<Tensor> huge(16, piece("a", DType::u8, {1ULL << 60U}));
  CHECK(refusal(huge) == "whole cannot be joined: it is larger than can be counted");
  const Tensor empty = piece("a", DType::u8, {1ULL << 63U, 0});
  CHECK(refusal({empty, empty}) == "whole cannot be joined: it is larger than can be counted");
}

TEST_CASE("views that reach beyond their storage, or beyond counting, are refused") {
  const Bytes source = memory_bytes(std::string(24, 'x'));
  const auto refusal = [&](std::uint64_t offset, const Shape& shape,
                           const std::vector<std::uint64_t>& strides) {
    return ckpt::test::message_of([&] { make_strided_view(source, offset, shape, strides, DType::f32); });
  };
  CHECK(ckpt::test::contains(refusal(1, {2, 3}, {3, 1}), "up to byte 28 of a storage that holds 24"));
  CHECK(ckpt::test::contains(refusal(UINT64_MAX, {1}, {1}), "up to byte 18446744073709551615"));
  CHECK(ckpt::test::contains(refusal(0, {3}, {1ULL << 63U}), "reach beyond what can be counted"));
  CHECK(ckpt::test::contains(refusal(UINT64_MAX, {2, 2}, {1, 1}), "reach beyond what can be counted"));
  CHECK(ckpt::test::contains(refusal(0, {2}, {1, 1}), "2 strides for 1 dimension"));
  // What PyTorch saves of zeros(5, 0)[1:]; its loader asks nothing of a view without elements.
  CHECK(make_strided_view(source, 6, {0}, {1}, DType::f32).offset == 24);
  CHECK(make_strided_view(source, 7, {4, 0}, {0, 1}, DType::f32).offset == 24);
  CHECK(make_strided_view(source, 1ULL << 62U, {0}, {1}, DType::f32).offset == 0);
}
