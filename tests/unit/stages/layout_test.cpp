#include "ckpt/stages/layout.hpp"

#include <catch2/catch.hpp>

#include <map>

#include "ckpt/stages/rule.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

constexpr Direction to_burn = Direction::pytorch_to_burn;
constexpr Direction to_torch = Direction::burn_to_pytorch;

using Shapes = std::vector<std::pair<std::string, Shape>>;

/// Tensors of these names and shapes, no two elements alike.
std::vector<Tensor> filled(const Shapes& shapes) {
  std::vector<Tensor> tensors;
  float next = 1;
  for (const auto& [name, shape] : shapes) {
    tensors.push_back(counting(name, shape, next));
    next += static_cast<float>(tensors.back().elements());
  }
  return tensors;
}

LaidOut lay(std::vector<Tensor> tensors, Direction direction, const std::vector<std::string>& lines = {}) {
  std::vector<KindRule> rules;
  for (const std::string& line : lines) rules.push_back(parse_kind_rule(line));
  return lay_out(checkpoint_of(std::move(tensors)), direction, rules);
}

using Contents = std::map<std::string, std::pair<Shape, std::vector<float>>>;

Contents contents(const Checkpoint& checkpoint) {
  Contents all;
  for (const Tensor& tensor : checkpoint.tensors)
    all[tensor.name] = {tensor.shape, values_of<float>(gathered(tensor, 0))};
  return all;
}

/// element (i, j) of rows [first, first + count) of a matrix, transposed.
std::vector<float> transposed_rows(const std::vector<float>& matrix, std::size_t columns, std::size_t first,
                                   std::size_t count) {
  std::vector<float> out;
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t i = first; i < first + count; ++i) out.push_back(matrix[i * columns + j]);
  return out;
}

std::vector<float> part(const std::vector<float>& all, std::size_t first, std::size_t count) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

/// PyTorch to burn and back must give the same tensors, bit for bit.
void check_round_trip(const Shapes& shapes, const std::vector<std::string>& there,
                      const std::vector<std::string>& back, const std::vector<std::string>& burn_names) {
  const std::vector<Tensor> torch = filled(shapes);
  const LaidOut burn = lay(torch, to_burn, there);
  CHECK(names_of(burn.checkpoint) == burn_names);
  const LaidOut again = lay(burn.checkpoint.tensors, to_torch, back);
  CHECK(contents(again.checkpoint) == contents(checkpoint_of(torch)));
}

const std::vector<std::string> lstm_gates{"input_gate", "forget_gate", "cell_gate", "output_gate"};
const std::vector<std::string> gru_gates{"reset_gate", "update_gate", "new_gate"};

Shapes recurrent(const std::string& path, std::uint64_t gates, const std::string& suffix = "") {
  constexpr std::uint64_t hidden = 3;
  constexpr std::uint64_t inputs = 5;
  return {{path + ".weight_ih_l0" + suffix, {gates * hidden, inputs}},
          {path + ".weight_hh_l0" + suffix, {gates * hidden, hidden}},
          {path + ".bias_ih_l0" + suffix, {gates * hidden}},
          {path + ".bias_hh_l0" + suffix, {gates * hidden}}};
}

/// What burn's gates must hold: chunk k of PyTorch's rows belongs to gate k, matrices transposed.
void check_gates(const Contents& torch, const Contents& burn, const std::string& torch_path,
                 const std::string& suffix, const std::string& burn_path,
                 const std::vector<std::string>& gates) {
  for (const auto& [of, transform] :
       {std::pair{"ih", "input_transform"}, std::pair{"hh", "hidden_transform"}})
    for (std::size_t k = 0; k < gates.size(); ++k) {
      const auto& [shape, weight] = torch.at(fmt::format("{}.weight_{}_l0{}", torch_path, of, suffix));
      const auto& bias = torch.at(fmt::format("{}.bias_{}_l0{}", torch_path, of, suffix)).second;
      const std::string place = fmt::format("{}.{}.{}", burn_path, gates[k], transform);
      CAPTURE(place);
      CHECK(burn.at(place + ".weight").first == Shape{shape[1], 3});
      CHECK(burn.at(place + ".weight").second == transposed_rows(weight, shape[1], 3 * k, 3));
      CHECK(burn.at(place + ".bias").second == part(bias, 3 * k, 3));
    }
}

Shapes joined_shapes(Shapes a, const Shapes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

TEST_CASE("the worked example: fc.weight [3, 4] of 0 to 11 becomes [4, 3]") {
  const LaidOut burn = lay({counting("fc.weight", {3, 4}), counting("fc.bias", {3})}, to_burn);
  const Contents found = contents(burn.checkpoint);
  CHECK(found.at("fc.weight") ==
        std::pair{Shape{4, 3}, std::vector<float>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}});
  CHECK(found.at("fc.bias") == std::pair{Shape{3}, std::vector<float>{0, 1, 2}});
  REQUIRE(burn.report.steps.size() == 2);
  CHECK(burn.report.steps[0].what == "transposed");
  CHECK(burn.report.steps[0].is_transposed);
  CHECK_FALSE(burn.report.steps[0].is_renamed);
  CHECK(burn.report.steps[1].what == "unchanged");
}

TEST_CASE("without a direction nothing changes and nothing is decided") {
  const LaidOut same = lay({counting("p.weight", {4, 4})}, Direction::none);
  CHECK(contents(same.checkpoint) == contents(checkpoint_of({counting("p.weight", {4, 4})})));
  CHECK(same.report.steps.empty());
  CHECK(same.report.decisions.empty());
}

TEST_CASE("modules whose parameters correspond one to one come back bit for bit") {
  const Shapes matrix{{"m.weight", {5, 3}}, {"m.bias", {5}}};
  check_round_trip(matrix, {"^m$ => Linear"}, {"^m$ => Linear"}, {"m.weight", "m.bias"});
  check_round_trip({{"m.weight", {3, 5}}, {"m.bias", {5}}}, {"^m$ => Conv1D"}, {"^m$ => Conv1D"},
                   {"m.weight", "m.bias"});
  check_round_trip({{"m.weight", {7, 3}}}, {"^m$ => Embedding"}, {"^m$ => Embedding"}, {"m.weight"});
  check_round_trip({{"m.weight", {4, 2, 3}}, {"m.bias", {4}}}, {}, {}, {"m.weight", "m.bias"});
  check_round_trip({{"m.weight", {4, 2, 3, 3}}, {"m.bias", {4}}}, {}, {}, {"m.weight", "m.bias"});
  check_round_trip({{"m.weight", {2, 4, 1, 2, 3}}}, {}, {}, {"m.weight"});
  check_round_trip({{"m.weight", {6}}, {"m.bias", {6}}}, {}, {}, {"m.gamma", "m.beta"});
  for (const std::string norm : {"LayerNorm", "GroupNorm", "InstanceNorm"})
    check_round_trip({{"m.weight", {6}}, {"m.bias", {6}}}, {"^m$ => " + norm}, {"^m$ => " + norm},
                     {"m.gamma", "m.beta"});
  check_round_trip({{"m.weight", {6}}}, {"^m$ => RmsNorm"}, {"^m$ => RmsNorm"}, {"m.gamma"});
  check_round_trip({{"m.weight", {6}}}, {"^m$ => PRelu"}, {}, {"m.alpha"});
  check_round_trip({{"m.weight", {6}}, {"m.bias", {6}}, {"m.running_mean", {6}}, {"m.running_var", {6}}}, {},
                   {}, {"m.gamma", "m.beta", "m.running_mean", "m.running_var"});
  check_round_trip({{"m.anything", {5, 3}}}, {}, {}, {"m.anything"});
}

TEST_CASE("what burn has no place for is dropped by name") {
  const Shapes shapes{{"n.weight", {6}},
                      {"n.bias", {6}},
                      {"n.running_mean", {6}},
                      {"n.running_var", {6}},
                      {"n.num_batches_tracked", {}}};
  const LaidOut batch = lay(filled(shapes), to_burn);
  CHECK(batch.report.dropped == std::vector<std::string>{"n.num_batches_tracked"});
  CHECK(names_of(batch.checkpoint) ==
        std::vector<std::string>{"n.gamma", "n.beta", "n.running_mean", "n.running_var"});
  REQUIRE(batch.report.steps.size() == 5);
  CHECK(batch.report.steps.back().is_dropped);
  CHECK(batch.report.steps.back().from == std::vector<std::string>{"n.num_batches_tracked"});
  const LaidOut instance = lay(filled(shapes), to_burn, {"^n$ => InstanceNorm"});
  CHECK(names_of(instance.checkpoint) == std::vector<std::string>{"n.gamma", "n.beta"});
  CHECK(instance.report.dropped.size() == 3);
}

TEST_CASE("BERT's gamma and beta and ConvNeXt's gamma keep their names on the way to burn") {
  const LaidOut burn = lay(filled({{"LayerNorm.gamma", {4}},
                                   {"LayerNorm.beta", {4}},
                                   {"block.gamma", {4}},
                                   {"block.dwconv.weight", {4, 1, 7, 7}}}),
                           to_burn);
  CHECK(names_of(burn.checkpoint) ==
        std::vector<std::string>{"LayerNorm.gamma", "LayerNorm.beta", "block.gamma", "block.dwconv.weight"});
  CHECK(std::ranges::none_of(burn.report.steps, &LayoutStep::is_renamed));
}

TEST_CASE("fused attention is cut into three, each transposed, and joined again") {
  const Shapes shapes{{"a.in_proj_weight", {12, 4}},
                      {"a.in_proj_bias", {12}},
                      {"a.out_proj.weight", {4, 4}},
                      {"a.out_proj.bias", {4}}};
  const LaidOut burn = lay(filled(shapes), to_burn);
  const Contents torch = contents(checkpoint_of(filled(shapes)));
  const Contents found = contents(burn.checkpoint);
  const std::vector<std::string> thirds{"query", "key", "value"};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(found.at("a." + thirds[i] + ".weight") ==
          std::pair{Shape{4, 4}, transposed_rows(torch.at("a.in_proj_weight").second, 4, 4 * i, 4)});
    CHECK(found.at("a." + thirds[i] + ".bias") ==
          std::pair{Shape{4}, part(torch.at("a.in_proj_bias").second, 4 * i, 4)});
  }
  CHECK(found.at("a.output.weight").second == transposed_rows(torch.at("a.out_proj.weight").second, 4, 0, 4));
  CHECK(found.at("a.output.bias").second == torch.at("a.out_proj.bias").second);
  CHECK(burn.report.split == 2);
  CHECK(burn.report.parts == 6);

  const LaidOut again = lay(burn.checkpoint.tensors, to_torch);
  CHECK(contents(again.checkpoint) == torch);
  CHECK(again.report.merged == 6);
  CHECK(again.report.wholes == 2);
}

TEST_CASE("attention at the top level and without biases comes back too") {
  check_round_trip({{"in_proj_weight", {12, 4}}, {"out_proj.weight", {4, 4}}}, {}, {},
                   {"query.weight", "key.weight", "value.weight", "output.weight"});
}

TEST_CASE("attention with keys and values of other widths keeps separate matrices and one fused bias") {
  const Shapes shapes{{"a.q_proj_weight", {4, 4}}, {"a.k_proj_weight", {4, 5}},   {"a.v_proj_weight", {4, 6}},
                      {"a.in_proj_bias", {12}},    {"a.out_proj.weight", {4, 4}}, {"a.out_proj.bias", {4}}};
  check_round_trip(shapes, {}, {},
                   {"a.query.weight", "a.key.weight", "a.value.weight", "a.query.bias", "a.key.bias",
                    "a.value.bias", "a.output.weight", "a.output.bias"});
  const Contents burn = contents(lay(filled(shapes), to_burn).checkpoint);
  CHECK(burn.at("a.key.weight").first == Shape{5, 4});
  CHECK(burn.at("a.value.weight").first == Shape{6, 4});
}

TEST_CASE("recurrent modules are taken apart gate by gate, in PyTorch's order, and come back") {
  const auto check = [](std::uint64_t count, const std::vector<std::string>& gates) {
    const std::vector<Tensor> torch = filled(recurrent("r", count));
    const LaidOut burn = lay(torch, to_burn);
    CHECK(burn.checkpoint.tensors.size() == 4 * count);
    check_gates(contents(checkpoint_of(torch)), contents(burn.checkpoint), "r", "", "r", gates);
    CHECK(contents(lay(burn.checkpoint.tensors, to_torch).checkpoint) == contents(checkpoint_of(torch)));
  };
  check(4, lstm_gates);
  check(3, gru_gates);
  check(1, {"gate"});
}

TEST_CASE("a bidirectional module has a forward and a reverse half in burn") {
  const auto check = [](std::uint64_t count, const std::vector<std::string>& gates) {
    const std::vector<Tensor> torch =
        filled(joined_shapes(recurrent("r", count), recurrent("r", count, "_reverse")));
    const LaidOut burn = lay(torch, to_burn);
    const Contents before = contents(checkpoint_of(torch));
    check_gates(before, contents(burn.checkpoint), "r", "", "r.forward", gates);
    check_gates(before, contents(burn.checkpoint), "r", "_reverse", "r.reverse", gates);
    CHECK(contents(lay(burn.checkpoint.tensors, to_torch).checkpoint) == before);
  };
  check(4, lstm_gates);
  check(3, gru_gates);
  check(1, {"gate"});
}

TEST_CASE("a second layer, a projection and extra biases have no place in burn and are refused") {
  for (const Shapes& more : {Shapes{{"r.weight_ih_l1", {12, 3}}}, Shapes{{"r.weight_hr_l0", {2, 3}}}}) {
    const Error error = error_of([&] { lay(filled(joined_shapes(recurrent("r", 4), more)), to_burn); });
    CHECK(error.kind() == ErrorKind::refused);
    CHECK(error.file() == "model.pt");
    CHECK(contains(error.message(), more.front().first));
    CHECK(contains(error.hint(), "--module '^r$ => none'"));
  }
  const Error error =
      error_of([&] { lay(filled({{"a.in_proj_weight", {12, 4}}, {"a.bias_k", {1, 1, 4}}}), to_burn); });
  CHECK(contains(error.message(), "a.bias_k"));
}

TEST_CASE("a recurrent module whose gates do not fit any kind is refused, not passed on") {
  // proj_size: weight_hh has as many columns as the projection.
  const Shapes shapes{{"r.weight_ih_l0", {12, 5}}, {"r.weight_hh_l0", {12, 2}}, {"r.weight_hr_l0", {2, 3}}};
  CHECK(error_of([&] { lay(filled(shapes), to_burn); }).kind() == ErrorKind::refused);
  CHECK(lay(filled(shapes), to_burn, {"^r$ => none"}).checkpoint.tensors.size() == 3);
}

TEST_CASE("a part that is missing on the way to PyTorch is named") {
  Shapes shapes{{"a.query.weight", {4, 4}}, {"a.key.weight", {4, 4}}, {"a.value.weight", {4, 4}},
                {"a.query.bias", {4}},      {"a.value.bias", {4}},    {"a.output.weight", {4, 4}}};
  const Error error = error_of([&] { lay(filled(shapes), to_torch); });
  CHECK(error.kind() == ErrorKind::refused);
  CHECK(contains(error.message(), "a.key.bias"));
  CHECK(contains(error.message(), "a.in_proj_bias"));
}

TEST_CASE("parts that are no vectors or of different types cannot be joined") {
  const Shapes weights{{"a.query.weight", {4, 4}},
                       {"a.key.weight", {4, 4}},
                       {"a.value.weight", {4, 4}},
                       {"a.output.weight", {4, 4}}};
  const Shapes scalars{{"a.query.bias", {}}, {"a.key.bias", {}}, {"a.value.bias", {}}};
  CHECK(error_of([&] { lay(filled(joined_shapes(weights, scalars)), to_torch); }).kind() ==
        ErrorKind::refused);
  std::vector<Tensor> tensors = filled(weights);
  tensors[1] = plain("a.key.weight", DType::f16, {4, 4}, std::vector<std::uint16_t>(16));
  const Error error = error_of([&] { lay(tensors, to_torch); });
  CHECK(error.kind() == ErrorKind::refused);
  CHECK(contains(error.message(), "F16"));
}

TEST_CASE("rows that cannot be cut into equal parts are refused") {
  const Error error = error_of([&] { lay(filled({{"a.in_proj_weight", {13, 4}}}), to_burn); });
  CHECK(error.kind() == ErrorKind::refused);
  CHECK(contains(error.message(), "a.in_proj_weight [13, 4]"));
  CHECK(error_of([&] {
          lay(filled({{"a.in_proj_weight", {12, 4}}, {"a.in_proj_bias", {}}}), to_burn);
        }).kind() == ErrorKind::refused);
}

TEST_CASE("a Linear whose weight is no matrix is refused") {
  for (const Direction direction : {to_burn, to_torch})
    CHECK(error_of([&] { lay(filled({{"m.weight", {2, 2, 3, 4}}}), direction, {"^m$ => Linear"}); }).kind() ==
          ErrorKind::refused);
}

TEST_CASE("of a stack of matrices that is said to be a Linear's each is transposed") {
  for (const Direction direction : {to_burn, to_torch}) {
    const LaidOut laid = lay(filled({{"m.weight", {2, 2, 3}}}), direction, {"^m$ => Linear"});
    CHECK(contents(laid.checkpoint) ==
          Contents{{"m.weight", {{2, 3, 2}, {1, 4, 2, 5, 3, 6, 7, 10, 8, 11, 9, 12}}}});
  }
}

TEST_CASE("packed data is refused where it would have to be transposed, and passes where not") {
  const auto packed = [](DType dtype) {
    return plain("m.weight", dtype, {4, 8}, std::vector<std::byte>(32));
  };
  for (const DType dtype : {DType::f4, DType::f6_e2m3, DType::f6_e3m2, DType::qfloat}) {
    for (const Direction direction : {to_burn, to_torch}) {
      const Error error = error_of([&] { lay({packed(dtype)}, direction, {"^m$ => Linear"}); });
      CHECK(error.kind() == ErrorKind::refused);
      CHECK(contains(error.message(), "packed"));
      CHECK(contains(error.hint(), "--module '^m$ => none'"));
      CHECK(lay({packed(dtype)}, direction, {"^m$ => Embedding"}).checkpoint.tensors.size() == 1);
    }
  }
}

TEST_CASE("all undecided tensors are listed, with lines that settle them") {
  const Error error = error_of(
      [&] { lay(filled({{"a.proj.weight", {4, 4}}, {"b+.weight", {4, 4}}, {"c.x.weight", {4}}}), to_burn); });
  CHECK(error.kind() == ErrorKind::refused);
  CHECK(contains(error.message(), "3 tensors is undecided"));
  CHECK(contains(error.message(), "a.proj.weight [4, 4] ("));
  CHECK(contains(error.hint(), "--module '^a\\.proj$ => Linear'"));
  CHECK(contains(error.hint(), "--module '^b\\+$ => Linear'"));
  CHECK(contains(error.hint(), "--module '^c\\.x$ => RmsNorm'"));
}

TEST_CASE("the lines of the hint do settle what is undecided") {
  const std::string name = R"(a\.^$|()[]{}*+?)";
  const Shapes shapes{{name + ".weight", {4, 4}}};
  const std::string hint = error_of([&] { lay(filled(shapes), to_burn); }).hint();
  const std::size_t begin = hint.find("--module '") + 10;
  const std::string line = hint.substr(begin, hint.find('\'', begin) - begin);
  CHECK(lay(filled(shapes), to_burn, {line}).report.steps.front().is_transposed);
}

TEST_CASE("many undecided tensors are counted, not all shown") {
  Shapes shapes;
  for (int i = 0; i < 25; ++i) shapes.emplace_back(fmt::format("m{}.weight", i), Shape{4, 4});
  const Error error = error_of([&] { lay(filled(shapes), to_burn); });
  CHECK(contains(error.message(), "25 tensors is undecided"));
  CHECK(contains(error.message(), "and 15 more"));
}

TEST_CASE("two names that become one are refused, both named") {
  const Error error =
      error_of([&] { lay(filled({{"n.weight", {4}}, {"n.bias", {4}}, {"n.gamma", {4}}}), to_burn); });
  CHECK(error.kind() == ErrorKind::refused);
  CHECK(contains(error.message(), "n.gamma"));
  CHECK(contains(error.message(), "n.weight"));
}

TEST_CASE("parts lose the param id of the whole, and the whole has none of its parts") {
  std::vector<Tensor> tensors = filled({{"a.in_proj_weight", {12, 4}}, {"a.out_proj.weight", {4, 4}}});
  for (Tensor& tensor : tensors) tensor.param_id = 5;
  const LaidOut burn = lay(tensors, to_burn);
  for (const Tensor& tensor : burn.checkpoint.tensors)
    CHECK(tensor.param_id.has_value() == (tensor.name == "a.output.weight"));
}

namespace {

Shapes encoder_layer(const std::string& path) {
  return {{path + ".self_attn.in_proj_weight", {12, 4}},
          {path + ".self_attn.in_proj_bias", {12}},
          {path + ".self_attn.out_proj.weight", {4, 4}},
          {path + ".self_attn.out_proj.bias", {4}},
          {path + ".linear1.weight", {6, 4}},
          {path + ".linear1.bias", {6}},
          {path + ".linear2.weight", {4, 6}},
          {path + ".linear2.bias", {4}},
          {path + ".norm1.weight", {4}},
          {path + ".norm1.bias", {4}},
          {path + ".norm2.weight", {4}},
          {path + ".norm2.bias", {4}}};
}

}  // namespace

TEST_CASE("the order of a transformer layer's norms is asked for, once for all layers") {
  const Shapes shapes = joined_shapes(encoder_layer("layers.0"), encoder_layer("layers.1"));
  const Error error = error_of([&] { lay(filled(shapes), to_burn); });
  CHECK(error.kind() == ErrorKind::refused);
  CHECK(contains(error.message(), "2 tensors is undecided: layers.0.norm1.weight"));
  CHECK(contains(error.hint(), "--module '^layers\\.\\d+$ => TransformerEncoderLayer'"));
  CHECK_FALSE(contains(error.hint(), "layers\\.0"));
}

TEST_CASE("a layer's norms change places when norm_first is said") {
  const Contents torch = contents(checkpoint_of(filled(encoder_layer("l"))));
  const Contents after =
      contents(lay(filled(encoder_layer("l")), to_burn, {"^l$ => TransformerEncoderLayer"}).checkpoint);
  CHECK(after.at("l.norm_1.gamma") == torch.at("l.norm1.weight"));
  CHECK(after.at("l.norm_2.beta") == torch.at("l.norm2.bias"));
  for (const char* kind : {"(norm_first)", "(norm_first=True)"}) {
    const Contents first = contents(
        lay(filled(encoder_layer("l")), to_burn, {std::string("^l$ => TransformerEncoderLayer") + kind})
            .checkpoint);
    CHECK(first.at("l.norm_2.gamma") == torch.at("l.norm1.weight"));
    CHECK(first.at("l.norm_1.beta") == torch.at("l.norm2.bias"));
    CHECK(first.at("l.pwff.linear_inner.bias") == torch.at("l.linear1.bias"));
  }
}

TEST_CASE("a layer that is none is taken apart into its parts") {
  const LaidOut burn = lay(filled(encoder_layer("l")), to_burn, {"^l$ => none"});
  CHECK(contents(burn.checkpoint).contains("l.self_attn.query.weight"));
  CHECK(contents(burn.checkpoint).contains("l.norm1.gamma"));
  CHECK(burn.report.decisions.front().path == "l");
}

TEST_CASE("weights that PyTorch keeps in parts are refused, not passed on as they are") {
  for (const Shapes& shapes : {Shapes{{"c.weight_g", {3, 1, 1}}, {"c.weight_v", {3, 2, 5}}, {"c.bias", {3}}},
                               Shapes{{"c.weight_orig", {3, 4}}, {"c.weight_u", {3}}, {"c.weight_v", {4}}},
                               Shapes{{"c.parametrizations.weight.original0", {3, 1}},
                                      {"c.parametrizations.weight.original1", {3, 4}}}}) {
    const Error error = error_of([&] { lay(filled(shapes), to_burn); });
    CHECK(error.kind() == ErrorKind::refused);
    CHECK(contains(error.message(), "remove_weight_norm"));
  }
  CHECK(lay(filled({{"c.weight_g", {3, 1}}, {"c.weight_v", {3, 5}}}), to_burn, {"^c$ => none"})
            .checkpoint.tensors.size() == 2);
}

TEST_CASE("further layers of a recurrent module are refused with the rule that makes a list of them") {
  Shapes shapes = recurrent("rnn.lstm", 4);
  for (auto& [name, shape] : recurrent("rnn.lstm", 4))
    shapes.emplace_back(name.substr(0, name.size() - 1) + "1", shape);
  const Error error = error_of([&] { lay(filled(shapes), to_burn); });
  CHECK(error.kind() == ErrorKind::refused);
  CHECK(
      contains(error.hint(), "--rename '^rnn\\.lstm\\.(\\w+)_l(\\d+)(_reverse)?$ => rnn.lstm.$2.${1}_l0$3'"));
  const std::size_t begin = error.hint().find("--rename '") + 10;
  const Rule rule = parse_rule(error.hint().substr(begin, error.hint().rfind('\'') - begin));
  std::vector<Tensor> tensors = filled(shapes);
  for (Tensor& tensor : tensors) tensor.name = rule.replacement.replace_all(tensor.name, rule.pattern).first;
  CHECK(contents(lay(tensors, to_burn).checkpoint).contains("rnn.lstm.1.cell_gate.hidden_transform.bias"));
}

TEST_CASE("a cell has the gates of its layer, under names without a number") {
  const std::vector<Tensor> cell =
      filled({{"c.weight_ih", {12, 5}}, {"c.weight_hh", {12, 3}}, {"c.bias_ih", {12}}, {"c.bias_hh", {12}}});
  const LaidOut burn = lay(cell, to_burn);
  CHECK(burn.report.decisions.front().kind->name == "LSTMCell");
  CHECK(contents(lay(burn.checkpoint.tensors, to_torch, {"^c$ => LSTMCell"}).checkpoint) ==
        contents(checkpoint_of(cell)));
  // Without that, burn's names are a layer's.
  CHECK(contents(lay(burn.checkpoint.tensors, to_torch).checkpoint).contains("c.weight_ih_l0"));
}

TEST_CASE("what was left alone, or was no part of a fused module, is noted and comes back as it was") {
  for (const Shapes& shapes :
       {Shapes{{"a.query.weight", {4, 4}},
               {"a.key.weight", {4, 4}},
               {"a.value.weight", {4, 4}},
               {"a.output.weight", {4, 4}},
               {"a.norm.weight", {4}},
               {"a.norm.bias", {4}}},
        Shapes{{"a.alpha", {3}}}, Shapes{{"a.gamma", {3}}}, Shapes{{"a.gamma", {3}}, {"a.beta", {3}}},
        Shapes{{"gamma", {3}}, {"beta", {3}}, {"alpha", {3}}}}) {
    const Checkpoint torch = checkpoint_of(filled(shapes));
    const Checkpoint noted = take_recorded_kinds(lay(torch.tensors, to_burn).checkpoint);
    CHECK(contents(lay(noted.tensors, to_torch).checkpoint) == contents(torch));
  }
}

TEST_CASE("what PyTorch's module has no place for is refused on the way back") {
  const Error error = error_of([] {
    lay(filled({{"a.query.weight", {4, 4}},
                {"a.key.weight", {4, 4}},
                {"a.value.weight", {4, 4}},
                {"a.output.weight", {4, 4}},
                {"a.norm.gamma", {4}}}),
        to_torch, {"^a$ => MultiheadAttention"});
  });
  CHECK(contains(error.message(), "a.norm.gamma: PyTorch's MultiheadAttention has no place for it"));
}

TEST_CASE("what cannot be transposed or cut as its module says is refused by name") {
  const auto refusal = [](std::vector<Tensor> tensors, const std::string& line) {
    return message_of([&] { lay(std::move(tensors), to_burn, {line}); });
  };
  const std::vector<std::byte> bytes(8);
  CHECK(contains(refusal({plain("fc.weight", DType::f4, {4, 4}, bytes)}, "fc => Linear"),
                 "tensor fc.weight: F4 data is packed and cannot be transposed"));
  CHECK(contains(refusal({counting("fc.weight", {4}), counting("fc.bias", {4})}, "fc => Linear"), "fc"));
  const Tensor stacked = joined("fc.weight", {counting("a", {2, 4}), counting("b", {2, 4})});
  CHECK(contains(refusal({stacked}, "fc => Linear"),
                 "tensor fc.weight is joined from others and cannot be transposed"));
}

TEST_CASE("a given kind that no tensor has a name for is told of") {
  const auto idle = [](const Shapes& shapes, const std::string& line) {
    return lay(filled(shapes), to_burn, {line}).report.idle;
  };
  using Paths = std::vector<std::string>;
  CHECK(idle({{"experts.w1", {2, 3, 4}}}, "experts => Linear") == Paths{"experts"});
  CHECK(idle({{"fc.weight", {3, 4}}}, "fc => Linear").empty());
  CHECK(idle({{"fc.scale", {3, 4}}}, "fc => none").empty());
}

TEST_CASE("norms that PyTorch named are told of, coming from burn") {
  const auto foreign = [](const Shapes& shapes, Direction direction) {
    return lay(filled(shapes), direction).report.foreign;
  };
  using Paths = std::vector<std::string>;
  CHECK(foreign({{"ln.weight", {4}}, {"ln.bias", {4}}}, to_torch) == Paths{"ln"});
  CHECK(foreign({{"ln.gamma", {4}}, {"ln.beta", {4}}}, to_torch).empty());
  CHECK(foreign({{"ln.weight", {4}}, {"ln.bias", {4}}}, to_burn).empty());
}

TEST_CASE("for names alone what is undecided is guessed, and told") {
  const Checkpoint checkpoint = checkpoint_of(
      filled({{"a.weight", {4, 4}}, {"b.weight", {4}}, {"fc.weight", {3, 4}}, {"fc.bias", {3}}}));
  CHECK(error_of([&] { lay_out(checkpoint, to_burn, {}); }).kind() == ErrorKind::refused);
  const LaidOut laid = lay_out(checkpoint, to_burn, {}, nullptr, nullptr, Undecided::guessed);
  CHECK(laid.report.guessed == std::vector<std::string>{"a", "b"});
  CHECK(names_of(laid.checkpoint) == std::vector<std::string>{"a.weight", "b.gamma", "fc.weight", "fc.bias"});
}
