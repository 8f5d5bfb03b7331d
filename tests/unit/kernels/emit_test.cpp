#include "ckpt/kernels/emit.hpp"

#include <catch2/catch.hpp>

#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

std::vector<std::byte> text_bytes(std::string_view text) {
  const auto bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

/// A sink that takes ranges itself when told to, and remembers which.
class MovingSink final : public Sink {
 public:
  explicit MovingSink(bool moves) : moves_(moves) {}
  void write(std::span<const std::byte> bytes) override { text += as_text(bytes); }
  bool move(const ByteSource& source, std::uint64_t offset, std::uint64_t size) override {
    offered.emplace_back(offset, size);
    if (moves_) text += as_text(read_range(source, offset, size));
    return moves_;
  }
  std::string text;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> offered;

 private:
  bool moves_;
};

Tensor characters(std::string_view text) {
  Tensor tensor{.name = "t", .dtype = DType::u8, .shape = {text.size()}};
  tensor.view = {.source = memory_bytes(text), .bytes = text.size(), .stored = DType::u8};
  return tensor;
}

}  // namespace

TEST_CASE("the segments of a plan come in their order") {
  const Checkpoint checkpoint = checkpoint_of({characters("first"), characters("second")});
  Plan plan;
  plan.segments = {Plan::Literal{text_bytes("<")}, Plan::TensorData{1}, Plan::Zeros{3}, Plan::TensorData{0},
                   Plan::Literal{text_bytes(">")}};
  MovingSink sink(false);
  emit(plan, checkpoint, sink);
  CHECK(sink.text == std::string("<second\0\0\0first>", 16));
}

TEST_CASE("zeros come in any number") {
  Plan plan;
  plan.segments = {Plan::Zeros{0}, Plan::Zeros{10'001}};
  MemorySink sink;
  emit(plan, {}, sink);
  CHECK(sink.bytes() == std::vector<std::byte>(10'001));
}

TEST_CASE("plain ranges are offered to be moved, and copied where the sink declines") {
  Tensor inner = characters("0123456789");
  inner.view.offset = 2;
  inner.view.bytes = 5;
  inner.shape = {5};
  const Tensor turned = transposed(counting("w", {2, 3}), 0, 1);
  Tensor big = characters("ab");
  big.view.big_endian = true;
  const Checkpoint checkpoint = checkpoint_of({inner, turned, big, joined("j", {inner, inner})});
  Plan plan;
  plan.segments = {Plan::TensorData{0}, Plan::TensorData{1}, Plan::TensorData{2}, Plan::TensorData{3}};
  for (const bool moves : {false, true}) {
    MovingSink sink(moves);
    emit(plan, checkpoint, sink);
    const std::vector<float> matrix{0, 3, 1, 4, 2, 5};
    CHECK(sink.text == "23456" + std::string(as_text(bytes_of(matrix))) + "ab2345623456");
    CHECK(sink.offered == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{2, 5}});
  }
}

TEST_CASE("what follows the data gets the checksums of all tensors before it") {
  const Checkpoint checkpoint = checkpoint_of({characters("123456789"), characters("a"), characters("")});
  Plan plan;
  plan.needs_crc32 = true;
  std::vector<std::vector<std::uint32_t>> seen;
  const Plan::AfterData after{1, [&](std::span<const std::uint32_t> crc32) {
                                seen.emplace_back(crc32.begin(), crc32.end());
                                return text_bytes("!");
                              }};
  plan.segments = {after, Plan::TensorData{0}, after, Plan::TensorData{1}, Plan::TensorData{2}, after};
  MovingSink sink(true);
  emit(plan, checkpoint, sink);
  CHECK(sink.text == "!123456789!a!");
  CHECK(sink.offered.empty());
  CHECK(seen == std::vector<std::vector<std::uint32_t>>{{}, {0xCBF43926}, {0xCBF43926, 0xE8B7BE43, 0}});
}

TEST_CASE("a segment of another size than was planned ends in an error") {
  Plan plan;
  plan.segments = {Plan::AfterData{2, [](std::span<const std::uint32_t>) { return text_bytes("!"); }}};
  MemorySink sink;
  CHECK(error_of([&] { emit(plan, {}, sink); }).kind() == ErrorKind::io);
}
