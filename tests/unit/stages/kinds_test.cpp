#include "ckpt/stages/kinds.hpp"

#include <catch2/catch.hpp>

#include <optional>

#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

constexpr Direction to_burn = Direction::pytorch_to_burn;
constexpr Direction to_torch = Direction::burn_to_pytorch;

struct Decided {
  std::string kind;  // `?` while undecided
  Strength strength;
  std::string evidence;
};

/// What is decided on the module at `path`.
Decided decide(const std::vector<Tensor>& tensors, Direction direction, std::string_view path,
               const std::vector<std::string>& lines = {}) {
  std::vector<KindRule> rules;
  for (const std::string& line : lines) rules.push_back(parse_kind_rule(line));
  const Checkpoint checkpoint = checkpoint_of(tensors);
  std::optional<Decided> found;
  for (const KindDecision& decision : decide_kinds(checkpoint, direction, rules)) {
    if (decision.path != path) continue;
    CHECK_FALSE(found);
    found = {decision.kind == nullptr ? "?" : std::string(decision.kind->name), decision.strength,
             decision.evidence};
  }
  REQUIRE(found);
  return *found;
}

Tensor tensor(std::string name, Shape shape, std::string module_class = {}) {
  Tensor t = counting(std::move(name), std::move(shape));
  t.module_class = std::move(module_class);
  return t;
}

std::vector<Tensor> of_class(const std::string& module_class, const Shape& weight) {
  return {tensor("m.weight", weight, module_class)};
}

/// What is decided on `path` of tensors that were called otherwise: of each its name, and its name in the
/// file, where more may stand.
Decided decide_renamed(const std::vector<Tensor>& file,
                       const std::vector<std::pair<std::string, std::string>>& names, Direction direction,
                       std::string_view path) {
  const Checkpoint source = checkpoint_of(file);
  Checkpoint checkpoint;
  for (const auto& [name, before] : names)
    for (std::size_t i = 0; i < file.size(); ++i)
      if (file[i].name == before) {
        checkpoint.tensors.push_back(file[i]);
        checkpoint.tensors.back().name = name;
        checkpoint.tensors.back().origin = static_cast<std::uint32_t>(i);
      }
  REQUIRE(checkpoint.tensors.size() == names.size());
  for (const KindDecision& decision : decide_kinds(checkpoint, direction, {}, nullptr, &source))
    if (decision.path == path)
      return {decision.kind == nullptr ? "?" : std::string(decision.kind->name), decision.strength,
              decision.evidence + (decision.contrary.empty() ? "" : "; not " + decision.contrary)};
  FAIL("no such module");
  return {};
}

}  // namespace

TEST_CASE("what the file proves of a module is true under another name, and without what stood beside it") {
  const std::vector<Tensor> gpt{
      tensor("h.0.attn.c_attn.weight", {4, 12}), tensor("h.0.attn.c_attn.bias", {12}),
      tensor("h.0.attn.c_proj.weight", {4, 4}),  tensor("h.0.attn.c_proj.bias", {4}),
      tensor("h.0.mlp.c_fc.weight", {4, 16}),    tensor("h.0.mlp.c_fc.bias", {16}),
      tensor("h.0.mlp.c_proj.weight", {16, 4}),  tensor("h.0.mlp.c_proj.bias", {4})};
  for (const bool has_bias : {true, false}) {
    std::vector<std::pair<std::string, std::string>> names{{"b.out_proj.weight", "h.0.attn.c_proj.weight"}};
    if (has_bias) names.emplace_back("b.out_proj.bias", "h.0.attn.c_proj.bias");
    const Decided d = decide_renamed(gpt, names, to_burn, "b.out_proj");
    CHECK(d.kind == "Conv1D");
    CHECK(d.strength == Strength::family);
    CHECK(contains(d.evidence, "as h.0.attn.c_proj in the file: the names are those of GPT-2"));
    CHECK(contains(d.evidence, "not Linear"));
  }
  const std::vector<Tensor> norm{tensor("n.weight", {4}), tensor("n.bias", {4}),
                                 tensor("n.running_mean", {4}), tensor("n.running_var", {4})};
  CHECK(decide_renamed(norm, {{"n.weight", "n.weight"}, {"n.bias", "n.bias"}}, to_burn, "n").kind ==
        "BatchNorm");
  const std::vector<Tensor> linear{tensor("p.weight", {3, 4}), tensor("p.bias", {3})};
  CHECK(decide_renamed(linear, {{"embed.weight", "p.weight"}}, to_burn, "embed").kind == "Linear");
}

TEST_CASE("a tensor of several modules, of none, or of another rank is judged by what it is now") {
  const std::vector<Tensor> file{tensor("a.weight", {3, 4}), tensor("a.bias", {3}),
                                 tensor("b.weight", {4, 4}), tensor("scale", {4}),
                                 tensor("n.bias", {4}),      tensor("s.weight", {2, 4, 3})};
  CHECK(decide_renamed(file, {{"c.weight", "a.weight"}, {"c.bias", "n.bias"}}, to_burn, "c").kind ==
        "Conv1D");
  CHECK(decide_renamed(file, {{"n.weight", "scale"}, {"n.bias", "n.bias"}}, to_burn, "n").kind ==
        "LayerNorm");
  CHECK(decide_renamed(file, {{"token_embed.weight", "b.weight"}}, to_burn, "token_embed").kind ==
        "Embedding");
}

TEST_CASE("two names that say different things settle nothing") {
  const std::vector<Tensor> file{tensor("lm_head.weight", {4, 4})};
  REQUIRE(decide(file, to_burn, "lm_head").kind == "Linear");
  const Decided d = decide_renamed(file, {{"embedding.weight", "lm_head.weight"}}, to_burn, "embedding");
  CHECK(d.kind == "?");
  CHECK(contains(d.evidence, "Embedding by its name alone"));
  CHECK(contains(d.evidence, "but as lm_head in the file Linear by its name alone"));
  CHECK(anchored_pattern("a => b#1") == "^a =\\> b\\#1$");
}

TEST_CASE("no Embedding has a bias, whatever its name") {
  for (const char* path : {"token_embedding", "vocab_embed", "position_embeddings"}) {
    const std::string name = path;
    CHECK(decide({tensor(name + ".weight", {8, 8})}, to_burn, name).kind == "Embedding");
    for (const Direction direction : {to_burn, to_torch})
      CHECK(decide({tensor(name + ".weight", {8, 8}), tensor(name + ".bias", {8})}, direction, name).kind ==
            "?");
  }
}

TEST_CASE("a kind that a bias speaks against is refused, whoever says it") {
  const auto refused = [](const std::vector<Tensor>& tensors, const std::string& line) {
    const Error error = error_of([&] { decide(tensors, to_burn, "m", {line}); });
    CHECK(error.kind() == ErrorKind::refused);
    return error.message();
  };
  CHECK(contains(refused({tensor("m.weight", {4}), tensor("m.bias", {4})}, "m => PRelu"),
                 "a bias stands beside it"));
  CHECK(contains(refused({tensor("m.weight", {4, 4}), tensor("m.bias", {4, 4})}, "m => Linear"),
                 "bias [4, 4] is no vector"));
  Target target;
  target.tensors = {{.name = "m.weight", .shape = {4, 4}, .kind = "Embedding"},
                    {.name = "m.bias", .shape = {4}}};
  CHECK(error_of([&] {
          decide_kinds(checkpoint_of({tensor("m.weight", {4, 4}), tensor("m.bias", {4})}), to_burn, {},
                       &target);
        }).kind() == ErrorKind::refused);
}

TEST_CASE("what a hint proposes is possible") {
  const auto likely = [](const std::vector<Tensor>& tensors) {
    return decide_kinds(checkpoint_of(tensors), to_burn, {}).at(0).likely->name;
  };
  CHECK(likely({tensor("m.weight", {4, 4})}) == "Linear");
  CHECK(likely({tensor("m.weight", {4, 4}), tensor("m.bias", {4, 4})}) == "none");
  CHECK(likely({tensor("m.weight", {4})}) == "RmsNorm");
  CHECK(likely({tensor("m.weight", {1})}) == "PRelu");
}

TEST_CASE("a quantised weight is one without its scales too") {
  const std::vector<Tensor> file{tensor("fc.weight", {3, 4}), tensor("fc.bias", {3}), tensor("fc.SCB", {3})};
  const Decided d = decide_renamed(file, {{"fc.weight", "fc.weight"}, {"fc.bias", "fc.bias"}}, to_burn, "fc");
  CHECK(d.kind == "none");
  CHECK(contains(d.evidence, "a quantised weight"));
}

TEST_CASE("a matrix that was cut from a stack may lie either way") {
  const Checkpoint source = checkpoint_of({tensor("experts.w", {2, 3, 4})});
  Tensor part = tensor("experts.0.gate_proj.weight", {3, 4});
  part.origin = 0;
  const auto decided = decide_kinds(checkpoint_of({part}), to_burn, {}, nullptr, &source);
  REQUIRE(decided.size() == 1);
  CHECK(decided[0].kind == nullptr);
  CHECK(contains(decided[0].evidence, "cut from a stack"));
  part.recorded_kind = "Linear";
  const auto noted = decide_kinds(checkpoint_of({part}), to_burn, {}, nullptr, &source);
  REQUIRE(noted[0].kind != nullptr);
  CHECK(noted[0].kind->name == "Linear");
}

TEST_CASE("a bias as long as the first dimension proves a Linear in PyTorch's layout") {
  const Decided d = decide({tensor("p.weight", {3, 4}), tensor("p.bias", {3})}, to_burn, "p");
  CHECK(d.kind == "Linear");
  CHECK(d.strength == Strength::siblings);
  CHECK(d.evidence == "bias [3] is as long as the first dimension of weight [3, 4]");
}

TEST_CASE("a bias as long as the second dimension proves GPT-2's Conv1D in PyTorch, a Linear in burn") {
  const std::vector<Tensor> tensors{tensor("p.weight", {3, 4}), tensor("p.bias", {4})};
  CHECK(decide(tensors, to_burn, "p").kind == "Conv1D");
  CHECK(decide(tensors, to_torch, "p").kind == "Linear");
  CHECK(decide(tensors, to_torch, "p").strength == Strength::siblings);
}

TEST_CASE("a square matrix, a matrix without a bias and a bias that fits nowhere stay undecided") {
  for (const Direction direction : {to_burn, to_torch}) {
    const Decided square = decide({tensor("p.weight", {4, 4}), tensor("p.bias", {4})}, direction, "p");
    CHECK(square.kind == "?");
    CHECK(square.strength == Strength::undecided);
    CHECK(contains(square.evidence, "square"));
    CHECK(contains(decide({tensor("p.weight", {3, 4})}, direction, "p").evidence, "without a bias"));
    CHECK(decide({tensor("p.weight", {3, 4}), tensor("p.bias", {5})}, direction, "p").kind == "?");
    CHECK(decide({tensor("p.weight", {3, 4}), tensor("p.bias", {3, 1})}, direction, "p").kind == "?");
  }
  const Decided first = decide({tensor("fc.weight", {3, 4}), tensor("fc.bias", {3})}, to_torch, "fc");
  CHECK(first.kind == "?");
  CHECK(contains(first.evidence, "burn keeps [in, out]"));
}

TEST_CASE("more than two dimensions are a convolution's, none are nothing's") {
  for (const Direction direction : {to_burn, to_torch}) {
    CHECK(decide({tensor("p.weight", {2, 3, 4})}, direction, "p").kind == "Conv");
    CHECK(decide({tensor("p.weight", {2, 3, 1, 1})}, direction, "p").kind == "Conv");
    CHECK(decide({tensor("p.weight", {2, 3, 1, 1, 1}), tensor("p.bias", {2})}, direction, "p").kind ==
          "Conv");
    CHECK(decide({tensor("p.weight", {})}, direction, "p").kind == "none");
    CHECK(decide({tensor("p.scale", {4, 4})}, direction, "p").kind == "none");
    CHECK(decide({tensor("cls_token", {1, 1, 4})}, direction, "").kind == "none");
  }
}

TEST_CASE("running statistics prove a batch norm, also without weight and bias") {
  for (const Direction direction : {to_burn, to_torch})
    CHECK(decide({tensor("n.running_mean", {4}), tensor("n.running_var", {4})}, direction, "n").kind ==
          "BatchNorm");
  CHECK(decide({tensor("n.weight", {4}), tensor("n.bias", {4}), tensor("n.running_mean", {4}),
                tensor("n.running_var", {4})},
               to_burn, "n")
            .kind == "BatchNorm");
}

TEST_CASE("two vectors of one length are a norm's, whichever way they are named") {
  CHECK(decide({tensor("x.weight", {4}), tensor("x.bias", {4})}, to_burn, "x").kind == "LayerNorm");
  // Old BERT checkpoints have gamma and beta in PyTorch.
  for (const Direction direction : {to_burn, to_torch}) {
    const Decided d = decide({tensor("x.gamma", {4}), tensor("x.beta", {4})}, direction, "x");
    CHECK(d.kind == "LayerNorm");
    CHECK(d.strength == Strength::siblings);
  }
}

TEST_CASE("gamma beside other modules is a parameter of its own, as ConvNeXt's") {
  const std::vector<Tensor> block{tensor("b.gamma", {4}), tensor("b.pwconv1.weight", {8, 4}),
                                  tensor("b.pwconv1.bias", {8})};
  CHECK(decide(block, to_burn, "b").kind == "none");
  CHECK(decide(block, to_torch, "b").kind == "none");
}

TEST_CASE("gamma that stands alone is undecided on the way to PyTorch, unless its name tells") {
  CHECK(decide({tensor("x.gamma", {4})}, to_torch, "x").kind == "?");
  const Decided d = decide({tensor("final_norm.gamma", {4})}, to_torch, "final_norm");
  CHECK(d.kind == "RmsNorm");
  CHECK(d.strength == Strength::name);
  CHECK(decide({tensor("x.gamma", {4})}, to_burn, "x").kind == "none");
}

TEST_CASE("alpha that stands alone is a PRelu's in burn, and nothing in PyTorch") {
  CHECK(decide({tensor("x.alpha", {1})}, to_torch, "x").kind == "PRelu");
  CHECK(decide({tensor("x.alpha", {1})}, to_burn, "x").kind == "none");
  CHECK(decide({tensor("x.alpha", {1}), tensor("x.delta", {1})}, to_torch, "x").kind == "none");
  CHECK(decide({tensor("x.alpha", {1}), tensor("x.fc.weight", {1, 1, 1})}, to_torch, "x").kind == "none");
}

TEST_CASE("a pickled class decides, also against what the shapes would prove") {
  for (const auto& [name, kind] : std::vector<std::pair<std::string, std::string>>{
           {"torch.nn.modules.linear.Linear", "Linear"},
           {"torch.nn.modules.linear.NonDynamicallyQuantizableLinear", "Linear"},
           {"torch.nn.modules.sparse.Embedding", "Embedding"},
           {"torch.nn.modules.sparse.EmbeddingBag", "Embedding"},
           {"transformers.pytorch_utils.Conv1D", "Conv1D"},
           {"transformers.models.llama.modeling_llama.LlamaRMSNorm", "RmsNorm"},
           {"my.T5LayerNorm", "LayerNorm"}}) {
    const Shape shape = kind.ends_with("Norm") ? Shape{4} : Shape{4, 4};
    const Decided d = decide(of_class(name, shape), to_burn, "m");
    CAPTURE(name);
    CHECK(d.kind == kind);
    CHECK(d.strength == Strength::pickled_class);
    CHECK(d.evidence == "pickled as " + name);
  }
  for (const std::string name : {"BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"})
    CHECK(decide(of_class("torch.nn." + name, {4}), to_burn, "m").kind == "BatchNorm");
  for (const std::string name : {"InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"})
    CHECK(decide(of_class("torch.nn." + name, {4}), to_burn, "m").kind == "InstanceNorm");
  for (const std::string name :
       {"Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "DeformConv2d"})
    CHECK(decide(of_class("torch.nn." + name, {4, 4, 1, 1}), to_burn, "m").kind == "Conv");
  CHECK(decide(of_class("torch.nn.GroupNorm", {4}), to_burn, "m").kind == "GroupNorm");
  CHECK(decide(of_class("torch.nn.PReLU", {4}), to_burn, "m").kind == "PRelu");
  CHECK(
      decide({tensor("m.weight", {3, 4}, "torch.nn.Embedding"), tensor("m.bias", {3}, "torch.nn.Embedding")},
             to_burn, "m")
          .kind == "Embedding");
}

TEST_CASE("another's class of PyTorch's name decides only what the tensors do not contradict") {
  const auto module = [](const std::string& name, Shape weight, std::uint64_t bias) {
    return std::vector<Tensor>{tensor("m.weight", std::move(weight), name), tensor("m.bias", {bias}, name)};
  };
  const Decided against = decide(module("mylib.Linear", {3, 5}, 5), to_burn, "m");
  CHECK(against.kind == "?");
  CHECK(against.evidence ==
        "pickled as mylib.Linear, but bias [5] is not as long as the first dimension of weight [3, 5]");
  CHECK(decide(module("mylib.Linear", {5, 3}, 5), to_burn, "m").strength == Strength::pickled_class);
  CHECK(decide(module("mylib.Embedding", {5, 3}, 5), to_burn, "m").kind == "?");
  CHECK(decide(of_class("mylib.LayerNorm", {4, 4}), to_burn, "m").kind == "?");
  CHECK(decide(of_class("torch.nn.modules.conv.Conv1d", {4, 2, 3}), to_burn, "m").kind == "Conv");
}

TEST_CASE("what weight_norm keeps in parts is undecided, whatever the class") {
  const std::string name = "torch.nn.modules.conv.Conv1d";
  const std::vector<Tensor> tensors{tensor("c.weight_g", {3, 1, 1}, name),
                                    tensor("c.weight_v", {3, 2, 5}, name)};
  CHECK(decide(tensors, to_burn, "c").kind == "?");
  CHECK(decide(tensors, to_burn, "c", {"^c$ => none"}).kind == "none");
}

TEST_CASE("a kind that is given is held against the module's tensors") {
  const std::vector<Tensor> lstm{tensor("m.weight_ih_l0", {16, 3}), tensor("m.weight_hh_l0", {16, 4})};
  const std::vector<Tensor> linear{tensor("m.weight", {3, 5}), tensor("m.bias", {3})};
  const std::vector<Tensor> batch_norm{tensor("m.weight", {4}), tensor("m.bias", {4}),
                                       tensor("m.running_mean", {4}), tensor("m.running_var", {4})};
  const auto refusal = [](const std::vector<Tensor>& tensors, const std::string& kind) {
    const Error error = error_of([&] { decide(tensors, to_burn, "m", {"^m$ => " + kind}); });
    CHECK(error.kind() == ErrorKind::refused);
    CHECK(contains(error.hint(), "--module '^m$ => none'"));
    return error.message();
  };
  CHECK(contains(refusal(lstm, "RNN"), "weight_hh_l0 [16, 4] stacks 4 gates, as of LSTM"));
  CHECK(contains(refusal(lstm, "GRU"), "as of LSTM"));
  CHECK(contains(refusal(lstm, "Linear"), "weight_ih_l0 is LSTM's"));
  CHECK(contains(refusal({tensor("m.weight_ih_l0", {10, 7}), tensor("m.weight_hh_l0", {10, 5})}, "LSTM"),
                 "not its shapes"));
  CHECK(contains(refusal(linear, "LayerNorm"), "weight [3, 5] is no vector"));
  CHECK(contains(refusal(linear, "Conv1D"), "bias [3] is not as long as the second dimension"));
  CHECK(contains(refusal(linear, "Embedding"), "a bias stands beside it"));
  CHECK(contains(refusal(linear, "Conv"), "less than three dimensions"));
  CHECK(contains(refusal(linear, "LSTM"), "no weight_ih_l0 stands below it"));
  CHECK(contains(refusal(batch_norm, "LayerNorm"), "running_mean stands beside it"));
  CHECK(contains(refusal({tensor("m.weight_g", {3, 1}), tensor("m.weight_v", {3, 5})}, "Linear"),
                 "weight_norm"));
  CHECK(decide(batch_norm, to_burn, "m", {"^m$ => InstanceNorm"}).kind == "InstanceNorm");
}

TEST_CASE("a class that is nobody's leaves the decision to the other evidence") {
  CHECK(decide(of_class("my.Block", {4, 4}), to_burn, "m").kind == "?");
  CHECK(decide({tensor("m.weight", {3, 4}, "my.Block"), tensor("m.bias", {3}, "my.Block")}, to_burn, "m")
            .strength == Strength::siblings);
}

TEST_CASE("a module follows its neighbours: other indices first, then the same name with a bias") {
  const std::vector<Tensor> layers{tensor("layers.0.proj.weight", {3, 4}), tensor("layers.0.proj.bias", {3}),
                                   tensor("layers.1.proj.weight", {4, 4}), tensor("layers.1.proj.bias", {4}),
                                   tensor("other.proj.weight", {4, 4}),    tensor("other.proj.bias", {4})};
  const Decided index = decide(layers, to_burn, "layers.1.proj");
  CHECK(index.kind == "Linear");
  CHECK(index.strength == Strength::neighbour);
  CHECK(index.evidence == "layers.#.proj is proven to be one for other indices");
  const Decided elsewhere = decide(layers, to_burn, "other.proj");
  CHECK(elsewhere.kind == "Linear");
  CHECK(elsewhere.strength == Strength::neighbour);
  CHECK(elsewhere.evidence == "every other proj is proven to be one");
}

TEST_CASE("the same name in another branch is no proof of a matrix without a bias") {
  const std::vector<Tensor> tensors{
      tensor("query.weight", {16, 8}),
      tensor("layer.0.attention.query.weight", {4, 8}),
      tensor("layer.0.attention.query.bias", {4}),
      tensor("decoder.0.attention.query.weight", {4, 4}),
      tensor("layer.0.rel.weight", {4, 8}),
      tensor("layer.0.rel.bias", {4}),
      tensor("rel.weight", {16, 8}),
      tensor("layer.0.tokens.weight", {4, 8}),
      tensor("layer.0.tokens.bias", {4}),
      tensor("tokens.weight", {16, 8}),
  };
  CHECK(decide(tensors, to_burn, "query").strength == Strength::name);
  const Decided rel = decide(tensors, to_burn, "rel");
  CHECK(rel.strength == Strength::name);
  CHECK(rel.evidence == "by its name alone (every other rel is proven to be one)");
  // What holds it is of the same sort.
  const Decided same = decide(tensors, to_burn, "decoder.0.attention.query");
  CHECK(same.strength == Strength::neighbour);
  CHECK(same.evidence == "every other attention.query is proven to be one");
  // What it is called says the opposite.
  const Decided tokens = decide(tensors, to_burn, "tokens");
  CHECK(tokens.kind == "?");
  CHECK(tokens.evidence ==
        "its name says Embedding (an embedding), but every other tokens is proven to be Linear");
}

TEST_CASE("neighbours that disagree decide nothing") {
  const std::vector<Tensor> layers{tensor("a.proj.weight", {3, 4}), tensor("a.proj.bias", {3}),
                                   tensor("b.proj.weight", {3, 4}), tensor("b.proj.bias", {4}),
                                   tensor("c.proj.weight", {4, 4}), tensor("c.proj.bias", {4})};
  CHECK(decide(layers, to_burn, "c.proj").kind == "?");
}

TEST_CASE("an index says nothing of another index, and a neighbour by name is no proof for others") {
  const std::vector<Tensor> sequential{tensor("net.0.weight", {3, 4}), tensor("net.0.bias", {3}),
                                       tensor("head.0.weight", {4, 4})};
  CHECK(decide(sequential, to_burn, "head.0").kind == "?");
  const std::vector<Tensor> by_name{tensor("a.fc.weight", {4, 4}), tensor("a.x.weight", {4, 4})};
  CHECK(decide(by_name, to_burn, "a.fc").strength == Strength::name);
  CHECK(decide(by_name, to_burn, "a.x").kind == "?");
}

TEST_CASE("names decide last: projections and heads are Linear, embeddings are not") {
  for (const std::string name :
       {"fc",     "fc1",       "fc_out",  "linear2",    "lin",   "dense",    "q_proj",
        "o_proj", "gate_proj", "up_proj", "down_proj",  "qkv",   "to_q",     "to_out",
        "w1",     "wq",        "lm_head", "classifier", "score", "embed_out"}) {
    CAPTURE(name);
    const Decided d = decide({tensor(name + ".weight", {4, 4})}, to_burn, name);
    CHECK(d.kind == "Linear");
    CHECK(d.strength == Strength::name);
  }
  for (const std::string name : {"wte", "wpe", "shared", "tok_emb", "embed_tokens", "word_embeddings",
                                 "position_embeddings", "token_type_embeddings", "embedding"}) {
    CAPTURE(name);
    CHECK(decide({tensor(name + ".weight", {4, 4})}, to_burn, name).kind == "Embedding");
  }
  for (const std::string name : {"norm", "ln_f", "ln1", "input_layernorm", "rms", "q_norm"}) {
    CAPTURE(name);
    CHECK(decide({tensor(name + ".weight", {4})}, to_burn, name).kind == "RmsNorm");
  }
  CHECK(decide({tensor("prelu.weight", {1})}, to_burn, "prelu").kind == "PRelu");
  // Both layouts use these names.
  for (const std::string name : {"proj", "c_attn", "c_proj", "c_fc"})
    CHECK(decide({tensor(name + ".weight", {4, 4})}, to_burn, name).kind == "?");
}

TEST_CASE("a rule beats every other evidence; the first that matches counts") {
  const std::vector<Tensor> tensors{tensor("m.weight", {3, 4}, "torch.nn.Linear")};
  const Decided d = decide(tensors, to_burn, "m", {"^n$ => Conv", "^m$ => embedding", "m => Linear"});
  CHECK(d.kind == "Embedding");
  CHECK(d.strength == Strength::given);
  CHECK(d.evidence == "given by `^m$ => embedding`");
}

TEST_CASE("what a rule says is proof for the neighbours") {
  const std::vector<Tensor> tensors{tensor("h.0.c_fc.weight", {4, 4}), tensor("h.1.c_fc.weight", {4, 4})};
  CHECK(decide(tensors, to_burn, "h.1.c_fc", {"^h\\.0\\. => Conv1D"}).kind == "Conv1D");
}

TEST_CASE("attention is told by its fused or separate projections, and owns what lies below") {
  for (const std::string mark : {"in_proj_weight", "q_proj_weight"}) {
    const std::vector<Tensor> tensors{tensor("a.attn." + mark, {4, 4}),
                                      tensor("a.attn.out_proj.weight", {4, 4})};
    const Decided d = decide(tensors, to_burn, "a.attn");
    CHECK(d.kind == "MultiheadAttention");
    CHECK(d.strength == Strength::siblings);
    CHECK(decide_kinds(checkpoint_of(tensors), to_burn, {}).size() == 1);
  }
  std::vector<Tensor> burn;
  for (const std::string name : {"query", "key", "value"}) burn.push_back(tensor(name + ".weight", {4, 4}));
  CHECK(decide(burn, to_torch, "query").kind == "Linear");  // by name: without `output` it is no attention
  burn.push_back(tensor("output.weight", {4, 4}));
  CHECK(decide(burn, to_torch, "").kind == "MultiheadAttention");
  std::vector<Tensor> more = burn;
  more.push_back(tensor("norm.gamma", {4}));
  CHECK(decide(more, to_torch, "query").kind == "Linear");  // burn's attention holds no norm
  CHECK(decide(burn, to_burn, "query").kind == "Linear");
}

TEST_CASE("a recurrent module is told by how many gates it stacks") {
  for (const auto& [gates, kind] :
       std::vector<std::pair<std::uint64_t, std::string>>{{4, "LSTM"}, {3, "GRU"}, {1, "RNN"}}) {
    const std::vector<Tensor> tensors{tensor("r.weight_ih_l0", {gates * 5, 7}),
                                      tensor("r.weight_hh_l0", {gates * 5, 5})};
    CHECK(decide(tensors, to_burn, "r").kind == kind);
  }
  const std::vector<Tensor> odd{tensor("r.weight_ih_l0", {10, 7}), tensor("r.weight_hh_l0", {10, 5})};
  CHECK(decide(odd, to_burn, "r").kind == "none");
  CHECK(decide({tensor("r.forget_gate.input_transform.weight", {7, 5}),
                tensor("r.cell_gate.input_transform.weight", {7, 5})},
               to_torch, "r")
            .kind == "LSTM");
}

TEST_CASE("a rule takes an owning module for something else") {
  const std::vector<Tensor> tensors{tensor("a.in_proj_weight", {12, 4}), tensor("a.out_proj.weight", {4, 4})};
  CHECK(decide(tensors, to_burn, "a", {"^a$ => none"}).kind == "none");
  CHECK(decide(tensors, to_burn, "a.out_proj", {"^a$ => none"}).kind == "Linear");
}

TEST_CASE("the rules of a modules file are numbered lines of REGEX => KIND") {
  const std::vector<KindRule> rules =
      parse_kind_rules("# heads\n\n^head$ => Linear\r\n^e => EMBEDDINGBAG\n", "f");
  REQUIRE(rules.size() == 2);
  CHECK(rules[0].kind == find_kind("Linear"));
  CHECK(rules[1].kind == find_kind("Embedding"));
  CHECK(rules[1].text == "^e => EMBEDDINGBAG");
  const Error error = error_of([] { parse_kind_rules("^a$ => Linear\n^b$ => Lineal\n", "kinds.txt"); });
  CHECK(error.kind() == ErrorKind::usage);
  CHECK(error.file() == "kinds.txt");
  CHECK(error.message().starts_with("line 2: `Lineal`"));
  CHECK(contains(error.hint(), "MultiheadAttention"));
  CHECK(error_of([] { parse_kind_rule("^a$ Linear"); }).kind() == ErrorKind::usage);
  CHECK(error_of([] { parse_kind_rule("( => Linear"); }).kind() == ErrorKind::usage);
}

TEST_CASE("a rule without a path would be of every module, and is refused") {
  CHECK(error_of([] { parse_kind_rule(" => Linear"); }).kind() == ErrorKind::usage);
}

TEST_CASE("a tensor's name is its module's path and its own name") {
  CHECK(module_path("a.b.weight") == "a.b");
  CHECK(leaf_name("a.b.weight") == "weight");
  CHECK(module_path("weight").empty());
  CHECK(leaf_name("weight") == "weight");
  CHECK(leaf_name("a.").empty());
}
