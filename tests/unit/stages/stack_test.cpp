#include "ckpt/stages/stack.hpp"

#include <catch2/catch.hpp>

#include "ckpt/stages/kinds.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

const char* const rule = "e\\.(\\d+)\\.w => e.w";

Edited stacked(std::vector<Tensor> tensors, const char* line = rule) {
  return stack(checkpoint_of(std::move(tensors)), parse_stack_rule(line));
}

}  // namespace

TEST_CASE("parts are stacked by their number, whatever the order of the file, where the first stood") {
  const Edited edited = stacked(
      {counting("a", {1}), counting("e.10.w", {1, 2}, 100), counting("e.1.w", {1, 2}, 10), counting("b", {1}),
       counting("e.0.w", {1, 2}), counting("e.2.w", {1, 2}, 20), counting("e.3.w", {1, 2}, 30),
       counting("e.4.w", {1, 2}, 40), counting("e.5.w", {1, 2}, 50), counting("e.6.w", {1, 2}, 60),
       counting("e.7.w", {1, 2}, 70), counting("e.8.w", {1, 2}, 80), counting("e.9.w", {1, 2}, 90)});
  CHECK(names_of(edited.checkpoint) == std::vector<std::string>{"a", "e.w", "b"});
  const Tensor& whole = edited.checkpoint.tensors[1];
  CHECK(whole.shape == Shape{11, 1, 2});
  const std::vector<float> values = values_of<float>(gathered(whole));
  for (std::size_t i = 0; i < 11; ++i) CHECK(values[2 * i] == static_cast<float>(10 * i));
  CHECK(edited.report.merged == 10);
}

TEST_CASE("stacked views keep their strides, and come apart again as they were") {
  const Tensor turned = transposed(counting("e.0.w", {3, 4}), 0, 1);
  Tensor other = transposed(counting("e.1.w", {3, 4}, 50), 0, 1);
  const Edited edited = stacked({turned, other});
  const std::vector<std::byte> bytes = gathered(edited.checkpoint.tensors[0]);
  CHECK(bytes == gathered_naively(edited.checkpoint.tensors[0]));
  const Tensor whole = plain("e.w", DType::f32, {2, 4, 3}, bytes);
  const Edited apart = unstack(checkpoint_of({whole}), parse_unstack_rule("e\\.w => e.#.w"));
  CHECK(names_of(apart.checkpoint) == std::vector<std::string>{"e.0.w", "e.1.w"});
  CHECK(apart.checkpoint.tensors[0].shape == turned.shape);
  CHECK(gathered(apart.checkpoint.tensors[0]) == gathered(turned));
  CHECK(gathered(apart.checkpoint.tensors[1]) == gathered(other));
  CHECK(apart.report.split == 1);
}

TEST_CASE("scalars are stacked into a vector, and a vector falls into scalars") {
  const Edited edited = stacked({counting("e.0.w", {}, 5), counting("e.1.w", {}, 6)});
  CHECK(edited.checkpoint.tensors[0].shape == Shape{2});
  CHECK(values_of<float>(gathered(edited.checkpoint.tensors[0])) == std::vector<float>{5, 6});
  const Edited apart = unstack(checkpoint_of({counting("e.w", {2})}), parse_unstack_rule("e\\.w => e.#.w"));
  CHECK(apart.checkpoint.tensors[1].shape.empty());
  CHECK(values_of<float>(gathered(apart.checkpoint.tensors[1])) == std::vector<float>{1});
}

TEST_CASE("a stack that would be wrong is refused") {
  const auto message = [](std::vector<Tensor> tensors, const char* line = rule) {
    const Error error = error_of([&] { stacked(std::move(tensors), line); });
    CHECK(error.kind() == ErrorKind::refused);
    return error.message();
  };
  CHECK(contains(message({counting("e.0.w", {2}), counting("e.2.w", {2})}), "lacks index 1 of 0 to 2"));
  CHECK(contains(message({counting("e.1.w", {2})}), "lacks index 0"));
  CHECK(contains(message({counting("e.18446744073709551615.w", {2})}), "lacks index 0, 1"));
  CHECK(contains(message({counting("e.18446744073709551616.w", {2})}), "no index"));
  CHECK(contains(message({counting("e.0.w", {2}), counting("e.1.w", {3})}), "e.1.w is F32 [3]"));
  CHECK(
      contains(message({counting("e.0.w", {2}), plain("e.1.w", DType::f16, {2}, std::vector<std::byte>(4))}),
               "e.1.w is F16 [2]"));
  CHECK(contains(message({counting("e.0.w", {2}), counting("e.00.w", {2})}), "would be both"));
  CHECK(contains(message({counting("e.w", {2}), counting("e.0.w", {2})}), "e.w"));
  CHECK(contains(message({counting("e.w", {2})}), "matched no tensor"));
}

TEST_CASE("what cannot be cut is refused") {
  const auto cut = [](Tensor tensor) {
    return error_of([&] { unstack(checkpoint_of({std::move(tensor)}), parse_unstack_rule("w => w.#")); })
        .kind();
  };
  CHECK(cut(counting("w", {})) == ErrorKind::refused);
  CHECK(cut(counting("w", {0, 4})) == ErrorKind::refused);
  CHECK(cut(plain("w", DType::f4, {4, 8}, std::vector<std::byte>(16))) == ErrorKind::refused);
  CHECK(cut(plain("w", DType::f32, {(1U << 20U) + 1, 0}, std::vector<std::byte>())) == ErrorKind::refused);
  CHECK(error_of([] { parse_unstack_rule("w => w"); }).kind() == ErrorKind::usage);
  CHECK(error_of([] { parse_stack_rule("w => w"); }).kind() == ErrorKind::usage);
}

TEST_CASE("what refuses to be stacked or cut says why") {
  const auto message = [](const auto& act) { return message_of(act); };
  CHECK(contains(message([] { stacked({counting("e.x.w", {2})}, "e\\.(.)\\.w => e.w"); }),
                 "no index in e.x.w"));
  CHECK(contains(message([] { stacked({counting("e.w", {2})}, "e(\\d)?\\.w => e.w"); }), "no index in e.w"));
  const Edited edited = stacked({counting("e.0.w", {1}), counting("e.1.w", {1})});
  Tensor whole = edited.checkpoint.tensors[0];
  whole.name = "e.0.w";
  CHECK(contains(message([&] { stacked({whole}); }), "e.0.w is itself stacked"));
  const auto cut = [&](Tensor tensor) {
    tensor.name = "w";
    return message([&] { unstack(checkpoint_of({tensor}), parse_unstack_rule("w => w.#")); });
  };
  CHECK(contains(cut(counting("w", {0, 4})), "w [0, 4] has no parts"));
  CHECK(contains(cut(whole), "cannot be cut into parts"));
  CHECK(
      contains(message([] { unstack(checkpoint_of({counting("a", {1})}), parse_unstack_rule("w => w.#")); }),
               "matched no tensor"));
  CHECK(contains(message([] { parse_stack_rule("no arrow"); }), "--stack"));
  std::vector<Tensor> far;
  far.push_back(counting("e.20.w", {1}));
  CHECK(contains(message([&] { stacked(far); }), "lacks index 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … of 0 to 20"));
}

TEST_CASE("what is noted of all parts is noted of their stack, and what could not be is refused") {
  const auto noted = [](const std::string& kinds, const char* line) {
    Checkpoint checkpoint =
        checkpoint_of({counting("e.0.w.weight", {2, 3}), counting("e.1.w.weight", {2, 3})});
    checkpoint.metadata[std::string(kinds_key)] = kinds;
    return stack(std::move(checkpoint), parse_stack_rule(line))
        .checkpoint.metadata.at(std::string(kinds_key));
  };
  const auto refusal = [&](const std::string& kinds, const char* line) {
    const Error error = error_of([&] { noted(kinds, line); });
    CHECK(error.kind() == ErrorKind::refused);
    return error.message() + "; " + error.hint();
  };
  constexpr const char* kept = "e\\.(\\d+)\\.w => e.w";
  constexpr const char* lost = "e\\.(\\d+)\\.w\\.weight => e.w";
  const std::string linears = "e.0.w => Linear\ne.1.w => Linear\n";
  CHECK(noted(linears, kept) == linears + "e.w => Linear\n");
  CHECK(contains(refusal(linears, lost), "as e.w nothing would tell"));
  CHECK(contains(refusal(linears, lost), "let its name end as theirs do: e.w.weight"));
  const std::string copied = "e.0.w => Conv1D\ne.1.w => Embedding\n";
  CHECK(noted(copied, kept) == copied);
  CHECK(noted(copied, lost) == copied);
  CHECK(contains(refusal("e.0.w => Linear\ne.1.w => Embedding\n", kept),
                 "e.0.w.weight is Linear's, but e.1.w.weight is Embedding's"));
  CHECK(contains(refusal("e.1.w => Linear\n", kept), "e.0.w.weight is of no known kind"));
}

TEST_CASE("what is noted of a stack of matrices holds for its parts") {
  Tensor whole = counting("e.w.weight", {2, 2, 3});
  for (const std::string kind : {"Linear", "LayerNorm", "none", ""}) {
    whole.recorded_kind = kind;
    const Edited cut = unstack(checkpoint_of({whole}), parse_unstack_rule("e\\.w => e.#.w"));
    CHECK(cut.checkpoint.tensors[1].recorded_kind == (kind == "Linear" ? kind : ""));
  }
}
