#include "ckpt/report/infer.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <set>

#include "ckpt/stages/rule.hpp"
#include "support/conventions.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

std::vector<std::string> apply_rules(const std::vector<std::string>& texts, std::vector<std::string> names) {
  std::vector<Rule> rules;
  for (const std::string& text : texts) rules.push_back(parse_rule(text));
  for (std::string& name : names)
    for (const Rule& rule : rules) name = rule.replacement.replace_all(name, rule.pattern).first;
  return names;
}

/// Infers rules from shuffled lists and checks what is promised of every result: the rules do what the
/// result says, and no pair is another than the model's own.
Inference inferred(Convention c) {
  std::mt19937 engine(1);
  std::ranges::shuffle(c.target, engine);
  const Inference inference = infer_rules(c.source, c.target, apply_rules);
  const std::map<std::string, std::string> wanted(c.pairs.begin(), c.pairs.end());
  std::vector<std::string> rules, from, to;
  for (const InferredRule& rule : inference.rules) {
    rules.push_back(rule.text);
    CHECK(rule.text.starts_with('^'));
    CHECK(rule.names > 0);
  }
  for (const auto& [a, b] : inference.pairs) {
    CAPTURE(a, b);
    REQUIRE(wanted.contains(a));
    CHECK(wanted.at(a) == b);
    from.push_back(a);
    to.push_back(b);
  }
  CHECK(apply_rules(rules, from) == to);
  CHECK(inference.pairs.size() + inference.left_in_source.size() == c.source.size());
  CHECK(inference.pairs.size() + inference.left_in_target.size() == c.target.size());
  return inference;
}

/// All pairs are found, in both directions, with so many rules at most.
void check_whole(const Convention& c, std::size_t most_rules) {
  for (const Convention& each : {c, c.reversed()}) {
    CAPTURE(each.source.front().name);
    const Inference inference = inferred(each);
    CHECK(inference.pairs.size() == c.pairs.size());
    CHECK(inference.rules.size() <= most_rules);
  }
}

std::vector<std::string> texts(const Inference& inference) {
  std::vector<std::string> out;
  for (const InferredRule& rule : inference.rules) out.push_back(rule.text);
  return out;
}

}  // namespace

TEST_CASE("conventions of well-known models are explained whole, both ways") {
  check_whole(llama(32), 11);
  check_whole(gpt2(12), 1);
  check_whole(bert(12), 2);
  check_whole(resnet(false), 3);
  check_whole(resnet(true), 7);
  check_whole(whisper(4), 17);
  check_whole(whisper(1), 17);
  check_whole(vision_transformer(12), 11);
  check_whole(experts(4, 8), 4);
  check_whole(wrapped(llama(2), "module._orig_mod."), 1);
}

TEST_CASE("rules read as a person would write them") {
  using Texts = std::vector<std::string>;
  CHECK(texts(inferred(resnet(false))) ==
        Texts{R"(^(layer\d+)\.(\d+)\. => ${1}.blocks.${2}.)",
              R"(^(layer\d+\.blocks\.\d+\.downsample)\.1\. => ${1}.bn.)",
              R"(^(layer\d+\.blocks\.\d+\.downsample)\.0\. => ${1}.conv.)"});
  CHECK(texts(inferred(gpt2(2))) == Texts{R"(^(h|ln_f|wpe|wte)\. => transformer.${1}.)"});
  CHECK(texts(inferred(wrapped(bert(1), "module."))) == Texts{R"(^module\. => )"});
  const Texts meta = texts(inferred(llama(2)));
  CHECK(std::ranges::count(meta, R"(^(layers\.\d+\.attention)\.(k|o|q|v)_proj\. => ${1}.w${2}.)") == 1);
}

TEST_CASE("what has no partner is left over, and the rest explained") {
  // A language model's mask buffers, and a head that only the other side has.
  Convention c = gpt2(3);
  for (int i = 0; i < 3; ++i)
    c.source.push_back({"h." + std::to_string(i) + ".attn.bias", DType::f32, {1, 1, 16, 16}});
  c.target.push_back({"lm_head.weight", DType::f32, {50, 8}});
  Inference inference = inferred(c);
  CHECK(inference.pairs.size() == c.pairs.size());
  CHECK(inference.left_in_source.size() == 3);
  CHECK(inference.left_in_target == std::vector<std::string>{"lm_head.weight"});
  CHECK_FALSE(inference.is_complete());

  // A training checkpoint of which the other side is one part.
  Convention ldm;
  ldm.add("model.diffusion_model.input_blocks.0.0.weight", "input_blocks.0.0.weight", {8, 4, 3, 3});
  ldm.add("model.diffusion_model.input_blocks.0.0.bias", "input_blocks.0.0.bias", {8});
  ldm.add("model.diffusion_model.out.2.weight", "out.2.weight", {4, 8, 3, 3});
  ldm.source.push_back({"first_stage_model.encoder.mid.attn_1.q.weight", DType::f32, {8, 8, 1, 1}});
  ldm.source.push_back({"first_stage_model.encoder.mid.attn_1.q.bias", DType::f32, {8}});
  ldm.source.push_back({"model_ema.decay", DType::f32, {}});
  ldm.source.push_back({"model_ema.diffusion_modelinput_blocks00weight", DType::f32, {8, 4, 3, 3}});
  inference = inferred(ldm);
  CHECK(texts(inference) == std::vector<std::string>{R"(^model\.diffusion_model\. => )"});
  CHECK(inference.pairs.size() == 3);
  CHECK(inference.left_in_source.size() == 4);

  // Another number of classes: the prefix is explained, the head is not the same tensor.
  Convention timm = wrapped(llama(1), "module.");
  timm.source.push_back({"module.fc.weight", DType::f32, {1001, 8}});
  timm.target.push_back({"fc.weight", DType::f32, {1000, 8}});
  inference = inferred(timm);
  CHECK(texts(inference) == std::vector<std::string>{R"(^module\. => )"});
  CHECK(inference.left_in_source == std::vector<std::string>{"module.fc.weight"});
  CHECK(inference.left_in_target == std::vector<std::string>{"fc.weight"});
}

TEST_CASE("names that could be two things are left over") {
  Convention c;
  for (const char* name : {"a.x.weight", "a.y.weight"}) c.source.push_back({name, DType::f32, {8}});
  for (const char* name : {"b.u.weight", "b.v.weight"}) c.target.push_back({name, DType::f32, {8}});
  CHECK(inferred(c).pairs.empty());
  CHECK(inferred(c).rules.empty());
}

TEST_CASE("the only partner by shape is none when its name says otherwise") {
  const auto explained = [](std::string from, std::string to, const Shape& shape) {
    const std::vector<NamedShape> a{{std::move(from), DType::f32, shape}};
    const std::vector<NamedShape> b{{std::move(to), DType::f32, shape}};
    return infer_rules(a, b, apply_rules).pairs.size();
  };
  CHECK(explained("encoder.weight", "decoder.weight", {8}) == 0);
  CHECK(explained("layers.0.q_proj.weight", "layers.0.k_proj.weight", {8, 8}) == 0);
  CHECK(explained("layers.4.fc.weight", "layers.0.fc.weight", {8, 4}) == 0);
  CHECK(explained("bn.weight", "bn.running_var", {8}) == 0);
  CHECK(explained("layers.0.w1.weight", "layers.0.up_proj.weight", {8, 4}) == 0);
  CHECK(explained("fc.weight", "head.weight", {10, 4}) == 0);
  CHECK(explained("fc.weight", "linear.weight", {10, 4}) == 1);
}

TEST_CASE("with a fifth of the tensors gone on either side no wrong pair is made") {
  std::mt19937 engine(7);
  const std::vector<Convention> models{llama(4), bert(4), resnet(false), vision_transformer(6),
                                       experts(4, 4)};
  for (int round = 0; round < 15; ++round) {
    const Convention& whole = models[static_cast<std::size_t>(round) % models.size()];
    Convention c;
    for (std::size_t i = 0; i < whole.pairs.size(); ++i) {
      const unsigned die = static_cast<unsigned>(engine()) % 10;
      if (die != 0) c.source.push_back(whole.source[i]);
      if (die != 1) c.target.push_back(whole.target[i]);
      if (die > 1) c.pairs.push_back(whole.pairs[i]);
    }
    CAPTURE(round);
    const Inference inference = inferred(c);
    const std::set<std::pair<std::string, std::string>> found(inference.pairs.begin(), inference.pairs.end());
    const auto is_alone = [](const std::vector<NamedShape>& names, const std::string& name) {
      return name.ends_with(".bias") && std::ranges::none_of(names, [&](const NamedShape& other) {
               return other.name == name.substr(0, name.size() - 4) + "weight";
             });
    };
    std::size_t known = 0;
    std::size_t explained = 0;
    for (const auto& pair : c.pairs) {
      // Vectors of one length are told apart by the matrices that they go with: a bias whose weight is gone
      // on either side may be any other of its block.
      if (is_alone(c.source, pair.first) || is_alone(c.target, pair.second)) continue;
      ++known;
      explained += found.contains(pair) ? 1U : 0U;
    }
    CHECK(static_cast<double>(explained) >= 0.95 * static_cast<double>(known));
  }
}

TEST_CASE("two thousand names take less than a second") {
  const Convention c = llama(222);
  REQUIRE(c.source.size() == 2001);
  const auto start = std::chrono::steady_clock::now();
  const Inference inference = infer_rules(c.source, c.target, apply_rules);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  CHECK(inference.is_complete());
  // A second on a machine of its own; sanitizers and neighbours take their share.
  CHECK(seconds.count() < 20);
}

TEST_CASE("empty lists and equal lists need no rules") {
  CHECK(infer_rules({}, {}, apply_rules).is_complete());
  const Convention c = llama(2);
  const Inference same = infer_rules(c.source, c.source, apply_rules);
  CHECK(same.is_complete());
  CHECK(same.rules.empty());
  CHECK(same.pairs.size() == c.source.size());
}

TEST_CASE("names with characters that rules give a meaning to are carried too") {
  Convention c;
  c.add("a+b.(w)[0].weight", "x$1.(w)[0].weight", {3, 4});
  c.add("a+b.(w)[0].bias", "x$1.(w)[0].bias", {3});
  CHECK(inferred(c).is_complete());
}

TEST_CASE("the best single rule is the one that explains the most") {
  const auto shapes = [](const std::vector<std::pair<std::string, Shape>>& list) {
    std::vector<NamedShape> out;
    for (const auto& [name, shape] : list) out.push_back({name, DType::f32, shape});
    return out;
  };
  const auto fc = best_rule(shapes({{"fc1.bias", {3}}, {"fc1.weight", {3, 4}}}),
                            shapes({{"fc.bias", {3}}, {"fc.weight", {3, 4}}}), {}, apply_rules);
  REQUIRE(fc);
  CHECK(fc->text == R"(^fc\. => fc1.)");
  CHECK(fc->explained == 2);
  // Of two renamed modules the larger one.
  const auto of_two =
      best_rule(shapes({{"head.weight", {9, 4}}, {"body.0.w", {5}}, {"body.1.w", {6}}, {"body.2.w", {7}}}),
                shapes({{"fc.weight", {9, 4}}, {"trunk.0.w", {5}}, {"trunk.1.w", {6}}, {"trunk.2.w", {7}}}),
                {}, apply_rules);
  REQUIRE(of_two);
  CHECK(of_two->text == R"(^trunk\. => body.)");
  CHECK(of_two->explained == 3);
  const Convention module = wrapped(llama(3), "module.");
  CHECK(best_rule(module.target, module.source, {}, apply_rules)->text == R"(^module\. => )");
  CHECK_FALSE(best_rule({}, {}, {}, apply_rules));
  CHECK_FALSE(best_rule(shapes({{"a", {3}}}), shapes({{"b", {4}}}), {}, apply_rules));
  // What fits stays.
  const auto careful = best_rule(shapes({{"l.0.gateproj.w", {3}}}), shapes({{"l.0.gate_proj.w", {3}}}),
                                 shapes({{"l.1.gate_proj.w", {3}}, {"l.2.gate_proj.w", {3}}}), apply_rules);
  REQUIRE(careful);
  CHECK(apply_rules({careful->text}, {"l.0.gate_proj.w", "l.1.gate_proj.w"}) ==
        std::vector<std::string>{"l.0.gateproj.w", "l.1.gate_proj.w"});
}

namespace {

NamedShape floats(std::string name, Shape shape) { return {std::move(name), DType::f32, std::move(shape)}; }

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs pairs_of(const std::vector<NamedShape>& source, const std::vector<NamedShape>& target) {
  return infer_rules(source, target, apply_rules).pairs;
}

}  // namespace

TEST_CASE("names that clash are left over, and the others explained") {
  CHECK(pairs_of({floats("a", {2}), floats("w", {2, 2}), floats("x", {2, 3})},
                 {floats("a", {2}), floats("w", {2, 3})}) == Pairs{{"a", "a"}});
  std::vector<NamedShape> source{floats("emb", {9, 4}), floats("head", {3, 5}), floats("aux", {6, 5})};
  std::vector<NamedShape> target{floats("emb", {9, 4}), floats("head", {6, 5})};
  Pairs wanted{{"emb", "emb"}};
  for (const std::string i : {"0", "1", "2", "3"}) {
    source.push_back(floats("layers." + i + ".weight", {5, 4}));
    target.push_back(floats("blocks." + i + ".weight", {5, 4}));
    wanted.emplace_back("layers." + i + ".weight", "blocks." + i + ".weight");
  }
  CHECK(pairs_of(source, target) == wanted);
}

TEST_CASE("a name that is on both sides with one shape is explained, whatever stands beside it") {
  CHECK(pairs_of({floats("l.0.w", {4, 4}), floats("l.0.norm", {4})},
                 {floats("l.0.w", {4, 4}), floats("l.0.norm", {5})}) == Pairs{{"l.0.w", "l.0.w"}});
}

TEST_CASE("shape and elimination make no pair") {
  const NamedShape same = floats("blocks.0.w", {4, 4});
  const auto alone = [&](const NamedShape& source, const NamedShape& target) {
    CAPTURE(source.name, target.name);
    CHECK(pairs_of({same, source}, {same, target}) == Pairs{{same.name, same.name}});
  };
  alone(floats("mask_token", {1, 1, 4}), floats("cls_token", {1, 1, 4}));
  alone(floats("emb.w", {9, 6}), floats("lm_head.w", {9, 6}));
  alone(floats("old_head.w", {7, 3}), floats("pos_embed", {7, 3}));
  alone(floats("fc.bias", {7}), floats("fc.norm_scale", {7}));
  alone(floats("score.bias", {7}), floats("b.running_mean", {7}));
}

TEST_CASE("w1, w2 and w3 are gate, down and up where all of them are there") {
  const auto named = [](const std::string& a, const std::string& b) {
    return Pairs{{"mlp." + a + ".w", "mlp." + b + ".w"}};
  };
  std::vector<NamedShape> source, target;
  Pairs wanted;
  for (const auto& [a, b] : {std::pair("gate_proj", "w1"), {"up_proj", "w3"}, {"down_proj", "w2"}}) {
    const bool is_down = std::string(b) == "w2";
    if (is_down) CHECK(pairs_of(source, target).empty());
    source.push_back(floats(named(a, b).front().first, is_down ? Shape{4, 9} : Shape{9, 4}));
    target.push_back(floats(named(a, b).front().second, is_down ? Shape{4, 9} : Shape{9, 4}));
    wanted.push_back(named(a, b).front());
  }
  CHECK(pairs_of(source, target) == wanted);
}

TEST_CASE("lists that count differently are paired in order, never by number") {
  const auto list = [](const std::string& before, std::initializer_list<int> numbers) {
    std::vector<NamedShape> out;
    for (const int i : numbers) out.push_back(floats(before + std::to_string(i) + ".w", {4, 4}));
    return out;
  };
  const auto in_order = [&](const std::vector<NamedShape>& source, const std::vector<NamedShape>& target) {
    Pairs pairs;
    for (std::size_t i = 0; i < source.size(); ++i) pairs.emplace_back(source[i].name, target[i].name);
    CHECK(pairs_of(source, target) == pairs);
    for (auto& [a, b] : pairs) std::swap(a, b);
    CHECK(pairs_of(target, source) == pairs);
  };
  in_order(list("l.", {1, 2, 3}), list("m.", {0, 1, 2}));
  in_order(list("block", {1, 2, 3}), list("blocks.", {0, 1, 2}));
  in_order(list("layers.", {0, 2, 4}), list("blocks.", {0, 1, 2}));
  in_order(list("net.", {0, 2, 4}), list("net.", {0, 1, 2}));
  in_order(list("net.", {1, 2, 3}), list("net.", {0, 1, 2}));
  // Two parts of one list, or a list of which each side lacks an item: nobody can tell.
  CHECK(pairs_of(list("l.", {2, 3, 4}), list("l.", {3, 4, 5})).empty());
  CHECK(pairs_of(list("l.", {0, 1, 2, 4}), list("m.", {0, 1, 2, 3})).empty());
  CHECK(pairs_of(list("l.", {0, 1, 2, 4, 5}), list("m.", {0, 1, 2, 3, 5})).empty());
  // A part of a list counts as the whole does.
  CHECK(pairs_of(list("layers.", {0, 1, 2}), list("blocks.", {0, 1})).size() == 2);
}

TEST_CASE("a list that counts down is followed where shapes say so") {
  std::vector<NamedShape> source, target;
  Pairs wanted;
  const std::vector<std::uint64_t> widths{4, 8, 16, 16};
  for (std::size_t i = 0; i < widths.size(); ++i)
    for (const char* part : {"conv", "skip"}) {
      const std::string a = "up." + std::to_string(i) + "." + part + ".weight";
      const std::string b = "up_blocks." + std::to_string(3 - i) + "." + part + ".weight";
      source.push_back(floats(a, {widths[i], widths[i], 3, 3}));
      target.push_back(floats(b, {widths[i], widths[i], 3, 3}));
      wanted.emplace_back(a, b);
    }
  CHECK(pairs_of(source, target) == wanted);
}

TEST_CASE("items that got names are not what has their number now") {
  // `layers.1` is `layers.0` now, and `layers.0` is `proj_in`.
  const std::vector<NamedShape> source{floats("mlp.layers.0.weight", {8, 8}),
                                       floats("mlp.layers.1.weight", {8, 8}),
                                       floats("mlp.layers.2.weight", {4, 8})};
  const std::vector<NamedShape> target{floats("mlp.proj_in.weight", {8, 8}),
                                       floats("mlp.layers.0.weight", {8, 8}),
                                       floats("mlp.proj_out.weight", {4, 8})};
  CHECK(pairs_of(source, target).empty());
}

TEST_CASE("a tensor without a name, as a pickle of one tensor has it, is left") {
  const Inference inference =
      infer_rules(std::vector{floats("", {4, 8})}, std::vector{floats("fc.weight", {4, 8})}, apply_rules);
  CHECK(inference.pairs.empty());
  CHECK(inference.left_in_source == std::vector<std::string>{""});
}

TEST_CASE(
    "items of a list that is counted down on one side only are left or paired, never looked for outside") {
  const std::string layer = "text_model.encoder.layers.";
  const Inference inference = infer_rules(
      std::vector{floats(layer + "0.layer_norm2.bias", {8}), floats(layer + "2.layer_norm1.bias", {8})},
      std::vector{floats("transformer.resblocks.0.ln_1.bias", {8}),
                  floats("transformer.resblocks.0.ln_2.bias", {8}),
                  floats("transformer.resblocks.2.ln_1.bias", {8})},
      apply_rules);
  for (const auto& [from, to] : inference.pairs) {
    CAPTURE(from, to);
    CHECK(from.substr(layer.size(), 1) == to.substr(std::string("transformer.resblocks.").size(), 1));
  }
}

TEST_CASE("one name that nothing has a place for spoils nothing for thousands") {
  for (const bool is_renamed : {false, true}) {
    CAPTURE(is_renamed);
    std::vector<NamedShape> source, target;
    for (std::size_t i = 0; i < 4000; ++i) {
      const std::string rest = "." + std::to_string(i / 4) + ".part" + std::to_string(i % 4) + ".weight";
      source.push_back(floats("layers" + rest, {1}));
      target.push_back(floats((is_renamed ? "h" : "layers") + rest, {1}));
    }
    target[1234].name = "odd.thing.weight";
    const Inference inference = infer_rules(source, target, apply_rules);
    CHECK(!inference.is_cut);
    CHECK(inference.pairs.size() == 3999);
    CHECK(inference.rules.size() == (is_renamed ? 1 : 0));
    CHECK(inference.left_in_source == std::vector<std::string>{"layers.308.part2.weight"});
    CHECK(inference.left_in_target == std::vector<std::string>{"odd.thing.weight"});
  }
}

TEST_CASE("lists that count otherwise and have nothing in common are not paired, however long") {
  std::vector<NamedShape> source, target;
  for (std::size_t i = 0; i < 5000; ++i) {
    source.push_back(floats("layer." + std::to_string(i) + ".w", {1}));
    target.push_back(floats("x" + std::to_string(7 * i), {1}));
  }
  const Inference inference = infer_rules(source, target, apply_rules);
  CHECK(!inference.is_cut);
  CHECK(inference.pairs.empty());
}

TEST_CASE("where too many lists would have to be compared, names that may count otherwise are not paired") {
  // Items of one shape that may be those of the same number, or of the next one.
  std::vector<NamedShape> source{floats("head", {3})}, target{floats("head", {3})};
  for (std::size_t i = 0; i < 4000; ++i) {
    const std::string part = ".part" + std::to_string(i % 4);
    source.push_back(floats("layers." + std::to_string(i / 4) + part, {1}));
    target.push_back(floats("layers." + std::to_string(i / 4 + 1) + part, {1}));
  }
  const Inference inference = infer_rules(source, target, apply_rules);
  CHECK(inference.is_cut);
  CHECK(inference.pairs == std::vector<std::pair<std::string, std::string>>{{"head", "head"}});
}
