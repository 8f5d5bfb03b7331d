#include "ckpt/training/order.hpp"

#include <catch2/catch.hpp>

#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

using Names = std::vector<std::string>;

Checkpoint model_of(const Names& names) {
  Checkpoint model;
  for (const std::string& name : names) model.tensors.push_back(counting(name, {2, 2}));
  return model;
}

/// Groups of these names, each with a rate of its own; all parameters but `frozen` have a state.
OptimizerState state_of(const std::vector<Names>& groups) {
  OptimizerState state;
  state.kind = find_optimizer("Adam");
  double rate = 0;
  for (const Names& names : groups) {
    state.groups.push_back({Value::object().set("lr", rate += 1), names, {}});
    for (const std::string& name : names)
      if (name != "frozen") state.parameters.push_back({.key = name, .name = name});
  }
  return state;
}

std::vector<Names> keys(const OptimizerState& state) {
  std::vector<Names> all;
  for (const ParameterGroup& group : state.groups) all.push_back(group.keys);
  return all;
}

}  // namespace

TEST_CASE("groups that followed their model follow the one that is written") {
  OptimizerState state = state_of({{"a", "c"}, {"b", "d"}});
  const Ordering ordering = follow_order(state, model_of({"d", "c", "b", "a"}), {"a", "b", "c", "d"});
  CHECK(ordering.is_changed);
  CHECK_FALSE(ordering.is_unproven);
  CHECK(keys(state) == std::vector<Names>{{"c", "a"}, {"d", "b"}});
}

TEST_CASE("a group that was put together by hand stays where the models have one order, else it is told") {
  OptimizerState state = state_of({{"c", "a", "b"}});
  CHECK_FALSE(follow_order(state, model_of({"a", "b", "x", "c"}), {"a", "b", "c"}).is_changed);
  CHECK(keys(state) == std::vector<Names>{{"c", "a", "b"}});
  const Ordering ordering = follow_order(state, model_of({"b", "a", "c"}), {"a", "b", "c"});
  CHECK(ordering.is_changed);
  CHECK(ordering.is_unproven);
  CHECK(keys(state) == std::vector<Names>{{"b", "a", "c"}});
}

TEST_CASE("a group out of the model's order is found; a tied name counts as the first of its place") {
  Checkpoint model = model_of({"a", "b"});
  model.tensors.push_back(model.tensors.front());
  model.tensors.back().name = "tied";
  CHECK(first_out_of_order(state_of({{"a", "b"}}), model).empty());
  CHECK(first_out_of_order(state_of({{"b"}, {"a"}}), model).empty());
  CHECK(first_out_of_order(state_of({{"b", "a"}}), model) == "a");
  CHECK(first_out_of_order(state_of({{"b", "tied"}}), model) == "tied");
  CHECK(first_out_of_order(state_of({{"tied", "b"}}), model).empty());
}

TEST_CASE("the groups of a target's optimizer are taken with the settings of the source's") {
  OptimizerState state = state_of({{"a", "b"}, {"c", "d"}});
  const Ordering ordering = follow_groups(state, state_of({{"frozen", "d"}, {"c"}, {"b", "a"}}));
  CHECK(ordering.is_changed);
  CHECK(keys(state) == std::vector<Names>{{"frozen", "d"}, {"c"}, {"b", "a"}});
  CHECK(*state.groups[0].hypers.find("lr") == Value(2.0));
  CHECK(*state.groups[1].hypers.find("lr") == Value(2.0));
  CHECK(*state.groups[2].hypers.find("lr") == Value(1.0));
  CHECK_FALSE(follow_groups(state, state_of({{"frozen", "d"}, {"c"}, {"b", "a"}})).is_changed);
}

TEST_CASE(
    "one group of the target's for groups with different settings is refused, and so is a state without") {
  OptimizerState state = state_of({{"a", "b"}, {"c", "d"}});
  CHECK(contains(message_of([&] { follow_groups(state, state_of({{"a", "b", "c", "d"}})); }),
                 "a and c are in one group of the target's and have different settings"));
  CHECK(contains(message_of([&] { follow_groups(state, state_of({{"a", "b"}, {"c"}})); }),
                 "does not have the parameter d, which has a state here"));
}
