#include "ckpt/kernels/emit.hpp"

#include <catch2/catch.hpp>

#include "ckpt/core/crc32.hpp"
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

/// A sink that takes bytes in any order, or none after so many.
class PlacingSink final : public Sink {
 public:
  explicit PlacingSink(std::size_t room = SIZE_MAX) : room_(room) {}
  void write(std::span<const std::byte> bytes) override {
    place(0, bytes);
    end_ += bytes.size();
  }
  bool can_place() const noexcept override { return true; }
  void place(std::uint64_t ahead, std::span<const std::byte> bytes) override {
    if (bytes.size() > room_) fail(ErrorKind::io, "full");
    room_ -= bytes.size();
    placed += ahead > 0 ? 1 : 0;
    const std::size_t at = end_ + ahead;
    if (all.size() < at + bytes.size()) all.resize(at + bytes.size()), is_there_.resize(all.size());
    std::ranges::copy(bytes, all.begin() + static_cast<std::ptrdiff_t>(at));
    std::fill_n(is_there_.begin() + static_cast<std::ptrdiff_t>(at), bytes.size(), true);
  }
  void append_placed(std::uint64_t size) override {
    REQUIRE(end_ + size <= all.size());
    const auto begin = is_there_.begin() + static_cast<std::ptrdiff_t>(end_);
    REQUIRE(std::all_of(begin, begin + static_cast<std::ptrdiff_t>(size), [](bool there) { return there; }));
    end_ += size;
    ++appended;
  }
  std::vector<std::byte> all;
  std::size_t placed = 0;
  std::size_t appended = 0;  // how often

 private:
  std::vector<bool> is_there_;
  std::size_t end_ = 0;
  std::size_t room_;
};

/// Large enough for a thread of their own, small, plain and cast tensors in turn, and their bytes.
struct Mixed {
  Mixed() {
    Tensor half = transposed(counting("half", {900, 700}), 0, 1);
    half.dtype = DType::f16;
    checkpoint = checkpoint_of({transposed(counting("a", {700, 1100}), 0, 1), counting("plain", {600'000}),
                                half, transposed(counting("small", {3, 5}), 0, 1),
                                transposed(counting("b", {20'000, 60}), 0, 1)});
    for (std::size_t i = 0; i < checkpoint.tensors.size(); ++i) {
      plan.segments.emplace_back(Plan::Literal{text_bytes("<")});
      plan.segments.emplace_back(Plan::TensorData{i});
      expected.push_back(std::byte{'<'});
      const std::vector<std::byte> bytes = gathered(checkpoint.tensors[i]);
      expected.insert(expected.end(), bytes.begin(), bytes.end());
      crc32.push_back(ckpt::crc32(0, bytes));
    }
  }
  Checkpoint checkpoint;
  Plan plan;
  std::vector<std::byte> expected;
  std::vector<std::uint32_t> crc32;
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

TEST_CASE("large tensors are gathered ahead, whatever stands between them") {
  Mixed mixed;
  for (const std::uint64_t memory : {64ULL << 20, 1ULL << 20, 100ULL << 10}) {
    MemorySink in_order;
    CHECK(emit(mixed.plan, mixed.checkpoint, in_order, {.memory = memory}).size() == 1);
    CHECK(in_order.bytes() == mixed.expected);
    PlacingSink in_any;
    const std::vector<CastReport> casts = emit(mixed.plan, mixed.checkpoint, in_any, {.memory = memory});
    CHECK(in_any.all == mixed.expected);
    CHECK((in_any.placed > 0) == (memory < 64ULL << 20));
    // Tile after tile, and appended as soon as nothing before is missing: not only at a tensor's end.
    if (memory < 1ULL << 20) CHECK(in_any.appended > mixed.checkpoint.tensors.size());
    REQUIRE(casts.size() == 1);
    CHECK(casts[0].tensor == 2);
    CHECK(casts[0].statistics.elements == 900 * 700);
  }
  mixed.plan.needs_crc32 = true;
  std::vector<std::uint32_t> seen;
  mixed.plan.segments.emplace_back(Plan::AfterData{0, [&](std::span<const std::uint32_t> crc32) {
                                                     seen.assign(crc32.begin(), crc32.end());
                                                     return std::vector<std::byte>();
                                                   }});
  PlacingSink sink;
  emit(mixed.plan, mixed.checkpoint, sink, {.memory = 100U << 10});
  CHECK(sink.all == mixed.expected);
  CHECK(seen == mixed.crc32);
}

TEST_CASE("a sink that fails ends reading ahead, and what was being read does not matter") {
  const Mixed mixed;
  for (const std::size_t room : {0U, 1U, 50'000U, 3'000'000U, 7'000'000U}) {
    PlacingSink sink(room);
    CHECK(error_of([&] { emit(mixed.plan, mixed.checkpoint, sink, {.memory = 1U << 20}); }).kind() ==
          ErrorKind::io);
  }
}

TEST_CASE("an error of reading ahead comes where its tensor does") {
  Mixed mixed;
  mixed.checkpoint.tensors.back().view.offset = 1U << 20;  // beyond the end of its source
  PlacingSink sink;
  const Error error = error_of([&] { emit(mixed.plan, mixed.checkpoint, sink, {.memory = 1U << 20}); });
  CHECK(error.kind() == ErrorKind::corrupt);
  CHECK(error.message().starts_with("tensor b: "));
  const std::size_t before = mixed.expected.size() - mixed.checkpoint.tensors.back().byte_size();
  REQUIRE(sink.all.size() >= before);
  CHECK(std::equal(sink.all.begin(), sink.all.begin() + static_cast<std::ptrdiff_t>(before),
                   mixed.expected.begin()));
}

TEST_CASE("a segment of another size than was planned ends in an error") {
  Plan plan;
  plan.segments = {Plan::AfterData{2, [](std::span<const std::uint32_t>) { return text_bytes("!"); }}};
  MemorySink sink;
  CHECK(error_of([&] { emit(plan, {}, sink); }).kind() == ErrorKind::io);
}
