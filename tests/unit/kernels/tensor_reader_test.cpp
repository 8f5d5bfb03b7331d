#include "ckpt/kernels/tensor_reader.hpp"

#include <catch2/catch.hpp>

#include <numeric>

#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

constexpr std::uint64_t largest_source = 1U << 20;

/// Up to six dimensions whose product stays small.
Shape random_shape(Random& random) {
  static const std::vector<std::uint64_t> sizes{1,  1,  2,  3,  4,  5,   7,   8,   13,
                                                16, 31, 32, 64, 97, 128, 257, 1024};
  Shape shape(random.number(0, 6));
  std::uint64_t count = 1;
  for (std::uint64_t& size : shape) {
    do size = random.one_of(sizes);
    while (count * size > 1U << 14);
    count *= size;
  }
  if (!shape.empty() && random.chance(3)) shape[random.number(0, shape.size() - 1)] = 0;
  return shape;
}

/// Strides of one of the manners in which real and odd views step.
std::vector<std::uint64_t> random_strides(Random& random, const Shape& shape) {
  std::vector<std::uint64_t> strides(shape.size());
  const std::vector<std::uint64_t> plain = contiguous_strides(shape);
  switch (random.number(0, 3)) {
    case 0:  // anything, overlapping or not
      for (std::uint64_t& stride : strides) stride = random.number(0, 40);
      break;
    case 1: {  // dimensions exchanged, with gaps as slicing leaves them
      std::vector<std::size_t> order(shape.size());
      std::iota(order.begin(), order.end(), 0U);
      std::ranges::shuffle(order, random.engine());
      std::uint64_t step = random.number(1, 3);
      for (const std::size_t i : order) {
        strides[i] = step;
        step *= shape[i];
        if (random.chance(30)) step += random.number(1, 50);
        if (random.chance(10)) step *= random.number(2, 40);
      }
      break;
    }
    case 2:  // expanded
      for (std::size_t i = 0; i < shape.size(); ++i) strides[i] = random.chance(50) ? 0 : plain[i];
      break;
    default:  // steps that partly agree with the contiguous form, partly lie far apart
      for (std::size_t i = 0; i < shape.size(); ++i)
        strides[i] = random.chance(50) ? plain[i] : random.number(0, 5000);
  }
  return strides;
}

std::uint64_t reach(const Shape& shape, const std::vector<std::uint64_t>& strides) {
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) last += shape[i] == 0 ? 0 : (shape[i] - 1) * strides[i];
  return last;
}

}  // namespace

TEST_CASE("any view is gathered as its definition says, whatever the memory") {
  const std::vector<DType> types{DType::u8,  DType::boolean, DType::f16, DType::bf16, DType::f32,
                                 DType::i32, DType::f64,     DType::c64, DType::c128};
  const std::vector<std::uint64_t> memories{0, 8192, 8192 + 48, 10'000, 40'000, 300'000, 64U << 20};
  Random random(20240229);
  const Bytes source = memory_bytes(random.bytes(largest_source));
  int gathered_views = 0;
  for (int round = 0; round < 4000; ++round) {
    Tensor tensor{.name = "t", .dtype = random.one_of(types), .shape = random_shape(random)};
    const unsigned size = element_size(tensor.dtype);
    const std::vector<std::uint64_t> strides = random_strides(random, tensor.shape);
    const std::uint64_t needed = reach(tensor.shape, strides) + 1;
    if (needed * size > largest_source) continue;
    const std::uint64_t offset =
        random.number(0, std::min<std::uint64_t>(largest_source / size - needed, 100));
    tensor.view = make_strided_view(source, offset, tensor.shape, strides, tensor.dtype);
    tensor.view.big_endian = random.chance(30);
    const std::uint64_t memory = random.one_of(memories);
    const bool is_same = gathered(tensor, memory) == gathered_naively(tensor);
    if (!is_same) {
      CAPTURE(round, name(tensor.dtype), to_string(tensor.shape), to_string(strides), memory);
      FAIL("other bytes than the definition has");
    }
    ++gathered_views;
  }
  CHECK(gathered_views > 2000);
}

TEST_CASE("a column of rows that lie as far apart as in the result is gathered whole") {
  // x[:, :2, 0].T of a [10, 1250, 10] tensor: one step is that of the contiguous form, the other is wide.
  const Shape shape{2, 10};
  std::vector<double> values(125'000);
  std::iota(values.begin(), values.end(), 0.0);
  Tensor tensor{.name = "t", .dtype = DType::f64, .shape = shape};
  tensor.view = make_strided_view(memory_bytes(bytes_of(values)), 0, shape, {10, 12'500}, DType::f64);
  std::vector<double> expected;
  for (int row = 0; row < 2; ++row)
    for (int column = 0; column < 10; ++column) expected.push_back(row * 10 + column * 12'500);
  CHECK(values_of<double>(gathered(tensor)) == expected);
  CHECK(values_of<double>(gathered(tensor, 0)) == expected);
}

TEST_CASE("one reader takes tensors one after the other, also after an empty one") {
  TensorReader reader(0);
  const Tensor first = transposed(counting("a", {100, 70}), 0, 1);
  const Tensor empty = counting("b", {3, 0});
  const Tensor last = counting("c", {2});
  for (const Tensor* tensor : {&first, &empty, &last}) {
    reader.start(*tensor);
    std::vector<std::byte> all;
    for (auto piece = reader.next(); !piece.empty(); piece = reader.next())
      all.insert(all.end(), piece.begin(), piece.end());
    CHECK(all == gathered_naively(*tensor));
    CHECK(reader.next().empty());
  }
}

TEST_CASE("both halves of a big-endian complex number are turned round on their own") {
  const std::string bytes{"\x00\x01\x02\x03\x10\x11\x12\x13", 8};
  Tensor tensor{.name = "z", .dtype = DType::c64, .shape = {1}};
  tensor.view = {.source = memory_bytes(bytes), .bytes = 8, .stored = DType::c64, .big_endian = true};
  CHECK(as_text(gathered(tensor)) == std::string_view("\x03\x02\x01\x00\x13\x12\x11\x10", 8));
  tensor.dtype = tensor.view.stored = DType::f64;
  CHECK(as_text(gathered(tensor)) == std::string_view("\x13\x12\x11\x10\x03\x02\x01\x00", 8));
}

TEST_CASE("a plain range larger than the buffer comes in whole elements") {
  const Tensor tensor = plain("t", DType::c128, {5000}, Random(1).bytes(80'000));
  TensorReader reader(10'000);
  reader.start(tensor);
  std::vector<std::byte> all;
  for (auto piece = reader.next(); !piece.empty(); piece = reader.next()) {
    CHECK(piece.size() % 16 == 0);
    CHECK(piece.size() <= 5000);
    all.insert(all.end(), piece.begin(), piece.end());
  }
  CHECK(all == gathered_naively(tensor));
}

TEST_CASE("joined pieces come one after the other, each as its own view has it") {
  const Tensor whole = joined("w", {transposed(counting("a", {50, 60}), 0, 1), counting("b", {0, 50}),
                                    counting("c", {7, 50}), transposed(counting("d", {50, 1}, 9), 0, 1)});
  CHECK(whole.shape == Shape{68, 50});
  CHECK(whole.byte_size() == 68 * 50 * 4);
  CHECK(gathered(whole) == gathered_naively(whole));
  CHECK(gathered(whole, 0) == gathered_naively(whole));
}

TEST_CASE("a tensor of 2^40 repeated elements is delivered through small pieces") {
  const Bytes source = memory_bytes(bytes_of<std::uint16_t>({1, 2, 3}));
  Tensor tensor{.name = "t", .dtype = DType::f16, .shape = {1ULL << 20, 1ULL << 20}};
  tensor.view = make_strided_view(source, 2, tensor.shape, {0, 0}, DType::f16);
  TensorReader reader(1 << 16);
  reader.start(tensor);
  for (int i = 0; i < 10; ++i) {
    const std::vector<std::uint16_t> piece = values_of<std::uint16_t>(reader.next());
    CHECK(piece.size() == 16'384);  // what the blocks of the source leave
    CHECK(std::ranges::all_of(piece, [](std::uint16_t value) { return value == 3; }));
  }
  tensor.view = make_strided_view(source, 0, {1ULL << 40, 3}, {0, 1}, DType::f16);
  tensor.shape = {1ULL << 40, 3};
  reader.start(tensor);
  const std::vector<std::uint16_t> piece = values_of<std::uint16_t>(reader.next());
  REQUIRE(piece.size() % 3 == 0);
  for (std::size_t i = 0; i < piece.size(); ++i) REQUIRE(piece[i] == i % 3 + 1);
}

TEST_CASE("pieces in any order cover the contiguous form, each byte once") {
  Tensor half = transposed(counting("h", {300, 700}), 0, 1);
  half.dtype = DType::f16;
  Tensor wide = transposed(counting("w", {900, 3}), 0, 1);
  wide.dtype = DType::f64;
  Tensor big = transposed(plain("b", DType::i16, {40, 3000}, Random(3).bytes(240'000)), 0, 1);
  big.view.big_endian = true;
  const std::vector<Tensor> tensors{
      transposed(counting("a", {300, 700}), 0, 1),
      transposed(rows(counting("r", {50, 2000}), 7, 31), 0, 1),
      transposed(counting("one", {1, 4000}), 0, 1),
      transposed(counting("c", {16, 20, 30}), 0, 2),
      joined("j", {transposed(counting("x", {2000, 50}), 0, 1), counting("y", {3, 2000}),
                   transposed(counting("z", {2000, 5}), 0, 1)}),
      counting("plain", {4000}),
      half,
      wide,
      big};
  for (const Tensor& tensor : tensors)
    for (const std::uint64_t memory : {std::uint64_t{10'000}, std::uint64_t{30'000}}) {
      TensorReader reader({.memory = memory, .in_any_order = true});
      std::vector<std::byte> all(tensor.byte_size());
      std::vector<int> times(all.size());
      reader.start(tensor);
      for (auto piece = reader.next(); !piece.empty(); piece = reader.next()) {
        auto [offset, run, step] = reader.placement();
        REQUIRE(piece.size() % run == 0);
        for (std::size_t at = 0; at < piece.size(); at += run, offset += step)
          for (std::size_t i = 0; i < run; ++i) {
            all.at(offset + i) = piece[at + i];
            ++times.at(offset + i);
          }
      }
      CAPTURE(tensor.name, memory);
      CHECK(all == gathered(tensor));
      CHECK(std::ranges::all_of(times, [](int n) { return n == 1; }));
    }
}

TEST_CASE("of a transposed matrix with long rows, tiles are read in long runs") {
  /// Counts what it is asked for.
  class Counted final : public ByteSource {
   public:
    explicit Counted(std::uint64_t size) : size_(size) {}
    std::uint64_t size() const noexcept override { return size_; }
    mutable std::uint64_t calls = 0;

   private:
    void do_read(std::uint64_t, std::span<std::byte> out) const override {
      ++calls;
      std::ranges::fill(out, std::byte{1});
    }
    std::uint64_t size_;
  };
  const auto source = std::make_shared<Counted>(100'000ULL * 512 * 4);
  Tensor tensor{.name = "t", .dtype = DType::f32, .shape = {100'000, 512}};
  tensor.view = {.source = source, .bytes = source->size(), .stored = DType::f32};
  tensor = transposed(tensor, 0, 1);
  TensorReader reader({.memory = 8U << 20, .in_any_order = true});
  reader.start(tensor);
  std::uint64_t bytes = 0;
  for (auto piece = reader.next(); !piece.empty(); piece = reader.next()) bytes += piece.size();
  CHECK(bytes == source->size());
  CHECK(source->size() / source->calls >= 512 << 10);
}

TEST_CASE("an error of the source is told of the tensor") {
  Tensor tensor = counting("layers.0\x1b.weight", {4});
  tensor.view.bytes = 32;
  const Error error = error_of([&] { gathered(tensor); });
  CHECK(error.kind() == ErrorKind::corrupt);
  CHECK(error.message().starts_with("tensor layers.0\\x1b.weight: "));
}
