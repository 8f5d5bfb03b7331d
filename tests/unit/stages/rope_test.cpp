#include "ckpt/stages/rope.hpp"

#include <catch2/catch.hpp>

#include "ckpt/kernels/computed_source.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

Edited permuted(std::vector<Tensor> tensors, bool to_interleaved = false, std::uint64_t heads = 2,
                std::uint64_t kv_heads = 1) {
  RopeOptions options{.names = {}, .heads = heads, .kv_heads = kv_heads, .to_interleaved = to_interleaved};
  options.names.emplace_back("proj");
  return permute_rope(
      checkpoint_of(std::move(tensors)), options,
      [](Bytes source, std::uint64_t offset, std::uint64_t rows, std::uint64_t row_bytes,
         std::function<std::uint64_t(std::uint64_t)> row_of) {
        return permuted_source({std::move(source), offset, rows, row_bytes, std::move(row_of)});
      });
}

std::vector<float> values(const Edited& edited, std::size_t i = 0) {
  return values_of<float>(gathered(edited.checkpoint.tensors.at(i)));
}

}  // namespace

TEST_CASE("pairs become halves head by head, and halves pairs") {
  // Two heads of six rows: 0 1 | 2 3 | 4 5 are the pairs of the first.
  const std::vector<float> halves{0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11};
  CHECK(values(permuted({counting("q_proj.bias", {12})})) == halves);
  CHECK(values(permuted({plain("q_proj.bias", DType::f32, {12}, halves)}, true)) ==
        std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

TEST_CASE("there and back is where it began, for any count and size of heads") {
  Random dice(5);
  for (int i = 0; i < 30; ++i) {
    const std::uint64_t heads = dice.number(1, 5);
    const std::uint64_t rows = heads * 2 * dice.number(1, 9);
    const Tensor weight = counting("q_proj.weight", {rows, dice.number(1, 4)});
    const Edited there = permuted({weight}, dice.chance(50), heads, heads);
    const bool was_to_interleaved = contains(there.report.summary, "halves to");
    CHECK(gathered(
              permuted(there.checkpoint.tensors, !was_to_interleaved, heads, heads).checkpoint.tensors[0]) ==
          gathered(weight));
  }
}

TEST_CASE("rows that are not outputs are refused: by the layout, and by the bias") {
  RopeOptions options{.names = {}, .heads = 2, .kv_heads = 2, .is_burn_layout = true};
  options.names.emplace_back("proj");
  const auto never = [](const Bytes&, std::uint64_t, std::uint64_t, std::uint64_t,
                        const std::function<std::uint64_t(std::uint64_t)>&) -> Bytes {
    FAIL("nothing is to be permuted");
    return {};
  };
  const Error burn =
      error_of([&] { permute_rope(checkpoint_of({counting("q_proj.weight", {8, 8})}), options, never); });
  CHECK(burn.kind() == ErrorKind::refused);
  CHECK(contains(burn.message(), "rows are inputs"));
  options.is_burn_layout = false;
  const Error other = error_of([&] {
    permute_rope(checkpoint_of({counting("q_proj.weight", {8, 12}), counting("q_proj.bias", {12})}), options,
                 never);
  });
  CHECK(contains(other.message(), "its bias [12] is not as long as its rows"));
}

TEST_CASE("keys have their own number of heads") {
  const Edited edited = permuted({counting("q_proj.bias", {8}), counting("k_proj.bias", {4})});
  CHECK(values(edited, 0) == std::vector<float>{0, 2, 1, 3, 4, 6, 5, 7});
  CHECK(values(edited, 1) == std::vector<float>{0, 2, 1, 3});
  CHECK(edited.report.edits.size() == 2);
}

TEST_CASE("what would be permuted wrongly is refused") {
  const auto kind = [](std::vector<Tensor> tensors) {
    return error_of([&] { permuted(std::move(tensors)); }).kind();
  };
  CHECK(kind({counting("v_proj.weight", {12, 2})}) == ErrorKind::refused);
  CHECK(kind({counting("qkv_proj.weight", {12, 2})}) == ErrorKind::refused);
  CHECK(kind({counting("q_proj.weight", {6, 2})}) == ErrorKind::refused);  // heads of three rows
  CHECK(kind({counting("q_proj.weight", {7, 2})}) == ErrorKind::refused);
  CHECK(kind({counting("q_proj.weight", {8, 2, 2})}) == ErrorKind::refused);
  CHECK(kind({counting("q_proj.weight", {})}) == ErrorKind::refused);
  CHECK(kind({counting("q_proj.weight", {0, 2})}) == ErrorKind::refused);
  CHECK(kind({counting("q_proj.weight", {8, 2}), counting("k_proj.weight", {8, 2})}) == ErrorKind::refused);
  CHECK(kind({transposed(counting("q_proj.weight", {2, 8}), 0, 1)}) == ErrorKind::refused);
  CHECK(kind({counting("q.weight", {8, 2})}) == ErrorKind::refused);  // no name matches
  CHECK(kind({plain("q_proj.weight", DType::f8_e4m3, {8, 2}, std::vector<std::byte>(16)),
              counting("q_proj.weight_scale", {1})}) == ErrorKind::refused);
}
