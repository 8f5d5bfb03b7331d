#include "ckpt/training/join.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

Checkpoint model() {
  Checkpoint checkpoint = checkpoint_of(
      {counting("fc.weight", {3, 4}), counting("fc.bias", {3}), counting("bn.weight", {3}),
       counting("bn.bias", {3}), counting("bn.running_mean", {3}), counting("bn.running_var", {3}),
       plain("bn.num_batches_tracked", DType::i64, {}, std::vector<std::int64_t>{5}),
       counting("head.weight", {2, 3})});
  Tensor tied = checkpoint.tensors.front();
  tied.name = "tied.weight";
  checkpoint.tensors.push_back(std::move(tied));
  return checkpoint;
}

/// A state of groups of positions, whose moments have these shapes; a shape of {0} has none.
OptimizerState state(const std::vector<std::vector<Shape>>& groups) {
  OptimizerState result;
  result.kind = find_optimizer("Adam");
  std::size_t position = 0;
  for (const std::vector<Shape>& shapes : groups) {
    ParameterGroup& group = result.groups.emplace_back();
    for (const Shape& shape : shapes) {
      group.keys.push_back(std::to_string(position++));
      if (shape == Shape{0}) continue;
      result.parameters.push_back(
          {.key = group.keys.back(), .name = "", .moments = {counting("exp_avg", shape)}});
    }
  }
  return result;
}

}  // namespace

TEST_CASE("parameters are counted as model.parameters() does: no buffers, no integers, tied ones once") {
  std::vector<std::string> names;
  const Checkpoint checkpoint = model();
  for (const Tensor* tensor : parameters_of(checkpoint)) names.push_back(tensor->name);
  CHECK(names == std::vector<std::string>{"fc.weight", "fc.bias", "bn.weight", "bn.bias", "head.weight"});
}

TEST_CASE("positions follow the model's order, and it is said what no shape proves") {
  OptimizerState s = state({{{3, 4}, {3}, {3}, {3}, {2, 3}}});
  const Join join = join_by_position(s, model());
  CHECK(join.problem.empty());
  CHECK(join.names ==
        std::vector<std::string>{"fc.weight", "fc.bias", "bn.weight", "bn.bias", "head.weight"});
  CHECK(join.open == std::vector<std::string>{"fc.bias", "bn.weight", "bn.bias"});
  CHECK_FALSE(join.is_ambiguous);
  CHECK(s.parameters[4].name == "head.weight");
  CHECK(s.groups[0].keys[4] == "head.weight");
}

TEST_CASE("groups are taken out of the model in its order where the shapes leave one way") {
  OptimizerState s = state({{{3, 4}, {2, 3}}, {{3}, {3}, {3}}});
  const Join join = join_by_position(s, model());
  CHECK(join.names ==
        std::vector<std::string>{"fc.weight", "head.weight", "fc.bias", "bn.weight", "bn.bias"});
}

TEST_CASE("a parameter without state keeps its position") {
  OptimizerState s = state({{{3, 4}, {0}, {0}, {0}, {2, 3}}});
  const Join join = join_by_position(s, model());
  CHECK(join.problem.empty());
  CHECK(s.parameters.size() == 2);
  CHECK(s.parameters[1].name == "head.weight");
}

TEST_CASE("what the shapes leave open is refused, also where the model's own order fits") {
  const auto require_refusal = [](const std::vector<std::vector<Shape>>& groups, const Checkpoint& of) {
    OptimizerState open = state(groups);
    const Join join = join_by_position(open, of);
    CHECK(join.problem.find("in several orders") != std::string::npos);
    CHECK(join.is_ambiguous);
    CHECK(join.names.empty());
    CHECK(std::ranges::all_of(open.parameters, [](const ParameterState& p) { return p.name.empty(); }));
  };
  require_refusal({{{3}}, {{3}, {3}}}, model());
  require_refusal({{{3}, {3}}}, model());  // a group of some, where two of three vectors are trained
  // `Adam([{a}, {b}, {c}])` and `Adam([{c}, {b}, {a}])` over equal layers are the same file.
  const Checkpoint equal = checkpoint_of({counting("a.weight", {4, 4}), counting("a.bias", {4}),
                                          counting("b.weight", {4, 4}), counting("b.bias", {4})});
  require_refusal({{{4, 4}, {4}}, {{4, 4}, {4}}}, equal);
  require_refusal({{{3, 4}, {3}}, {{3}, {3}, {2, 3}}}, model());
  // A parameter without state may be any.
  require_refusal({{{0}, {4, 4}}, {{4}}}, equal);
}

TEST_CASE("equal layers leave one way where rank or shape tells the group of every parameter") {
  const Checkpoint layers =
      checkpoint_of({counting("a.weight", {4, 4}), counting("a.bias", {4}), counting("b.weight", {4, 4}),
                     counting("b.bias", {4}), counting("norm.weight", {4}), counting("head.weight", {2, 4})});
  OptimizerState decay = state({{{4, 4}, {4, 4}, {2, 4}}, {{4}, {4}, {4}}});
  const Join join = join_by_position(decay, layers);
  CHECK(join.problem.empty());
  CHECK_FALSE(join.is_ambiguous);
  CHECK(join.names ==
        std::vector<std::string>{"a.weight", "b.weight", "head.weight", "a.bias", "b.bias", "norm.weight"});
  OptimizerState empty = state({{{4, 4}, {4}, {4, 4}, {4}, {4}, {2, 4}}, {}});
  CHECK(join_by_position(empty, layers).names.back() == "head.weight");
  OptimizerState head_first = state({{{2, 4}}, {{4, 4}, {4}, {4, 4}, {4}, {4}}});
  CHECK(join_by_position(head_first, layers).names.front() == "head.weight");
}

TEST_CASE("shapes that fit no order are told of") {
  OptimizerState s = state({{{4, 3}, {3}, {3}, {3}, {2, 3}}});
  CHECK(join_by_position(s, model()).problem ==
        "the state of parameter 0 has the shape [4, 3], but the model's is fc.weight [3, 4]; no order of the "
        "model's "
        "parameters fits");
  OptimizerState many = state({{{3}, {3}, {3}, {3}, {3}, {3}}});
  CHECK(join_by_position(many, model()).problem == "the optimizer has 6 parameters, the model 5");
}

TEST_CASE("names decide where the file or the user states them, and shapes are checked all the same") {
  OptimizerState s = state({{{2, 3}, {3, 4}}});
  CHECK(join_by_position(s, model(), {"head.weight", "fc.weight"}).problem.empty());
  CHECK(s.parameters[0].name == "head.weight");
  OptimizerState wrong = state({{{2, 3}, {3, 4}}});
  CHECK(join_by_position(wrong, model(), {"fc.weight", "head.weight"}).problem ==
        "exp_avg of parameter 0 has the shape [2, 3], but fc.weight is [3, 4]");
  OptimizerState noted = state({{{2, 3}, {3, 4}}});
  noted.groups[0].names = {"head.weight", "fc.weight"};
  CHECK(join_by_position(noted, model()).names.front() == "head.weight");
}

TEST_CASE("a name or a position that stands twice joins nothing, as one of two states would be lost") {
  const auto require_refusal = [](OptimizerState twice, const std::vector<std::string>& names,
                                  std::string_view problem) {
    const Join join = join_by_position(twice, model(), names);
    CHECK(join.problem == problem);
    CHECK_FALSE(join.hint.empty());
    CHECK(join.names.empty());
    CHECK(std::ranges::all_of(twice.parameters, [](const ParameterState& p) { return p.name.empty(); }));
  };
  const OptimizerState vectors = state({{{3}, {3}}, {{3}}});
  require_refusal(
      vectors, {"bn.bias", "fc.bias", "bn.bias"},
      "the names of --param-names: bn.bias stands twice, at the positions 0 and 2 (counted from 0)");
  OptimizerState noted = vectors;
  noted.groups[0].names = {"fc.bias", "bn.weight"};
  noted.groups[1].names = {"bn.weight"};
  require_refusal(
      noted, {}, "the file's param_names: bn.weight stands twice, at the positions 1 and 2 (counted from 0)");
  OptimizerState positions = vectors;
  positions.groups[1].keys = {"0"};
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{}, {"fc.bias", "bn.weight", "bn.bias"}})
    require_refusal(positions, names,
                    "the groups' params have 0 twice, as their items 0 and 2 (counted from 0): nothing says "
                    "which parameters the states are of");
}

TEST_CASE("burn's parameters are found by their ids") {
  Checkpoint with_ids = model();
  with_ids.tensors[0].param_id = 11;
  OptimizerState s = state({{{3, 4}, {3}}});
  s.parameters[0].param_id = 11;
  s.parameters[1].param_id = 12;
  s.groups[0].keys = {"12", "11"};
  const Join join = join_by_id(s, with_ids);
  CHECK(join.problem.empty());
  CHECK(s.parameters[0].name == "fc.weight");
  CHECK(s.parameters[1].name.empty());
  CHECK(s.groups[0].keys == std::vector<std::string>{"fc.weight"});
  s.groups[0].keys = {"11", "12", "11"};
  CHECK(join_by_id(s, with_ids).problem == "the groups that the record notes have fc.weight twice");
}

TEST_CASE("what joins no state to a model is said") {
  OptimizerState s = state({{{3, 4}, {3}, {3}, {3}, {2, 3}}});
  CHECK(
      join_by_position(s, model(), {"fc.weight", "fc.bias"}).problem.find("the optimizer has 5 parameters") !=
      std::string::npos);
  s = state({{{3, 4}, {3}, {3}, {3}, {2, 3}}});
  CHECK(join_by_position(s, model(), {"fc.weight", "fc.bias", "bn.weight", "bn.bias", "gone"})
            .problem.find("the model has no parameter gone") != std::string::npos);
  s = state({{{3, 4}, {3}, {3}, {3}, {2, 9}}});
  CHECK(
      join_by_position(s, model(), {"fc.weight", "fc.bias", "bn.weight", "bn.bias", "head.weight"}).problem ==
      "exp_avg of parameter 4 has the shape [2, 9], but head.weight is [2, 3]");
  s = state({{{3, 4}, {3}, {3}, {3}, {2, 3}, {1}}});
  CHECK(join_by_position(s, model()).problem == "the optimizer has 6 parameters, the model 5");

  OptimizerState record = state({{{3, 4}}});
  record.parameters[0].param_id = 9;
  CHECK(join_by_id(record, model()).problem ==
        "the model's tensors have no ids, by which burn's record names its parameters");
  Checkpoint with_ids = model();
  with_ids.tensors[1].param_id = 9;
  CHECK(join_by_id(record, with_ids).problem ==
        "exp_avg of parameter 0 has the shape [3, 4], but fc.bias is [3]");
}

TEST_CASE("a square matrix does not tell the layout of a model, another that burn transposes does") {
  const auto open = [](std::vector<Tensor> tensors, const char* rule = "^x$ => none") {
    const Checkpoint checkpoint = checkpoint_of(std::move(tensors));
    std::vector<std::vector<Shape>> shapes(1);
    for (const Tensor& tensor : checkpoint.tensors) shapes[0].push_back(tensor.shape);
    OptimizerState s = state(shapes);
    REQUIRE(join_by_position(s, checkpoint).problem.empty());
    std::vector<KindRule> rules;
    rules.push_back(parse_kind_rule(rule));
    return matrices_of_open_layout(s, checkpoint, rules);
  };
  const Tensor square = counting("a.weight", {4, 4});
  const Tensor bias = counting("a.bias", {4});
  CHECK(open({square, bias}) == std::vector<std::string>{"a.weight"});
  CHECK(open({square}) == std::vector<std::string>{"a.weight"});  // undecided
  CHECK(open({square, bias, counting("tok_emb.weight", {9, 4})}) == std::vector<std::string>{"a.weight"});
  CHECK(open({square, bias, counting("head.weight", {2, 4}), counting("head.bias", {2})}).empty());
  CHECK(open({square, bias}, "^a$ => none").empty());
  CHECK(open({counting("conv.weight", {4, 4, 3}), counting("norm.weight", {4})}).empty());
}
