#include "ckpt/training/carry.hpp"

#include <catch2/catch.hpp>

#include "ckpt/training/burn_state.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

Checkpoint attention() {
  return checkpoint_of({counting("a.in_proj_weight", {6, 2}), counting("a.in_proj_bias", {6}),
                        counting("a.out_proj.weight", {2, 2}), counting("a.out_proj.bias", {2})});
}

OptimizerState momentum_of(const Checkpoint& model, float first) {
  OptimizerState state;
  state.kind = find_optimizer("SGD");
  ParameterGroup& group = state.groups.emplace_back();
  for (const Tensor& tensor : model.tensors) {
    state.parameters.push_back({.key = tensor.name,
                                .name = tensor.name,
                                .step = 4,
                                .moments = {counting("momentum_buffer", tensor.shape, first)}});
    group.keys.push_back(tensor.name);
  }
  return state;
}

const ParameterState& find(const OptimizerState& state, std::string_view name) {
  for (const ParameterState& parameter : state.parameters)
    if (parameter.name == name) return parameter;
  throw std::runtime_error(std::string(name));
}

}  // namespace

TEST_CASE("moments are cut and transposed as their weights are, and every part gets the step") {
  const Carried carried = carry(momentum_of(attention(), 100), attention(), Direction::pytorch_to_burn, {});
  const ParameterState& key = find(carried.state, "a.key.weight");
  CHECK(key.step == 4U);
  CHECK(key.rank == 2U);
  // Rows 2 and 3 of [6, 2], transposed.
  CHECK(values_of<float>(gathered(key.moments.at(0))) == std::vector<float>{104, 106, 105, 107});
  CHECK(carried.state.groups.at(0).keys ==
        std::vector<std::string>{"a.query.weight", "a.key.weight", "a.value.weight", "a.query.bias",
                                 "a.key.bias", "a.value.bias", "a.output.weight", "a.output.bias"});
}

TEST_CASE("the way back joins them again") {
  const Checkpoint torch = attention();
  const LaidOut burn = lay_out(torch, Direction::pytorch_to_burn, {});
  const Carried there = carry(momentum_of(torch, 100), torch, Direction::pytorch_to_burn, {});
  const Carried back = carry(there.state, burn.checkpoint, Direction::burn_to_pytorch, {});
  REQUIRE(back.state.parameters.size() == 4);
  CHECK(gathered(find(back.state, "a.in_proj_weight").moments.at(0)) == gathered(counting("", {6, 2}, 100)));
  CHECK(back.state.groups.at(0).keys == std::vector<std::string>{"a.in_proj_weight", "a.in_proj_bias",
                                                                 "a.out_proj.weight", "a.out_proj.bias"});
}

TEST_CASE("parts that were trained for different steps do not become one") {
  const Checkpoint torch = attention();
  const LaidOut burn = lay_out(torch, Direction::pytorch_to_burn, {});
  Carried there = carry(momentum_of(torch, 0), torch, Direction::pytorch_to_burn, {});
  there.state.parameters[1].step = 5;
  CHECK(message_of([&] { carry(there.state, burn.checkpoint, Direction::burn_to_pytorch, {}); }) ==
        "a.in_proj_weight is joined from parameters that were trained for 4 and 5 steps");
  there.state.parameters.erase(there.state.parameters.begin() + 1);
  CHECK(message_of([&] { carry(there.state, burn.checkpoint, Direction::burn_to_pytorch, {}); }) ==
        "a.in_proj_weight is joined from 3 parameters, of which 2 have an optimizer's state");
}

TEST_CASE("the state of what the model does not hold is lost by name") {
  OptimizerState state = momentum_of(attention(), 0);
  RemapReport report;
  for (const ParameterState& parameter : state.parameters)
    if (parameter.name != "a.in_proj_bias") report.names.push_back({parameter.name, parameter.name, {}});
  follow_names(state, report);
  Checkpoint model = attention();
  model.tensors.erase(model.tensors.begin() + 1);
  const Carried carried = carry(state, model, Direction::none, {});
  CHECK(carried.lost == std::vector<std::string>{"a.in_proj_bias"});
  CHECK(carried.state.parameters.size() == 3);
}

TEST_CASE("of two states of one parameter none is dropped without a word") {
  OptimizerState state = momentum_of(attention(), 0);
  state.parameters[1].name = state.parameters[3].name;
  CHECK(message_of([&] { carry(state, attention(), Direction::none, {}); }) ==
        "two states are those of a.out_proj.bias");
}

TEST_CASE("moments of some of the parameters that become one are no moments of it") {
  const Checkpoint torch = attention();
  const LaidOut burn = lay_out(torch, Direction::pytorch_to_burn, {});
  const Carried there = carry(momentum_of(torch, 100), torch, Direction::pytorch_to_burn, {});
  const auto back = [&](const OptimizerState& state) {
    return message_of([&] { carry(state, burn.checkpoint, Direction::burn_to_pytorch, {}); });
  };
  OptimizerState without = there.state;
  for (ParameterState& parameter : without.parameters)
    if (parameter.name == "a.key.weight") parameter.moments.clear();
  CHECK(back(without) == "a.in_proj_weight is joined from 3 parameters, of which 2 have momentum_buffer");
  std::erase_if(without.parameters, [](const ParameterState& p) { return p.name == "a.key.weight"; });
  CHECK(back(without) ==
        "a.in_proj_weight is joined from 3 parameters, of which 2 have an optimizer's state");
}

TEST_CASE("names follow the edits that gave a tensor another one") {
  OptimizerState state = momentum_of(checkpoint_of({counting("a", {2}), counting("b", {2})}), 0);
  EditReport report;
  report.edits = {{"a.new", {"a"}, ""}, {"both", {"a", "b"}, ""}};
  follow_names(state, report);
  CHECK(state.parameters[0].name == "a.new");
  CHECK(state.parameters[1].name == "b");
  CHECK(state.groups[0].keys == std::vector<std::string>{"a.new", "b"});
}
