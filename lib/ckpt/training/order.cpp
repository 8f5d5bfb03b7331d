#include "ckpt/training/order.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/stages/ties.hpp"

namespace ckpt {
namespace {

using Names = std::vector<std::string>;
using Places = std::unordered_map<std::string_view, std::size_t>;

Places places_in(const Checkpoint& model) {
  Places places;
  for (std::size_t i = 0; i < model.tensors.size(); ++i) places.emplace(model.tensors[i].name, i);
  for (const Tie& tie : find_ties(model)) places[model.tensors[tie.tensor].name] = tie.same_as;
  return places;
}

Places places_in(const Names& names) {
  Places places;
  for (std::size_t i = 0; i < names.size(); ++i) places.emplace(names[i], i);
  return places;
}

/// A name that is not known comes last.
std::size_t place_of(const Places& places, const std::string& name) {
  const auto at = places.find(name);
  return at == places.end() ? places.size() : at->second;
}

Names sorted_by(const Places& places, Names names) {
  std::ranges::stable_sort(names, {}, [&](const std::string& name) { return place_of(places, name); });
  return names;
}

std::vector<Names> keys_of(const OptimizerState& state) {
  std::vector<Names> all;
  for (const ParameterGroup& group : state.groups) all.push_back(group.keys);
  return all;
}

}  // namespace

std::string first_out_of_order(const OptimizerState& state, const Checkpoint& model) {
  const Places places = places_in(model);
  for (const ParameterGroup& group : state.groups)
    for (std::size_t i = 1; i < group.keys.size(); ++i)
      if (place_of(places, group.keys[i]) < place_of(places, group.keys[i - 1])) return group.keys[i];
  return {};
}

Ordering follow_order(OptimizerState& state, const Checkpoint& model, const Names& source) {
  const Places to = places_in(model);
  const Places from = places_in(source);
  Ordering result;
  for (ParameterGroup& group : state.groups) {
    Names wanted = sorted_by(to, group.keys);
    if (wanted == group.keys) continue;
    const Names before = sorted_by(from, group.keys);
    if (before == wanted) continue;
    result.is_changed = true;
    result.is_unproven = result.is_unproven || before != group.keys;
    group.keys = std::move(wanted);
  }
  return result;
}

Ordering follow_groups(OptimizerState& state, const OptimizerState& like) {
  std::unordered_map<std::string_view, const ParameterGroup*> group_of;
  for (const ParameterGroup& group : state.groups)
    for (const std::string& key : group.keys) group_of.emplace(key, &group);
  std::unordered_set<std::string_view> known;
  std::vector<ParameterGroup> groups;
  for (const ParameterGroup& wanted : like.groups) {
    const ParameterGroup* from = nullptr;
    for (const std::string& key : wanted.keys) {
      known.insert(key);
      const auto at = group_of.find(key);
      if (at == group_of.end() || at->second == from) continue;
      if (from != nullptr && from->hypers != at->second->hypers)
        fail(ErrorKind::refused,
             "the groups of the two optimizers do not fit: {} and {} are in one group of the target's and "
             "have "
             "different settings here",
             printable(wanted.keys.front()), printable(key));
      from = at->second;
    }
    groups.push_back({from == nullptr ? wanted.hypers : from->hypers, wanted.keys, {}});
  }
  for (const ParameterState& parameter : state.parameters)
    if (!known.contains(parameter.name))
      fail(ErrorKind::refused,
           "the target's optimizer does not have the parameter {}, which has a state here",
           printable(parameter.name));
  const std::vector<Names> before = keys_of(state);
  state.groups = std::move(groups);
  return {.is_changed = before != keys_of(state)};
}

}  // namespace ckpt
