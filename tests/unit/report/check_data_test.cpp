#include <catch2/catch.hpp>
#include <limits>

#include "ckpt/core/crc32.hpp"
#include "ckpt/report/findings.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// A window of a storage, [begin, begin + count) elements of F32.
Tensor window(const Bytes& storage, std::string name, std::uint64_t begin, std::uint64_t count) {
  Tensor tensor{.name = std::move(name), .dtype = DType::f32, .shape = {count}};
  tensor.view = {.source = storage, .offset = begin * 4, .bytes = count * 4, .stored = DType::f32};
  return tensor;
}

std::vector<std::pair<std::string_view, std::string>> codes(const std::vector<Finding>& findings) {
  std::vector<std::pair<std::string_view, std::string>> all;
  for (const Finding& finding : findings) all.emplace_back(info(finding.id).code, finding.tensor);
  return all;
}

}  // namespace

TEST_CASE("tensors are judged alike with and without a checksum of their storage") {
  // More than one piece, the odd ones at its borders.
  constexpr std::size_t piece = (1U << 20) / 4;
  std::vector<float> values(3 * piece + 5, 1);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 100);
  values[piece] = not_a_number;
  values[piece + 10] = std::numeric_limits<float>::infinity();
  std::fill(values.begin() + 100, values.begin() + 200, 0.0F);
  std::fill(values.end() - static_cast<std::ptrdiff_t>(piece) - 50, values.end(), 7.0F);
  const std::vector<std::byte> bytes = bytes_of(values);
  const Bytes storage = memory_bytes(bytes);
  Checkpoint checkpoint = checkpoint_of({
      window(storage, "all", 0, values.size()),
      window(storage, "zeros", 100, 100),
      window(storage, "sevens", values.size() - piece - 50, piece + 50),
      window(storage, "nearly", values.size() - piece - 51, piece + 51),
      window(storage, "before", 0, piece),
      window(storage, "nan", piece, 2),
      transposed(counting("fine", {20, 30}), 0, 1),
      counting("empty", {0}),
  });
  for (int i = 0; i < 20; ++i)
    checkpoint.tensors.push_back(window(storage, "again" + std::to_string(i), 100, 50));
  const auto without = codes(check_data(checkpoint));
  REQUIRE(without.size() == 2 + 1 + 1 + 1 + 20);
  checkpoint.integrity = {{"data/0", storage, crc32(0, bytes)}};
  CHECK(codes(check_data(checkpoint)) == without);
  CHECK(without[0].second == "all");
  CHECK(without[2] == std::pair<std::string_view, std::string>("CK013", "zeros"));

  checkpoint.integrity.front().crc32 ^= 1;
  const Error error = error_of([&] { check_data(checkpoint); });
  CHECK(error.kind() == ErrorKind::corrupt);
  CHECK(contains(error.message(), "data/0"));
}

TEST_CASE("a member that no tensor looks at is compared as well") {
  Checkpoint checkpoint = checkpoint_of({counting("w", {3})});
  checkpoint.integrity = {{"code", memory_bytes("abc"), 0x352441C2}};
  CHECK(check_data(checkpoint).empty());
  checkpoint.integrity.front().crc32 = 0;
  CHECK(error_of([&] { check_data(checkpoint); }).kind() == ErrorKind::corrupt);
}

TEST_CASE("what a view repeats is counted as often as it is there") {
  const Bytes storage = memory_bytes(bytes_of(std::vector<float>{0, not_a_number}));
  const auto texts = [&](std::uint64_t offset, const Shape& shape,
                         const std::vector<std::uint64_t>& strides) {
    Tensor tensor{.name = "w", .dtype = DType::f32, .shape = shape};
    tensor.view = make_strided_view(storage, offset, shape, strides, DType::f32);
    std::vector<std::string> all;
    for (const Finding& finding : check_data(checkpoint_of({tensor}))) all.push_back(finding.text);
    return all;
  };
  using Texts = std::vector<std::string>;
  CHECK(texts(0, {1ULL << 40}, {0}) == Texts{"w: all 1099511627776 elements are zero"});
  CHECK(texts(0, {1000, 2, 1000}, {0, 1, 0}) == Texts{"w: 1000000 of 2000000 elements are NaN"});
  CHECK(texts(1, {3}, {0}) == Texts{"w: 3 of 3 elements are NaN"});
  CHECK(texts(0, {1ULL << 40, 0}, {0, 1}).empty());
}

TEST_CASE("what overlaps over and over is a finding of the catalogue and not gone through") {
  constexpr std::uint64_t side = 1U << 20;
  const Bytes storage = memory_bytes(std::vector<std::byte>(std::size_t{2} * side * 4));
  const auto view = [&](std::string name, const Shape& shape, const std::vector<std::uint64_t>& strides) {
    Tensor tensor{.name = std::move(name), .dtype = DType::f32, .shape = shape};
    tensor.view = make_strided_view(storage, 0, shape, strides, DType::f32);
    return tensor;
  };
  std::vector<Tensor> tensors;
  for (std::uint64_t i = 1; i <= 1000; ++i)
    tensors.push_back(view(std::to_string(i), {side, side - i}, {1, 1}));
  tensors.push_back(view("expanded", {side, side}, {0, 1}));
  tensors.push_back(view("plain", {side}, {1}));
  const Checkpoint checkpoint = checkpoint_of(tensors);
  CHECK(check_catalogue(checkpoint, [](std::string_view) { return false; }).size() == 1001);
  std::vector<std::string> texts;
  for (const Finding& finding : check_data(checkpoint)) texts.push_back(finding.text);
  CHECK(texts == std::vector<std::string>{"expanded: all 1099511627776 elements are zero",
                                          "plain: all 1048576 elements are zero"});
}

TEST_CASE("what a catalogue alone shows is found, and what is allowed is not") {
  Checkpoint checkpoint = checkpoint_of({counting("w", {2}), counting("none", {0, 3})});
  checkpoint.globals = {{.name = "os.system", .hostile = true}, {.name = "m.Thing"}, {.name = "m.Known"}};
  checkpoint.hidden = {"4 bytes follow"};
  checkpoint.refused = {{.name = "s", .what = "sparse tensor"}};
  checkpoint.notes = {"odd"};
  const auto found = check_catalogue(checkpoint, [](std::string_view name) { return name == "m.Known"; });
  std::vector<std::pair<FindingId, std::string>> all;
  for (const Finding& finding : found) all.emplace_back(finding.id, finding.text);
  CHECK(all ==
        std::vector<std::pair<FindingId, std::string>>{
            {FindingId::runs_code, "the pickle names os.system, which runs code when PyTorch loads it"},
            {FindingId::foreign_global, "the pickle names m.Thing, which is neither plain data nor known"},
            {FindingId::hidden_data, "4 bytes follow"},
            {FindingId::cannot_be_delivered, "s cannot be delivered: sparse tensor"},
            {FindingId::empty, "none: shape [0, 3] has no elements"},
            {FindingId::oddity, "odd"}});
}

TEST_CASE("a shell is one finding, and a file without tensors another") {
  const auto ids = [](const Checkpoint& checkpoint) {
    std::vector<FindingId> all;
    for (const Finding& finding : check_catalogue(checkpoint, [](std::string_view) { return false; }))
      all.push_back(finding.id);
    return all;
  };
  CHECK(ids(Checkpoint{}) == std::vector<FindingId>{FindingId::no_tensors});
  CHECK(ids(checkpoint_of({counting("a", {0}), counting("b", {0}), counting("c", {2})})) ==
        std::vector<FindingId>{FindingId::empty});
  CHECK(ids(checkpoint_of({counting("a", {0})})) == std::vector<FindingId>{FindingId::empty});
  CHECK(ids(checkpoint_of({counting("a", {0}), counting("c", {2}), counting("d", {2})})) ==
        std::vector<FindingId>{FindingId::empty});
  CHECK(find_finding("ck001") == FindingId::runs_code);
  CHECK_FALSE(find_finding("CK999"));
}
