#include "ckpt/stages/dequantize.hpp"

#include <catch2/catch.hpp>

#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

Tensor empty(std::string name, DType dtype, Shape shape) {
  const std::uint64_t bytes = byte_count(shape, dtype).value();
  return plain(std::move(name), dtype, std::move(shape), std::vector<std::byte>(bytes));
}

/// The block that the shapes of a weight and its scales are taken to have.
BlockSize block_of(Shape weight, Shape scale, std::optional<BlockSize> said = {}) {
  BlockSize found;
  dequantize(checkpoint_of({empty("w.weight", DType::f8_e4m3, std::move(weight)),
                            empty("w.weight_scale_inv", DType::f32, std::move(scale))}),
             said, [&](const Tensor&, const Tensor&, std::uint64_t, std::uint64_t, BlockSize block) {
               found = block;
               return memory_bytes("");
             });
  return found;
}

Edited made(std::vector<Tensor> tensors) {
  return dequantize(
      checkpoint_of(std::move(tensors)), {},
      [](const Tensor&, const Tensor&, std::uint64_t, std::uint64_t, BlockSize) { return memory_bytes(""); });
}

}  // namespace

TEST_CASE("blocks are 128 by 128 where the shapes fit, the last ones partial") {
  CHECK(block_of({256, 384}, {2, 3}) == BlockSize{128, 128});
  CHECK(block_of({200, 130}, {2, 2}) == BlockSize{128, 128});
  CHECK(block_of({129, 4096}, {2, 32}) == BlockSize{128, 128});
}

TEST_CASE("other blocks are what divides both dimensions into powers of two, or what is said") {
  CHECK(block_of({256, 64}, {4, 2}) == BlockSize{64, 32});
  CHECK(block_of({6, 64}, {6, 2}) == BlockSize{1, 32});
  CHECK(block_of({200, 130}, {4, 3}, BlockSize{64, 64}) == BlockSize{64, 64});
  for (const auto& [weight, scale] :
       {std::pair{Shape{200, 130}, Shape{4, 3}}, std::pair{Shape{96, 96}, Shape{4, 4}},
        std::pair{Shape{8, 8}, Shape{3, 3}}, std::pair{Shape{8, 8}, Shape{2, 2, 2}},
        std::pair{Shape{8, 0}, Shape{2, 3}}, std::pair{Shape{8, 8}, Shape{0, 2}}})
    CHECK(error_of([&] { block_of(weight, scale); }).kind() == ErrorKind::refused);
  CHECK(error_of([] { block_of({200, 130}, {2, 2}, BlockSize{64, 64}); }).kind() == ErrorKind::refused);
}

TEST_CASE("one scale is for all, a vector of scales for rows") {
  for (const Shape& one : {Shape{}, Shape{1}, Shape{1, 1}}) CHECK(block_of({4, 6}, one) == BlockSize{4, 6});
  for (const Shape& rows : {Shape{4}, Shape{4, 1}}) CHECK(block_of({4, 6}, rows) == BlockSize{1, 6});
  CHECK(block_of({4, 6}, {1, 6}) == BlockSize{4, 1});
  // As long as the columns, or a divisor of the rows, a vector says nothing.
  for (const Shape& vector : {Shape{32}, Shape{2}})
    CHECK(contains(error_of([&] { block_of({64, 32}, vector); }).message(), "are not one a row"));
  CHECK(block_of({4, 6, 2}, {4}) == BlockSize{1, 12});
}

TEST_CASE("scales are used up and counted") {
  const Edited edited =
      made({empty("w.weight", DType::f8_e5m2, {4, 4}), empty("w.weight_scale", DType::f32, {}),
            empty("w.input_scale", DType::f32, {}), counting("w.bias", {4})});
  CHECK(names_of(edited.checkpoint) == std::vector<std::string>{"w.weight", "w.bias"});
  CHECK(edited.checkpoint.tensors[0].dtype == DType::f32);
  CHECK(edited.checkpoint.tensors[0].byte_size() == 64);
  CHECK(edited.report.merged == 1);
  CHECK(edited.report.dropped == std::vector<std::string>{"w.input_scale"});
}

TEST_CASE("every other way of quantising is refused, with the names") {
  const std::vector<std::vector<Tensor>> others{
      {empty("w.qweight", DType::i32, {4}), empty("w.scales", DType::f16, {4})},
      {empty("w.weight", DType::i8, {4, 4}), empty("w.weight_scale", DType::f32, {})},
      {empty("w.weight", DType::f8_e4m3, {4, 4}), empty("w.SCB", DType::f32, {4})},
      {empty("w.weight_scale", DType::f32, {4})},
      {empty("w.weight", DType::f8_e4m3, {4, 4}), empty("w.weight_scale", DType::i32, {4})},
      {transposed(empty("w.weight", DType::f8_e4m3, {4, 5}), 0, 1), empty("w.weight_scale", DType::f32, {})},
  };
  for (const std::vector<Tensor>& tensors : others) {
    const Error error = error_of([&] { made(tensors); });
    CHECK(error.kind() == ErrorKind::refused);
    CHECK(contains(error.message(), "w."));
  }
}

TEST_CASE("a size of blocks is ROWSxCOLUMNS") {
  CHECK(parse_block_size("128x64") == BlockSize{128, 64});
  for (const char* text : {"", "x", "128", "128x", "x128", "0x1", "1x0", "-1x1", "1x1x1", "1x 1"})
    CHECK(error_of([&] { parse_block_size(text); }).kind() == ErrorKind::usage);
}
