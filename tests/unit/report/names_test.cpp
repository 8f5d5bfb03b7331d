#include "ckpt/report/names.hpp"

#include <catch2/catch.hpp>

using namespace ckpt;

namespace {

std::string nearest(std::string_view name, const std::vector<std::string>& names) {
  std::string out;
  for (const std::size_t i : nearest_names(name, names)) out += (out.empty() ? "" : " ") + names[i];
  return out;
}

NamedShape named(std::string name, Shape shape) { return {std::move(name), DType::f32, std::move(shape)}; }

std::string meant(const NamedShape& wanted, const std::vector<NamedShape>& candidates) {
  const auto found = did_you_mean(wanted, candidates);
  return found ? candidates[*found].name : "";
}

double likeness(std::string_view a, std::string_view b) {
  return segment_likeness(SegmentMeaning(a), SegmentMeaning(b));
}

}  // namespace

TEST_CASE("tensors may be the same when their shapes are equal or transposed, and their types of a class") {
  CHECK(may_be_same(named("a", {3, 4}), named("b", {3, 4})));
  CHECK(may_be_same(named("a", {3, 4}), named("b", {4, 3})));
  CHECK(may_be_same(named("a", {2, 3, 4}), named("b", {4, 3, 2})));
  CHECK(may_be_same({"a", DType::f32, {2}}, {"b", DType::bf16, {2}}));
  CHECK(!may_be_same({"a", DType::f32, {}}, {"b", DType::i64, {}}));
  CHECK(!may_be_same(named("a", {2, 3, 4}), named("b", {3, 4, 2})));
  CHECK(!may_be_same(named("a", {3, 4}), named("b", {12})));
  CHECK(!may_be_same(named("a", {3, 4}), named("b", {3, 5})));
}

TEST_CASE("slips of a name find it, with numbers as numbers") {
  CHECK(nearest("fc.wieght", {"conv.bias", "fc.weight", "norm.scale", "emb"}) == "fc.weight");
  CHECK(nearest("layers.100.w", {"layers.9.w", "layers.10.x.y.z", "head", "tail"}) == "layers.9.w");
  CHECK(nearest("weight", {"encoder.layers.3.fc1.weight", "b.c.d.e", "q", "r"}) ==
        "encoder.layers.3.fc1.weight");
  CHECK(nearest("zzz", {"encoder.weight", "decoder.bias", "head", "tail"}).empty());
  CHECK(nearest("v", {"w"}) == "w");
}

TEST_CASE("words of other models are alike, and opposites are not") {
  CHECK(likeness("q_proj", "q_proj") == 1);
  CHECK(likeness("q_proj", "wq") > 0.8);
  CHECK(likeness("feed_forward", "mlp") > 0.8);
  CHECK(likeness("self_attn_layer_norm", "attn_norm") > 0.5);
  CHECK(likeness("weight", "bias") < 0);
  CHECK(likeness("encoder", "decoder") < 0);
  CHECK(likeness("q_proj", "k_proj") < 0);
  CHECK(likeness("running_mean", "running_var") < 0);
  CHECK(likeness("3", "03") > 0.9);
  CHECK(likeness("3", "4") < 0);
}

TEST_CASE("did-you-mean looks at shapes first") {
  CHECK(meant(named("fc1.weight", {4, 8}), {named("fc.weight", {4, 8}), named("fc.bias", {4})}) ==
        "fc.weight");
  CHECK(meant(named("fc1.bias", {4}), {named("fc.weight", {4, 8}), named("fc.bias", {4})}) == "fc.bias");
  // Transposed, and of a less like name than one of another shape.
  CHECK(meant(named("head.fc.weight", {4, 8}),
              {named("head.fc2.weight", {5, 5}), named("fc.weight", {8, 4})}) == "fc.weight");
  CHECK(meant(named("a.weight", {4}), {named("b.weight", {4}), named("c.weight", {4})}).empty());
  CHECK(meant(named("a.weight", {4}), {}).empty());
  CHECK(meant(named("abc", {4}), {named("xyz", {4})}).empty());
}
