#include "ckpt/stages/families.hpp"

#include <catch2/catch.hpp>

#include "ckpt/stages/kinds.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

/// The kind of every module of a checkpoint of these weights, `?` while undecided, with `*` when a family
/// says so.
std::vector<std::string> kinds(const std::vector<std::pair<std::string, Shape>>& shapes,
                               const std::vector<std::string>& lines = {}) {
  std::vector<Tensor> tensors;
  for (const auto& [name, shape] : shapes) tensors.push_back(counting(name, shape));
  std::vector<KindRule> rules;
  for (const std::string& line : lines) rules.push_back(parse_kind_rule(line));
  std::vector<std::string> all;
  for (const KindDecision& d : decide_kinds(checkpoint_of(tensors), Direction::pytorch_to_burn, rules))
    all.push_back(
        d.kind == nullptr ? "?" : std::string(d.kind->name) + (d.strength == Strength::family ? "*" : ""));
  return all;
}

using All = std::vector<std::string>;

}  // namespace

TEST_CASE("every row of the table of families names kinds of the table of modules and has marks") {
  for (const Family& family : family_table()) {
    CAPTURE(family.name);
    CHECK_FALSE(family.marks.empty());
    for (const FamilyKind& row : family.kinds) CHECK(find_kind(row.kind) != nullptr);
    CHECK(kind_in_family(family, "nothing.of.the.sort").empty());
  }
}

TEST_CASE("GPT-2 and nanoGPT have the same names and are told apart by the fused projection") {
  const auto model = [](bool is_conv1d) {
    const auto shape = [&](std::uint64_t in, std::uint64_t out) {
      return is_conv1d ? Shape{in, out} : Shape{out, in};
    };
    return std::vector<std::pair<std::string, Shape>>{{"wte.weight", {20, 4}},
                                                      {"h.0.attn.c_attn.weight", shape(4, 12)},
                                                      {"h.0.attn.c_proj.weight", shape(4, 4)},
                                                      {"h.0.mlp.c_fc.weight", shape(4, 16)},
                                                      {"h.0.mlp.c_proj.weight", shape(16, 4)},
                                                      {"h.0.ln_1.weight", {4}}};
  };
  CHECK(kinds(model(true)) == All{"Embedding*", "Conv1D*", "Conv1D*", "Conv1D*", "Conv1D*", "RmsNorm"});
  CHECK(kinds(model(false)) == All{"Embedding*", "Linear*", "Linear*", "Linear*", "Linear*", "LayerNorm*"});
}

TEST_CASE("a family one of whose modules is proven to be something else does not apply") {
  std::vector<std::pair<std::string, Shape>> model{{"h.0.attn.c_attn.weight", {4, 12}},
                                                   {"h.0.attn.c_proj.weight", {4, 4}},
                                                   {"h.0.mlp.c_fc.weight", {4, 16}}};
  CHECK(kinds(model) == All{"Conv1D*", "Conv1D*", "Conv1D*"});
  CHECK(kinds(model, {"c_attn => Linear"}) == All{"Linear", "?", "?"});
  model.emplace_back("h.0.mlp.c_proj.weight", Shape{4, 16});
  model.emplace_back("h.0.mlp.c_proj.bias", Shape{4});  // of a Linear 16 -> 4
  CHECK(kinds(model) == All{"?", "Linear", "?", "Linear"});
}

TEST_CASE("Llama's square projections, norms and experts are Linear and RmsNorm") {
  CHECK(kinds({{"model.embed_tokens.weight", {20, 4}},
               {"model.layers.0.self_attn.q_proj.weight", {4, 4}},
               {"model.layers.0.self_attn.o_proj.weight", {4, 4}},
               {"model.layers.0.mlp.down_proj.weight", {4, 8}},
               {"model.layers.0.input_layernorm.weight", {4}},
               {"model.layers.0.mlp.gate.weight", {4, 4}},
               {"lm_head.weight", {20, 4}}}) ==
        All{"Embedding*", "Linear*", "Linear*", "Linear*", "RmsNorm*", "Linear*", "Linear*"});
}

TEST_CASE("timm's proj is a Linear in attention and a convolution before it") {
  CHECK(kinds({{"patch_embed.proj.weight", {4, 3, 2, 2}},
               {"patch_embed.proj.bias", {4}},
               {"blocks.0.attn.qkv.weight", {12, 4}},
               {"blocks.0.attn.proj.weight", {4, 4}},
               {"blocks.0.attn.proj.bias", {4}},
               {"blocks.0.mlp.fc1.weight", {16, 4}},
               {"blocks.0.mlp.fc1.bias", {16}}}) == All{"Conv", "Linear*", "Linear*", "Linear"});
  CHECK(kinds({{"attn.proj.weight", {4, 4}}}) == All{"?"});
}

TEST_CASE("names of burn's layout are of a family too, where its shapes are not what tells it") {
  const std::vector<Tensor> tensors{
      counting("l.0.self_attn.q_proj.weight", {4, 4}), counting("l.0.self_attn.o_proj.weight", {4, 4}),
      counting("l.0.mlp.down_proj.weight", {4, 4}), counting("l.0.input_layernorm.gamma", {4})};
  for (const KindDecision& d : decide_kinds(checkpoint_of(tensors), Direction::burn_to_pytorch, {})) {
    REQUIRE(d.kind != nullptr);
    CHECK(d.strength == Strength::family);
  }
}
