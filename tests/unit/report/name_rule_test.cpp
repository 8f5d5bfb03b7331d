#include "ckpt/report/name_rule.hpp"

#include <catch2/catch.hpp>

#include "ckpt/stages/rule.hpp"

using namespace ckpt;

namespace {

/// A list of segments, `#` after one meaning any of its numbers.
PatternList list(Segments& segments, const std::vector<std::string>& parts) {
  PatternList out;
  for (std::string part : parts) {
    const bool is_any_number = part.ends_with('#');
    if (is_any_number) part.pop_back();
    out.push_back({segments.id(part), is_any_number});
  }
  return out;
}

struct Parts {
  bool is_inside;
  std::vector<std::string> left, from, to, right;
  bool is_end;
};

NameRule rule(Segments& segments, const Parts& parts) {
  return {.is_inside = parts.is_inside,
          .left = list(segments, parts.left),
          .alternatives = {{list(segments, parts.from), list(segments, parts.to)}},
          .right = list(segments, parts.right),
          .is_end = parts.is_end};
}

}  // namespace

TEST_CASE("a rule of segments and its text do the same to every name") {
  const std::vector<Parts> rules{
      {false, {}, {"model"}, {}, {}, false},
      {false, {}, {"fc"}, {"fc1"}, {}, false},
      {false, {"layers", "0#"}, {"self_attn"}, {"attention"}, {}, false},
      {false, {"layers", "0"}, {"self_attn"}, {"attention"}, {}, false},
      {true, {}, {"blocks"}, {"layers"}, {}, false},
      {true, {"bn1#"}, {"weight"}, {"gamma"}, {}, true},
      {true, {}, {"beta"}, {"bias"}, {}, true},
      {false, {"layer1#"}, {}, {"blocks"}, {"0#"}, false},
      {false, {}, {"layer1#"}, {"stage1#"}, {}, false},
      {true, {}, {"a", "3#"}, {"b3#", "c"}, {"x"}, true},
      {false, {"layers", "0#"}, {"mlp", "0"}, {"fc1"}, {"weight"}, true},
      {true, {}, {"x+y"}, {"$1"}, {}, false},
  };
  const std::vector<std::string> names{"model.fc.weight",
                                       "model.model.fc.weight",
                                       "fc.weight",
                                       "fc",
                                       "xfc.weight",
                                       "fc.fc.bias",
                                       "layers.0.self_attn.q",
                                       "layers.12.self_attn.q",
                                       "layers.x.self_attn.q",
                                       "a.layers.0.self_attn.q",
                                       "blocks.0.blocks.1.w",
                                       "encoder.blocks.3",
                                       "encoder.blocks",
                                       "myblocks.1.w",
                                       "bn1.weight",
                                       "a.b.bn22.weight",
                                       "bn1.weight.x",
                                       "bn.weight",
                                       "beta",
                                       "a.beta",
                                       "beta.beta",
                                       "layer1.0.conv",
                                       "layer23.45.conv",
                                       "layer1.blocks.0.conv",
                                       "layer1.0",
                                       "layer7.x",
                                       "q.a.33.x",
                                       "a.3.x",
                                       "a.3.x.y",
                                       "layers.4.mlp.0.weight",
                                       "layers.4.mlp.2.weight",
                                       "p.x+y.q",
                                       "x+y.x+y.z",
                                       "",
                                       "."};
  for (const Parts& parts : rules) {
    Segments segments;
    const NameRule made = rule(segments, parts);
    const std::string text = made.text(segments);
    CAPTURE(text);
    const Rule parsed = parse_rule(text);
    for (const std::string& name : names) {
      CAPTURE(name);
      const auto moved = made.apply(segments.split(name), segments);
      const auto [expected, count] = parsed.replacement.replace_all(name, parsed.pattern);
      CHECK(moved.has_value() == (count > 0));
      CHECK((moved ? segments.join(*moved) : name) == expected);
    }
  }
}

TEST_CASE("rules that differ in a word that both sides keep become one") {
  Segments segments;
  const auto projection = [&](const std::string& from, const std::string& to) {
    return rule(segments, {false, {"layers", "0#"}, {from}, {to}, {}, false});
  };
  const auto both = merged(projection("q_proj", "wq"), projection("k_proj", "wk"), segments);
  REQUIRE(both);
  CHECK(both->text(segments) == R"(^(layers\.\d+)\.(q|k)_proj\. => ${1}.w${2}.)");
  const auto three = merged(*both, projection("o_proj", "wo"), segments);
  REQUIRE(three);
  CHECK(three->text(segments) == R"(^(layers\.\d+)\.(q|k|o)_proj\. => ${1}.w${2}.)");
  CHECK(segments.join(*three->apply(segments.split("layers.7.k_proj.weight"), segments)) ==
        "layers.7.wk.weight");
  CHECK_FALSE(merged(projection("q_proj", "wq"), projection("k_proj", "vk"), segments));
  CHECK_FALSE(merged(projection("gate", "w1"), projection("up", "w3"), segments));
  const auto before = [&](const std::string& name) {
    return rule(segments, {false, {}, {}, {"transformer"}, {name}, false});
  };
  CHECK(merged(before("wte"), before("ln_f"), segments)->text(segments) ==
        R"(^(wte|ln_f)\. => transformer.${1}.)");
}
