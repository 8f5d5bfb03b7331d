#include "ckpt/kernels/computed_source.hpp"

#include <bit>
#include <catch2/catch.hpp>

#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

Tensor view_of(Bytes source, Shape shape, DType dtype) {
  Tensor tensor{.name = "w", .dtype = dtype, .shape = std::move(shape)};
  tensor.view = {.source = source, .bytes = source->size(), .stored = dtype};
  return tensor;
}

/// BF16 of small integers, exact.
Tensor bfloats(Shape shape) {
  std::vector<std::uint16_t> codes;
  for (std::uint64_t i = 0; i < element_count(shape).value(); ++i)
    codes.push_back(
        static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(i % 100)) >> 16U));
  return plain("w", DType::bf16, std::move(shape), codes);
}

}  // namespace

TEST_CASE("a scaled matrix is each element times the scale of its block, partial blocks included") {
  constexpr std::uint64_t rows = 7;
  constexpr std::uint64_t columns = 5;
  const Bytes source =
      scaled_source({bfloats({rows, columns}), counting("s", {3, 2}, 1), rows, columns, 3, 4});
  CHECK(source->size() == rows * columns * 4);
  const std::vector<float> all = values_of<float>(gathered(view_of(source, {rows, columns}, DType::f32)));
  for (std::uint64_t i = 0; i < rows; ++i)
    for (std::uint64_t j = 0; j < columns; ++j)
      CHECK(all[i * columns + j] ==
            static_cast<float>(i * columns + j) * static_cast<float>(1 + i / 3 * 2 + j / 4));
}

// 1.0, -2.0, 448 (the largest) and 2^-9 (the smallest) of OCP's E4M3.
TEST_CASE("elements of one byte are scaled by their own type's numbers") {
  const Tensor codes = plain("w", DType::f8_e4m3, {2, 2}, std::vector<std::uint8_t>{0x38, 0xC0, 0x7E, 0x01});
  const Bytes source = scaled_source({codes, counting("s", {1}, 2), 2, 2, 2, 2});
  CHECK(values_of<float>(gathered(view_of(source, {2, 2}, DType::f32))) ==
        std::vector<float>{2, -4, 896, 0x1p-8F});
}

TEST_CASE("any range of computed bytes can be read, as of any source") {
  constexpr std::uint64_t rows = 300;
  constexpr std::uint64_t columns = 260;
  const Bytes scaled =
      scaled_source({bfloats({rows, columns}), counting("s", {3, 3}, 1), rows, columns, 128, 128});
  const Bytes permuted = permuted_source(
      {scaled, 4 * columns, rows - 1, 4 * columns, [](std::uint64_t row) { return rows - 2 - row; }});
  const std::vector<std::byte> whole = read_range(*scaled, 0, scaled->size());
  const std::vector<std::byte> turned = read_range(*permuted, 0, permuted->size());
  Random dice(3);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t begin = dice.number(0, permuted->size());
    const std::uint64_t size = dice.number(0, std::min<std::uint64_t>(permuted->size() - begin, 9000));
    const auto part = [&](const std::vector<std::byte>& bytes) {
      return std::vector(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                         bytes.begin() + static_cast<std::ptrdiff_t>(begin + size));
    };
    CHECK(read_range(*scaled, begin, size) == part(whole));
    CHECK(read_range(*permuted, begin, size) == part(turned));
  }
  CHECK(std::equal(turned.begin(), turned.begin() + 4 * columns, whole.end() - 4 * columns));
  CHECK_THROWS(read_range(*scaled, scaled->size(), 1));
}

TEST_CASE("a computed tensor is transposed like any other, through buffers of any size") {
  const Bytes source = scaled_source({bfloats({6, 9}), counting("s", {6, 1}, 1), 6, 9, 1, 9});
  const Tensor turned = transposed(view_of(source, {6, 9}, DType::f32), 0, 1);
  CHECK(gathered(turned, 0) == gathered_naively(turned));
  CHECK(gathered(turned) == gathered_naively(turned));
}

TEST_CASE("where computed bytes come from is known, for checksums") {
  const Tensor weight = bfloats({2, 2});
  const Tensor scale = counting("s", {1});
  const Bytes scaled = scaled_source({weight, scale, 2, 2, 2, 2});
  const Bytes permuted = permuted_source({scaled, 0, 2, 8, [](std::uint64_t row) { return row; }});
  for (const Bytes& source : {scaled, permuted}) {
    std::unordered_set<const ByteSource*> origins;
    add_origins(*source, origins);
    CHECK(origins.contains(weight.view.source.get()));
    CHECK(origins.contains(scale.view.source.get()));
    CHECK(origins.contains(source.get()));
  }
}
