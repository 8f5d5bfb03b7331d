#include "check_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ckpt/core/text.hpp"
#include "ckpt/kernels/statistics.hpp"
#include "ckpt/kernels/tensor_reader.hpp"
#include "ckpt/stages/root.hpp"
#include "ckpt/training/bias_correction.hpp"
#include "ckpt/training/burn_state.hpp"
#include "ckpt/training/lint.hpp"
#include "optimizer_source.hpp"
#include "pipeline.hpp"

namespace ckpt {
namespace {

FindingId id_of(StateFault::Kind kind) {
  switch (kind) {
    case StateFault::Kind::orphan:
      return FindingId::orphan_state;
    case StateFault::Kind::misfit:
      return FindingId::state_misfit;
    case StateFault::Kind::incomplete:
      return FindingId::incomplete_state;
    case StateFault::Kind::no_id:
      return FindingId::state_without_id;
    case StateFault::Kind::no_state:
      return FindingId::no_state;
    case StateFault::Kind::unknown:
      return FindingId::unknown_state;
    case StateFault::Kind::order:
      return FindingId::state_out_of_order;
    case StateFault::Kind::ambiguous:
      return FindingId::ambiguous_state;
    case StateFault::Kind::zero:
      break;
  }
  return FindingId::zero_moment;
}

bool is_all_zero(const Tensor& tensor) {
  if (!can_measure(tensor.dtype) || repeats_too_much(tensor)) return false;
  TensorReader reader;
  StatisticsGatherer gatherer(tensor.dtype);
  reader.start(tensor);
  for (auto piece = reader.next(); !piece.empty(); piece = reader.next()) gatherer.add(piece);
  const Statistics statistics = gatherer.finish();
  return statistics.zeros == statistics.elements;
}

OptimizerState state_of(const Checkpoint& checkpoint, const std::string& key) {
  std::optional<OptimizerState> state = read_optimizer(checkpoint, key);
  if (!state)
    throw Error(ErrorKind::usage,
                "the file holds no optimizer's state, which --model and --optimizer look at")
        .in_file(checkpoint.file);
  return *std::move(state);
}

double beta(const OptimizerState& state, std::size_t index, double otherwise) {
  if (state.groups.empty()) return otherwise;
  const Value* betas = state.groups.front().hypers.find("betas");
  const auto* items = betas == nullptr ? nullptr : betas->as<Value::Array>();
  const auto* number = items == nullptr || index >= items->size() ? nullptr : (*items)[index].as<double>();
  return number == nullptr ? otherwise : *number;
}

}  // namespace

void CheckTraining::add(CLI::App& app) {
  app.add_option("--model", model, "The model that the optimizer's state in FILE belongs to")
      ->type_name("FILE");
  app.add_flag("--optimizer", optimizer, "Check the optimizer's state, and tell Adam's bias correction");
  app.add_option("--optimizer-key", optimizer_key, "Which optimizer, where FILE holds several")
      ->type_name("KEY");
}

std::vector<Finding> CheckTraining::findings(const Checkpoint& checkpoint) const {
  if (model.empty() && !optimizer) return {};
  std::vector<std::string> dropped;
  std::optional<Checkpoint> against;
  std::vector<Finding> all;
  if (!model.empty()) {
    Checkpoint other = load(model);
    if (std::string conflict = layout_conflict(checkpoint, other, convention_of(other)); !conflict.empty())
      all.push_back({FindingId::state_misfit, "", std::move(conflict)});
    else against = select_root(std::move(other), std::nullopt, dropped);
  } else if (!is_burn_optimizer(checkpoint) && std::ranges::any_of(checkpoint.roots, [](const Root& root) {
               return root.role == Root::Role::model;
             })) {
    against = select_root(checkpoint, std::nullopt, dropped);
  }
  for (StateFault& fault : lint_state(state_of(checkpoint, optimizer_key), checkpoint,
                                      against ? &*against : nullptr, is_all_zero))
    all.push_back({id_of(fault.kind), std::move(fault.tensor), std::move(fault.text)});
  return all;
}

std::vector<std::string> CheckTraining::drift(const Checkpoint& checkpoint) const {
  if (!optimizer) return {};
  const OptimizerState state = state_of(checkpoint, optimizer_key);
  if (state.kind == nullptr || !state.kind->name.starts_with("Adam") || state.kind->moments.empty())
    return {};
  std::set<std::uint64_t> steps;
  for (const ParameterState& parameter : state.parameters)
    if (parameter.step.value_or(0) > 0) steps.insert(*parameter.step);
  std::vector<std::string> lines;
  for (const std::uint64_t step : steps) {
    const BiasCorrection factor = BiasCorrection::at(step, beta(state, 0, 0.9), beta(state, 1, 0.999));
    lines.push_back(
        fmt::format("{} at step {}: burn's bias correction is {:.9f} in 32 bits, {:.9f} exactly ({:+.2f} "
                    "parts per million); "
                    "PyTorch's is {:.9f}",
                    state.kind->name, step, factor.burn, factor.exact, factor.deviation, factor.torch));
  }
  return lines;
}

}  // namespace ckpt
