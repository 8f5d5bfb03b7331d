#include "ckpt/training/lint.hpp"

#include <fmt/format.h>

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "ckpt/core/text.hpp"
#include "ckpt/training/burn_state.hpp"
#include "ckpt/training/join.hpp"
#include "ckpt/training/order.hpp"

namespace ckpt {
namespace {

using Kind = StateFault::Kind;

std::string some(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < 5; ++i) text += (i == 0 ? "" : ", ") + printable(names[i]);
  return names.size() > 5 ? text + ", …" : text;
}

class Lint {
 public:
  Lint(OptimizerState state, const Checkpoint& file, const Checkpoint* model)
      : state_(std::move(state)), file_(file), model_(model), is_record_(is_burn_optimizer(file)) {}

  std::vector<StateFault> run(const std::function<bool(const Tensor&)>& is_zero) {
    if (is_record_) check_ids();
    check_unknown();
    if (model_ != nullptr) check_model();
    for (const ParameterState& parameter : state_.parameters) {
      check_ranks(parameter);
      for (const std::string& missing : parameter.missing)
        add(Kind::incomplete, label(parameter),
            fmt::format("{}: {} is missing; burn would start this parameter afresh without a word",
                        label(parameter), missing));
      if (parameter.step.value_or(0) == 0) continue;
      for (const Tensor& moment : parameter.moments)
        if (moment.elements() > 0 && is_zero(moment))
          add(Kind::zero, label(parameter),
              fmt::format("{}: {} is all zero after {} steps", label(parameter), printable(moment.name),
                          *parameter.step));
    }
    return std::move(faults_);
  }

 private:
  void add(Kind kind, std::string tensor, std::string text) {
    faults_.push_back({kind, std::move(tensor), std::move(text)});
  }

  std::string label(const ParameterState& parameter) const {
    const std::string& name = parameter.name.empty() ? parameter.path : parameter.name;
    return name.empty()
               ? fmt::format("{} {}", is_record_ ? "parameter" : "position", printable(parameter.key))
               : printable(name);
  }

  void check_ids() {
    for (const Tensor& tensor : file_.tensors) {
      const std::optional<RecordKey> key = parse_record_key(tensor.name);
      if (!key || tensor.param_id == key->id) continue;
      add(Kind::no_id, tensor.name,
          fmt::format("{} {}: burn ends with a panic when it loads this", printable(tensor.name),
                      tensor.param_id ? "has another ParamId than its name says" : "has no ParamId"));
    }
  }

  /// Of an optimizer without a row of moments nothing is known.
  void check_unknown() {
    if (state_.kind == nullptr || state_.kind->moments.empty()) return;
    for (const std::string& name : state_.unknown)
      add(Kind::unknown, name, fmt::format("{} has no place for {}", state_.kind->name, printable(name)));
  }

  /// The names that a state has beside its positions are of no use to PyTorch, which counts.
  void check_order() {
    if (is_record_ || model_->format != "pytorch") return;
    const std::string name = first_out_of_order(state_, *model_);
    if (!name.empty())
      add(Kind::order, name,
          fmt::format("{}: by the names of the state it stands elsewhere than in the order of the model, "
                      "which PyTorch counts in",
                      printable(name)));
  }

  void check_model() {
    const Join join = is_record_ ? join_by_id(state_, *model_) : join_by_position(state_, *model_);
    std::unordered_map<std::string_view, const Tensor*> tensors;
    for (const Tensor& tensor : model_->tensors) tensors.emplace(tensor.name, &tensor);
    if (!is_record_ && !join.problem.empty()) {
      add(join.is_ambiguous ? Kind::ambiguous : Kind::misfit, "", join.problem);
      return;
    }
    check_orphans();
    check_order();
    std::unordered_set<std::string_view> stated;
    for (const ParameterState& parameter : state_.parameters) {
      stated.insert(parameter.name);
      const auto at = tensors.find(parameter.name);
      if (at == tensors.end()) continue;
      for (const Tensor& moment : parameter.moments)
        if (moment.shape != at->second->shape)
          add(Kind::misfit, parameter.name,
              fmt::format("{}: {} has the shape {}, the parameter {}", label(parameter),
                          printable(moment.name), to_string(moment.shape), to_string(at->second->shape)));
    }
    std::vector<std::string> without;
    const std::vector<const Tensor*> parameters = parameters_of(*model_);
    for (const Tensor* tensor : parameters)
      if (!stated.contains(tensor->name)) without.push_back(tensor->name);
    if (!without.empty())
      add(Kind::no_state, without.size() == 1 ? without.front() : "",
          fmt::format("{} of the model's {} parameters have no state: {}", without.size(), parameters.size(),
                      some(without)));
  }

  /// Orphans of one step are a cohort: parameters that were rebuilt together.
  void check_orphans() {
    struct Cohort {
      std::vector<std::string> keys;
      std::size_t tensors = 0;
    };
    std::map<std::uint64_t, Cohort> cohorts;
    std::size_t tensors = 0;
    for (const ParameterState& parameter : state_.parameters) {
      tensors += parameter.moments.size();
      if (!parameter.name.empty()) continue;
      Cohort& cohort = cohorts[parameter.step.value_or(0)];
      cohort.keys.push_back(parameter.path.empty() ? parameter.key : parameter.path);
      cohort.tensors += parameter.moments.size();
    }
    for (const auto& [step, cohort] : cohorts)
      add(Kind::orphan, "",
          fmt::format("{} of {} tensors are orphans, of {} parameter{} that the model does not have ({}{})",
                      cohort.tensors, tensors, cohort.keys.size(), cohort.keys.size() == 1 ? "" : "s",
                      some(cohort.keys), step == 0 ? "" : fmt::format("; at step {}", step)));
  }

  void check_ranks(const ParameterState& parameter) {
    if (!parameter.rank) return;
    for (const Tensor& moment : parameter.moments)
      if (moment.shape.size() != *parameter.rank) {
        add(Kind::misfit, label(parameter),
            fmt::format("{}: the record says rank {}, but {} has the shape {}", label(parameter),
                        *parameter.rank, printable(moment.name), to_string(moment.shape)));
        return;
      }
  }

  OptimizerState state_;
  const Checkpoint& file_;
  const Checkpoint* model_;
  bool is_record_;
  std::vector<StateFault> faults_;
};

}  // namespace

std::vector<StateFault> lint_state(OptimizerState state, const Checkpoint& file, const Checkpoint* model,
                                   const std::function<bool(const Tensor&)>& is_zero) {
  return Lint(std::move(state), file, model).run(is_zero);
}

}  // namespace ckpt
