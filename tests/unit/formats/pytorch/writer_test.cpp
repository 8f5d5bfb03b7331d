#include "ckpt/formats/pytorch/writer.hpp"

#include <catch2/catch.hpp>

#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using Catch::Contains;

namespace {

void plan(Shape shape) {
  Checkpoint checkpoint;
  checkpoint.tensors.push_back(test::plain("w", DType::u8, std::move(shape), std::vector<std::byte>{}));
  static_cast<void>(plan_pytorch(checkpoint));
}

}  // namespace

TEST_CASE("a tensor without elements whose sizes PyTorch cannot count is refused") {
  plan({0, INT64_MAX});
  plan({INT64_MAX, 2, 0});
  for (const Shape& shape : {Shape{0, 1ULL << 63U}, Shape{1ULL << 63U, 0}, Shape{0, INT64_MAX, 2},
                             Shape{0, 1ULL << 32U, 1ULL << 32U, 1ULL << 32U}}) {
    const Error error = test::error_of([&] { plan(shape); });
    CHECK(error.kind() == ErrorKind::refused);
    CHECK_THAT(error.message(), Contains("tensor w") && Contains(to_string(shape)));
  }
}

TEST_CASE("what PyTorch has no tensors of is refused with the tensor's name") {
  const auto refusal = [](std::string name, DType dtype, Shape shape) {
    Checkpoint checkpoint;
    const std::uint64_t bytes = byte_count(shape, dtype).value_or(0);
    checkpoint.tensors.push_back(
        test::plain(std::move(name), dtype, std::move(shape), std::vector<std::byte>(bytes)));
    const Error error = test::error_of([&] { static_cast<void>(plan_pytorch(checkpoint)); });
    CHECK(error.kind() == ErrorKind::refused);
    CHECK_FALSE(error.hint().empty());
    return error.message();
  };
  CHECK_THAT(refusal("w", DType::f4, {2}), Contains("tensor w: PyTorch has no type for F4"));
  CHECK_THAT(refusal("w", DType::qfloat, {2}), Contains("PyTorch has no type for QFLOAT"));
  CHECK_THAT(refusal("w\xFF", DType::f32, {2}), Contains("the name is not UTF-8"));
  CHECK_THAT(refusal("w", DType::f32, Shape(65, 1)), Contains("PyTorch has no tensors of shape [1, 1"));
  plan(Shape(64, 0));
}
