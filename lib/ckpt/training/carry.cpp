#include "ckpt/training/carry.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt {
namespace {

class Carrier {
 public:
  Carrier(const OptimizerState& state, const Checkpoint& model, Direction direction,
          const std::vector<KindRule>& rules, const Target* target, const Checkpoint* source)
      : state_(state), model_(model), direction_(direction), rules_(rules), target_(target), source_(source) {
    std::unordered_set<std::string_view> known;
    for (const Tensor& tensor : model.tensors) known.insert(tensor.name);
    for (const ParameterState& parameter : state.parameters) {
      if (known.contains(parameter.name)) {
        if (!by_name_.emplace(parameter.name, &parameter).second)
          fail(ErrorKind::refused, "two states are those of {}", printable(parameter.name));
      } else carried_.lost.push_back(parameter.path.empty() ? parameter.key : parameter.path);
    }
  }

  Carried run() {
    carried_.state = state_;
    carried_.state.parameters.clear();
    begin(lay_out_model(model_));
    for (const MomentRow& row : state_.kind->moments)
      if (row.copy_of.empty()) carry_moment(row);
    for (ParameterState& parameter : results_)
      if (!parameter.key.empty()) carried_.state.parameters.push_back(std::move(parameter));
    return std::move(carried_);
  }

 private:
  struct Sources {
    std::string name;               // in the result
    std::vector<std::string> from;  // in the model
    std::size_t rank = 0;
  };

  std::vector<Sources> lay_out_model(Checkpoint model) {
    if (direction_ == Direction::none) {
      std::vector<Sources> all;
      for (const Tensor& tensor : model.tensors)
        all.push_back({tensor.name, {tensor.name}, tensor.shape.size()});
      laid_ = std::move(model.tensors);
      return all;
    }
    LaidOut laid = lay_out(std::move(model), direction_, rules_, target_, source_);
    std::vector<Sources> all;
    for (std::size_t i = 0; i < laid.checkpoint.tensors.size(); ++i)
      all.push_back({laid.checkpoint.tensors[i].name, laid.report.steps[i].from,
                     laid.checkpoint.tensors[i].shape.size()});
    laid_ = std::move(laid.checkpoint.tensors);
    return all;
  }

  /// One entry for every tensor of the result whose sources have state.
  void begin(std::vector<Sources> sources) {
    std::unordered_map<std::string_view, std::vector<std::string>> results_of;
    results_.resize(sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
      for (const std::string& from : sources[i].from) results_of[from].push_back(sources[i].name);
      const ParameterState* first = nullptr;
      std::size_t found = 0;
      for (const std::string& from : sources[i].from)
        if (const ParameterState* parameter = find(from)) {
          require_same_step(first, parameter, sources[i].name);
          if (first == nullptr) first = parameter;
          ++found;
        }
      if (first == nullptr) continue;
      if (found < sources[i].from.size())
        throw Error(ErrorKind::refused,
                    fmt::format("{} is joined from {} parameters, of which {} have an optimizer's state",
                                printable(sources[i].name), sources[i].from.size(), found))
            .in_file(model_.file);
      results_[i] = {.key = sources[i].name,
                     .name = sources[i].name,
                     .param_id = first->param_id,
                     .step = first->step,
                     .rank = sources[i].rank};
    }
    const auto results = [&](const std::vector<std::string>& names) {
      std::vector<std::string> all;
      std::unordered_set<std::string> done;
      for (const std::string& from : names)
        for (const std::string& name : results_of[from])
          if (done.insert(name).second) all.push_back(name);
      return all;
    };
    for (ParameterGroup& group : carried_.state.groups) {
      group.keys = results(group.keys);
      group.names.clear();
    }
    std::vector<std::string> names;
    for (const Tensor& tensor : model_.tensors) names.push_back(tensor.name);
    carried_.order = results(names);
    sources_ = std::move(sources);
  }

  void require_same_step(const ParameterState* first, const ParameterState* other,
                         const std::string& result) const {
    if (first == nullptr || first->step == other->step) return;
    throw Error(ErrorKind::refused,
                fmt::format("{} is joined from parameters that were trained for {} and {} steps",
                            printable(result), first->step.value_or(0), other->step.value_or(0)))
        .in_file(model_.file);
  }

  /// The model's catalogue with moments in place of the weights: the layout stage then does to them what it
  /// does to the weights.
  void carry_moment(const MomentRow& row) {
    Checkpoint stand_in = model_;
    std::unordered_set<std::string_view> present;
    for (Tensor& tensor : stand_in.tensors) {
      const ParameterState* parameter = find(tensor.name);
      const Tensor* moment = parameter == nullptr ? nullptr : parameter->moment(row.torch);
      if (moment == nullptr) continue;
      present.insert(parameter->name);
      tensor.dtype = moment->dtype;
      tensor.view = moment->view;
      tensor.pieces = moment->pieces;
    }
    if (present.empty()) return;
    lay_out_model(std::move(stand_in));
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const auto found = static_cast<std::size_t>(std::ranges::count_if(
          sources_[i].from, [&](const std::string& from) { return present.contains(from); }));
      if (found == 0) continue;
      if (found < sources_[i].from.size())
        throw Error(ErrorKind::refused,
                    fmt::format("{} is joined from {} parameters, of which {} have {}",
                                printable(sources_[i].name), sources_[i].from.size(), found, row.torch))
            .in_file(model_.file);
      Tensor moment = std::move(laid_[i]);
      moment.name = row.torch;
      moment.param_id.reset();
      results_[i].moments.push_back(std::move(moment));
    }
  }

  const ParameterState* find(std::string_view name) const {
    const auto at = by_name_.find(name);
    return at == by_name_.end() ? nullptr : at->second;
  }

  const OptimizerState& state_;
  const Checkpoint& model_;
  Direction direction_;
  const std::vector<KindRule>& rules_;
  const Target* target_;
  const Checkpoint* source_;
  std::unordered_map<std::string_view, const ParameterState*> by_name_;
  std::vector<Tensor> laid_;
  std::vector<Sources> sources_;
  std::vector<ParameterState> results_;
  Carried carried_;
};

}  // namespace

void follow_names(OptimizerState& state, const RemapReport& report) {
  std::unordered_map<std::string_view, std::string_view> names;
  for (const Renaming& renaming : report.names) names.emplace(renaming.from, renaming.to);
  for (ParameterState& parameter : state.parameters) {
    if (parameter.path.empty()) parameter.path = parameter.name;
    const auto at = names.find(parameter.name);
    parameter.name = at == names.end() ? "" : std::string(at->second);
  }
  for (ParameterGroup& group : state.groups) {
    std::vector<std::string> keys;
    for (const std::string& key : group.keys)
      if (const auto at = names.find(key); at != names.end()) keys.emplace_back(at->second);
    group.keys = std::move(keys);
  }
}

void follow_names(OptimizerState& state, const EditReport& report) {
  std::unordered_map<std::string_view, std::string_view> names;
  for (const Edit& edit : report.edits)
    if (edit.from.size() == 1) names.emplace(edit.from.front(), edit.name);
  const auto follow = [&](std::string& name) {
    if (const auto at = names.find(name); at != names.end()) name = at->second;
  };
  for (ParameterState& parameter : state.parameters) follow(parameter.name);
  for (ParameterGroup& group : state.groups)
    for (std::string& key : group.keys) follow(key);
}

Carried carry(const OptimizerState& state, const Checkpoint& model, Direction direction,
              const std::vector<KindRule>& rules, const Target* target, const Checkpoint* source) {
  return Carrier(state, model, direction, rules, target, source).run();
}

}  // namespace ckpt
