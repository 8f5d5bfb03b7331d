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
