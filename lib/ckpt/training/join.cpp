#include "ckpt/training/join.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ckpt/core/text.hpp"
#include "ckpt/stages/names.hpp"
#include "ckpt/stages/ties.hpp"
#include "ckpt/training/burn_state.hpp"

namespace ckpt {
namespace {

// Buffers of PyTorch's own modules; those of others are told by their shapes, or by nothing.
bool is_buffer(const Tensor& tensor) {
  const std::string_view leaf = leaf_name(tensor.name);
  return !is_floating(tensor.dtype) || leaf == "running_mean" || leaf == "running_var" ||
         leaf == "num_batches_tracked";
}

/// Where a list has a text for the second time, and where for the first; nothing where all differ.
std::optional<std::pair<std::size_t, std::size_t>> find_twice(const std::vector<std::string>& texts) {
  std::set<std::string_view> seen;  // a tree: a file can choose texts that fall into one bucket
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (!seen.insert(texts[i]).second)
      return std::pair(static_cast<std::size_t>(std::ranges::find(texts, texts[i]) - texts.begin()), i);
  return std::nullopt;
}

using Shapes = std::vector<std::optional<Shape>>;  // nothing where no moment tells

bool fits(const std::optional<Shape>& shape, const Tensor& tensor) {
  return !shape || *shape == tensor.shape;
}

/// How many ways there are to take the groups out of the model's parameters, each group in the model's order.
class Orders {
 public:
  Orders(const std::vector<Shapes>& groups, const std::vector<const Tensor*>& model)
      : groups_(groups), model_(model) {
    for (const Shapes& group : groups) positions_ += group.size();
  }

  enum class Count { none, one, several };

  /// Walks through the model parameter by parameter; a state is how far each group has come.
  Count count() {
    Layer layer{{std::vector<std::uint32_t>(groups_.size(), 0), {1, {}}}};
    for (std::size_t i = 0; i < model_.size(); ++i) {
      Layer next;
      for (const auto& [taken, ways] : layer) {
        std::size_t done = 0;
        for (const std::uint32_t count : taken) done += count;
        const std::size_t left = positions_ - done;
        if (left < model_.size() - i) add(next, taken, ways, i, skipped);
        for (std::size_t g = 0; g < groups_.size(); ++g)
          if (taken[g] < groups_[g].size() && fits(groups_[g][taken[g]], *model_[i])) {
            std::vector<std::uint32_t> further = taken;
            ++further[g];
            add(next, std::move(further), ways, i, g);
            if (numbers_ > most_numbers) return Count::several;
          }
      }
      layer = std::move(next);
    }
    std::vector<std::uint32_t> all;
    for (const Shapes& group : groups_) all.push_back(static_cast<std::uint32_t>(group.size()));
    const auto end = layer.find(all);
    if (end == layer.end()) return Count::none;
    if (end->second.number > 1) return Count::several;
    only_ = end->second.choices;
    return Count::one;
  }

  /// The parameters of the only order, group after group.
  std::vector<const Tensor*> only() const {
    std::vector<std::vector<const Tensor*>> by_group(groups_.size());
    for (const auto& choice : path(only_)) by_group[choice.group].push_back(model_[choice.parameter]);
    std::vector<const Tensor*> all;
    for (const auto& group : by_group) all.insert(all.end(), group.begin(), group.end());
    return all;
  }

 private:
  static constexpr std::size_t skipped = SIZE_MAX;
  static constexpr std::size_t most_numbers = 4'000'000;  // in all states together, 4 bytes each
  struct Choice {
    std::size_t parameter, group;
    std::shared_ptr<const Choice> before;
  };
  using Choices = std::shared_ptr<const Choice>;
  struct Ways {
    unsigned number = 0;  // 2 stands for any more
    Choices choices;
  };
  using Layer = std::map<std::vector<std::uint32_t>, Ways>;

  void add(Layer& layer, std::vector<std::uint32_t> taken, const Ways& ways, std::size_t parameter,
           std::size_t group) {
    numbers_ += taken.size() + 16;  // what a state takes beside its numbers
    Ways& to = layer[std::move(taken)];
    to.number = std::min(2U, to.number + ways.number);
    to.choices = group == skipped ? ways.choices
                                  : std::make_shared<const Choice>(Choice{parameter, group, ways.choices});
  }

  static std::vector<Choice> path(Choices last) {
    std::vector<Choice> all;
    for (; last != nullptr; last = last->before) all.push_back(*last);
    std::ranges::reverse(all);
    return all;
  }

  const std::vector<Shapes>& groups_;
  const std::vector<const Tensor*>& model_;
  std::size_t positions_ = 0;
  std::size_t numbers_ = 0;
  Choices only_;
};

class PositionJoin {
 public:
  PositionJoin(OptimizerState& state, const Checkpoint& model, const std::vector<std::string>& names)
      : state_(state), model_(parameters_of(model)), given_(names) {
    for (const Tensor& tensor : model.tensors) by_name_.emplace(tensor.name, &tensor);
    for (ParameterState& parameter : state.parameters) by_key_.emplace(parameter.key, &parameter);
    for (const ParameterGroup& group : state.groups) {
      keys_.insert(keys_.end(), group.keys.begin(), group.keys.end());
      noted_.insert(noted_.end(), group.names.begin(), group.names.end());
    }
  }

  Join run() {
    if (const auto twice = find_twice(keys_)) refuse_twice(*twice);
    else if (!given_.empty()) take_names(given_, "the names of --param-names");
    else if (!noted_.empty() && noted_.size() == keys_.size()) take_names(noted_, "the file's param_names");
    else if (is_named()) take_names(keys_, "the names that key the file's state");
    else take_order();
    if (join_.problem.empty()) check_shapes();
    if (!join_.problem.empty()) {
      join_.names.clear();
      if (join_.hint.empty()) join_.hint = "--param-names FILE names the parameters by position, one a line";
    }
    if (join_.names.empty()) return std::move(join_);
    for (std::size_t i = 0; i < join_.names.size(); ++i)
      if (const auto at = by_key_.find(keys_[i]); at != by_key_.end()) at->second->name = join_.names[i];
    auto name = join_.names.begin();
    for (ParameterGroup& group : state_.groups)
      for (std::string& key : group.keys) key = *name++;
    return std::move(join_);
  }

 private:
  bool is_named() const {
    return std::ranges::any_of(
        keys_, [](const std::string& key) { return key.find_first_not_of("0123456789") != key.npos; });
  }

  /// So PyTorch writes a parameter that the program gave to the optimizer twice.
  void refuse_twice(const std::pair<std::size_t, std::size_t>& places) {
    join_.problem = fmt::format(
        "the groups' params have {} twice, as their items {} and {} (counted from 0): nothing says which "
        "parameters the states are of",
        printable(keys_[places.first]), places.first, places.second);
    join_.hint = "give every parameter to the optimizer once, and save its state again";
  }

  void take_names(const std::vector<std::string>& names, std::string_view source) {
    join_.how = fmt::format("{}", source);
    if (names.size() != keys_.size()) {
      join_.problem =
          fmt::format("{} are {}, the optimizer has {} parameters", source, names.size(), keys_.size());
      return;
    }
    for (const std::string& name : names)
      if (!by_name_.contains(name)) {
        join_.problem = fmt::format("{}: the model has no parameter {}", source, printable(name));
        return;
      }
    if (const auto twice = find_twice(names)) {
      join_.problem = fmt::format("{}: {} stands twice, at the positions {} and {} (counted from 0)", source,
                                  printable(names[twice->first]), twice->first, twice->second);
      join_.hint = "--param-names FILE names every parameter once, by position, one a line";
      return;
    }
    join_.names = names;
  }

  Shapes shapes_of(const ParameterGroup& group) const {
    Shapes shapes;
    for (const std::string& key : group.keys) {
      const auto at = by_key_.find(key);
      const bool has_shape = at != by_key_.end() && !at->second->moments.empty();
      shapes.push_back(has_shape ? std::optional(at->second->moments.front().shape) : std::nullopt);
    }
    return shapes;
  }

  void take_order() {
    join_.is_by_order = true;
    if (keys_.size() > model_.size()) {
      join_.problem =
          fmt::format("the optimizer has {} parameters, the model {}", keys_.size(), model_.size());
      return;
    }
    std::vector<Shapes> groups;
    Shapes all;
    for (const ParameterGroup& group : state_.groups) {
      groups.push_back(shapes_of(group));
      all.insert(all.end(), groups.back().begin(), groups.back().end());
    }
    const auto take = [&](const std::vector<const Tensor*>& order, std::string how) {
      join_.how = std::move(how);
      for (const Tensor* tensor : order) join_.names.push_back(tensor->name);
      note_open();
    };
    // `optimizer(model.parameters())`: there is nothing to count.
    if (groups.size() == 1 && fits_as_it_is(all))
      return take(model_, fmt::format("the order of the model's {} parameters", model_.size()));
    Orders orders(groups, model_);
    const Orders::Count count = orders.count();
    if (count == Orders::Count::one) {
      take(orders.only(), fmt::format("the only order in which the model's {} parameters fit the {} group{}",
                                      model_.size(), groups.size(), groups.size() == 1 ? "" : "s"));
    } else if (count == Orders::Count::several) {
      join_.is_ambiguous = true;
      join_.problem =
          fmt::format("the {} parameters of the optimizer fit the {} of the model in several orders",
                      keys_.size(), model_.size());
    } else {
      join_.problem = describe_misfit(all);
    }
  }

  bool fits_as_it_is(const Shapes& all) const {
    return std::ranges::equal(all, model_,
                              [](const auto& shape, const Tensor* t) { return fits(shape, *t); });
  }

  std::string describe_misfit(const Shapes& all) const {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!fits(all[i], *model_[i]))
        return fmt::format(
            "the state of parameter {} has the shape {}, but the model's is {} {}; no order of the "
            "model's parameters fits",
            keys_[i], to_string(*all[i]), printable(model_[i]->name), to_string(model_[i]->shape));
    return "no order of the model's parameters fits the groups";
  }

  void note_open() {
    std::map<Shape, std::size_t> uses;
    for (const std::string& name : join_.names) ++uses[by_name_.at(name)->shape];
    for (const std::string& name : join_.names)
      if (uses[by_name_.at(name)->shape] > 1) join_.open.push_back(name);
  }

  /// Whatever the order rests on: a moment has the shape of its parameter.
  void check_shapes() {
    for (std::size_t i = 0; i < join_.names.size(); ++i) {
      const auto at = by_key_.find(keys_[i]);
      if (at == by_key_.end()) continue;
      const Tensor& parameter = *by_name_.at(join_.names[i]);
      for (const Tensor& moment : at->second->moments)
        if (moment.shape != parameter.shape) {
          join_.problem = fmt::format("{} of parameter {} has the shape {}, but {} is {}",
                                      printable(moment.name), keys_[i], to_string(moment.shape),
                                      printable(parameter.name), to_string(parameter.shape));
          return;
        }
    }
  }

  OptimizerState& state_;
  std::vector<const Tensor*> model_;
  const std::vector<std::string>& given_;
  std::unordered_map<std::string_view, const Tensor*> by_name_;
  std::unordered_map<std::string_view, ParameterState*> by_key_;
  std::vector<std::string> keys_, noted_;
  Join join_;
};

}  // namespace

std::vector<const Tensor*> parameters_of(const Checkpoint& model) {
  std::set<std::size_t> tied;
  for (const Tie& tie : find_ties(model)) tied.insert(tie.tensor);
  std::vector<const Tensor*> parameters;
  for (std::size_t i = 0; i < model.tensors.size(); ++i)
    if (!is_buffer(model.tensors[i]) && !tied.contains(i)) parameters.push_back(&model.tensors[i]);
  return parameters;
}

Join join_by_position(OptimizerState& state, const Checkpoint& model, const std::vector<std::string>& names) {
  return PositionJoin(state, model, names).run();
}

Join join_by_id(OptimizerState& state, const Checkpoint& model) {
  std::map<std::uint64_t, const Tensor*> by_id;  // a tree: a file can choose ids that fall into one bucket
  for (const Tensor& tensor : model.tensors)
    if (tensor.param_id) by_id.emplace(*tensor.param_id, &tensor);
  Join join;
  join.how = "the ids of the model's parameters";
  if (by_id.empty())
    join.problem = "the model's tensors have no ids, by which burn's record names its parameters";
  for (ParameterState& parameter : state.parameters) {
    const auto at = parameter.param_id ? by_id.find(*parameter.param_id) : by_id.end();
    parameter.name = at == by_id.end() ? "" : at->second->name;
    join.names.push_back(parameter.name);
    if (at == by_id.end()) continue;
    for (const Tensor& moment : parameter.moments)
      if (moment.shape != at->second->shape && join.problem.empty())
        join.problem = fmt::format("{} of parameter {} has the shape {}, but {} is {}",
                                   printable(moment.name), parameter.key, to_string(moment.shape),
                                   printable(parameter.name), to_string(at->second->shape));
  }
  std::vector<std::string> grouped;
  for (ParameterGroup& group : state.groups) {
    std::vector<std::string> names;
    for (const std::string& key : group.keys) {
      const std::optional<RecordKey> id = parse_record_key(key + ".");
      if (const auto at = id ? by_id.find(id->id) : by_id.end(); at != by_id.end())
        names.push_back(at->second->name);
    }
    grouped.insert(grouped.end(), names.begin(), names.end());
    group.keys = std::move(names);
  }
  if (const auto twice = find_twice(grouped); twice && join.problem.empty())
    join.problem =
        fmt::format("the groups that the record notes have {} twice", printable(grouped[twice->first]));
  return join;
}

std::vector<std::string> matrices_of_open_layout(const OptimizerState& state, const Checkpoint& model,
                                                 const std::vector<KindRule>& rules,
                                                 const Checkpoint* source) {
  std::unordered_set<std::string_view> stated;
  for (const ParameterState& parameter : state.parameters)
    if (!parameter.moments.empty()) stated.insert(parameter.name);
  std::unordered_set<std::string> transposed, undecided;
  for (const KindDecision& decision :
       decide_kinds(model, Direction::pytorch_to_burn, rules, nullptr, source)) {
    if (decision.kind == nullptr) undecided.insert(decision.tensor);
    else
      for (const ParameterRow& row : decision.kind->parameters)
        if (row.operation == Operation::transpose)
          transposed.insert(join_path(decision.path, row.torch) + std::string(decision.kind->suffix));
  }
  std::vector<std::string> open;
  for (const Tensor& tensor : model.tensors) {
    if (tensor.shape.size() != 2 || !stated.contains(tensor.name)) continue;
    const bool is_square = tensor.shape[0] == tensor.shape[1];
    if (!is_square && transposed.contains(tensor.name)) return {};
    if (is_square && (transposed.contains(tensor.name) || undecided.contains(tensor.name)))
      open.push_back(tensor.name);
  }
  return open;
}

}  // namespace ckpt
