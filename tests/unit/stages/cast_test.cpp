#include "ckpt/stages/cast.hpp"

#include <catch2/catch.hpp>

#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

CastOptions options(std::initializer_list<const char*> rules, bool half = false) {
  CastOptions result;
  for (const char* rule : rules) result.rules.push_back(parse_cast_rule(rule));
  result.half = half;
  return result;
}

Checkpoint model() {
  Checkpoint checkpoint;
  checkpoint.tensors = {counting("fc.weight", {2, 3}), counting("bn.weight", {2}), counting("pos", {2}),
                        plain<std::int64_t>("steps", DType::i64, {1}, {3})};
  return checkpoint;
}

}  // namespace

TEST_CASE("the first rule that matches a name decides, and integers never change") {
  const Cast result = cast(model(), options({"^fc=bf16", "F16"}), {});
  CHECK(result.checkpoint.tensors[0].dtype == DType::bf16);
  CHECK(result.checkpoint.tensors[1].dtype == DType::f16);
  CHECK(result.checkpoint.tensors[3].dtype == DType::i64);
  CHECK(result.steps.size() == 3);
  // Delivered as F16: 0, 1.
  CHECK(values_of<std::uint16_t>(gathered(result.checkpoint.tensors[1])) ==
        std::vector<std::uint16_t>{0x0000, 0x3C00});
}

TEST_CASE("half precision leaves BatchNorm and parameters of no layer alone") {
  const std::vector<KindDecision> decisions{{"fc", find_kind("Linear"), Strength::siblings, ""},
                                            {"bn", find_kind("BatchNorm"), Strength::siblings, ""},
                                            {"", find_kind("none"), Strength::siblings, ""}};
  const Cast result = cast(model(), options({}, true), decisions);
  CHECK(result.checkpoint.tensors[0].dtype == DType::f16);
  CHECK(result.checkpoint.tensors[1].dtype == DType::f32);
  CHECK(result.checkpoint.tensors[2].dtype == DType::f32);
}

TEST_CASE("a rule that names a tensor outranks half precision, and one for all turns it round") {
  const std::vector<KindDecision> decisions{{"fc", find_kind("Linear"), Strength::siblings, ""},
                                            {"bn", find_kind("BatchNorm"), Strength::siblings, ""}};
  const Cast named = cast(model(), options({"^bn=bf16", "^pos=f32"}, true), decisions);
  CHECK(named.checkpoint.tensors[0].dtype == DType::f16);
  CHECK(named.checkpoint.tensors[1].dtype == DType::bf16);
  CHECK(named.checkpoint.tensors[2].dtype == DType::f32);
  Cast back = cast(model(), options({}, true), decisions);
  back = cast(std::move(back.checkpoint), options({"f32"}, true), decisions);
  CHECK(back.checkpoint.tensors[0].dtype == DType::f32);
}

TEST_CASE("what cannot be cast is refused with what is the matter") {
  CHECK(error_of([] { parse_cast_rule("i32"); }).kind() == ErrorKind::usage);
  CHECK(error_of([] { parse_cast_rule("f4"); }).kind() == ErrorKind::usage);
  Checkpoint packed;
  packed.tensors = {counting("q.scales", {2}), plain<std::int32_t>("q.qweight", DType::i32, {1}, {1})};
  const Error error = error_of([&] { static_cast<void>(cast(packed, options({"F16"}), {})); });
  CHECK(error.kind() == ErrorKind::refused);
  CHECK(contains(error.message(), "q.qweight"));
}

TEST_CASE("a quantised weight is not cast where its scales have been left out or renamed") {
  const Checkpoint source = checkpoint_of({counting("a.weight", {2}), counting("a.weight_scale", {1})});
  Checkpoint left = checkpoint_of({counting("b.weight", {2})});
  left.tensors.front().origin = 0;
  const Error error = error_of([&] { static_cast<void>(cast(left, options({"F16"}), {}, &source)); });
  CHECK(error.kind() == ErrorKind::refused);
  CHECK(contains(error.message(), "b.weight is part of a quantised weight (a.weight, a.weight_scale)"));
  left.tensors.front().origin.reset();  // it has been given its scale
  CHECK(cast(left, options({"F16"}), {}, &source).steps.size() == 1);
}

TEST_CASE("what belongs to one quantised weight is found together") {
  Checkpoint checkpoint;
  for (const char* name :
       {"a.weight", "a.weight.absmax", "a.weight.quant_map", "a.weight.quant_state.bitsandbytes__nf4",
        "b.weight", "b.weight_scale_inv", "c.weight", "c.bias"})
    checkpoint.tensors.push_back(counting(name, {1}));
  const auto groups = quantised_groups(checkpoint);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].size() == 4);
  CHECK(groups[1] == std::vector<std::string>{"b.weight", "b.weight_scale_inv"});
}

TEST_CASE("packed and quantised data are not cast, and the error says what to do") {
  Tensor packed = plain("w", DType::f4, {8}, std::vector<std::byte>(4));
  Tensor quantised = plain("w", DType::qfloat, {4}, std::vector<std::byte>(8));
  for (const Tensor& tensor : {packed, quantised}) {
    const Error error = error_of([&] { cast(checkpoint_of({tensor}), options({"BF16"}), {}); });
    CHECK(error.kind() == ErrorKind::refused);
    CHECK(error.message() ==
          "tensor w: " + std::string(name(tensor.dtype)) + " data is packed and cannot be cast");
    CHECK(contains(error.hint(), "--dtype 'REGEX=TYPE'"));
  }
}
