#include "inspect_training.hpp"

#include <algorithm>
#include <cmath>

#include "ckpt/codec/json.hpp"
#include "ckpt/core/checked.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/kernels/statistics.hpp"
#include "ckpt/kernels/tensor_reader.hpp"
#include "ckpt/stages/root.hpp"
#include "ckpt/training/burn_state.hpp"
#include "ckpt/training/join.hpp"
#include "ckpt/training/torch_state.hpp"
#include "optimizer_source.hpp"

namespace ckpt {
namespace {

/// Bytes of moments that are read without being asked for: a moment's time on any disk.
constexpr std::uint64_t small_moments = 16U << 20;

/// Each of them is looked for among all tensors; a file can name thousands.
constexpr std::size_t most_optimizers = 16;

double norm(const Tensor& tensor) {
  if (!can_measure(tensor.dtype) || repeats_too_much(tensor)) return NAN;
  TensorReader reader;
  StatisticsGatherer gatherer(tensor.dtype);
  reader.start(tensor);
  for (auto piece = reader.next(); !piece.empty(); piece = reader.next()) gatherer.add(piece);
  const Statistics statistics = gatherer.finish();
  if (statistics.finite() < statistics.elements) return NAN;
  return std::sqrt(static_cast<double>(statistics.elements)) * std::hypot(statistics.mean, statistics.std);
}

/// The moments that some parameter has, in the table's order.
std::vector<const MomentRow*> columns(const OptimizerState& state) {
  std::vector<const MomentRow*> rows;
  if (state.kind == nullptr) return rows;
  for (const MomentRow& row : state.kind->moments)
    if (!row.torch.empty() && std::ranges::any_of(state.parameters, [&](const ParameterState& parameter) {
          return parameter.moment(row.torch) != nullptr;
        }))
      rows.push_back(&row);
  return rows;
}

std::string_view last_segment(std::string_view path) { return path.substr(path.rfind('.') + 1); }

std::string label(const ParameterState& parameter) {
  const std::string& name = parameter.name.empty() ? parameter.path : parameter.name;
  return name.empty() ? "?" : printable(name);
}

}  // namespace

TrainingView::TrainingView(const Checkpoint& checkpoint, Norms norms) {
  read(checkpoint, norms);
  for (const TorchScheduler& scheduler : find_torch_schedulers(checkpoint, read_number)) {
    const Value* steps = scheduler.members.find("last_epoch");
    schedulers_.push_back(
        {printable(scheduler.place),
         scheduler.kind == nullptr ? "unknown" : std::string(scheduler.kind->torch),
         steps == nullptr ? "no count of its own" : fmt::format("{} steps done", json::dump(*steps))});
  }
  if (is_burn_scheduler(checkpoint))
    for (const SchedulerRow& row : describe_burn_scheduler(checkpoint))
      schedulers_.push_back(
          {printable(row.key),
           row.kind == nullptr ? "SequentialLrSchedulerConfig" : std::string(row.kind->burn), row.state});
}

void TrainingView::read(const Checkpoint& checkpoint, Norms norms) {
  const bool is_record = is_burn_optimizer(checkpoint);
  std::vector<std::string> places{""};
  if (!is_record) places = find_torch_optimizers(checkpoint);
  if (places.size() > most_optimizers) {
    more_ = places.size() - most_optimizers;
    places.resize(most_optimizers);
  }
  for (const std::string& place : places) {
    Optimizer optimizer;
    optimizer.is_record = is_record;
    try {
      optimizer.state =
          is_record ? read_burn_optimizer(checkpoint) : read_torch_optimizer(checkpoint, place, read_number);
      if (!is_record) name_parameters(checkpoint, optimizer.state);
      measure(optimizer, norms);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::io) throw;
      optimizer.state.place = place;
      optimizer.unread = error.message();
    }
    optimizers_.push_back(std::move(optimizer));
  }
}

/// Names help where the checkpoint holds the one model that they are from.
void TrainingView::name_parameters(const Checkpoint& checkpoint, OptimizerState& state) const {
  if (std::ranges::count(checkpoint.roots, Root::Role::model, &Root::role) != 1) return;
  std::vector<std::string> dropped;
  join_by_position(state, select_root(checkpoint, std::nullopt, dropped));
}

void TrainingView::measure(Optimizer& optimizer, Norms norms) const {
  std::uint64_t bytes = 0;
  for (const ParameterState& parameter : optimizer.state.parameters)
    for (const Tensor& moment : parameter.moments)
      bytes = checked_add(bytes, moment.byte_size()).value_or(UINT64_MAX);
  if (norms == Norms::none || (norms == Norms::small && bytes > small_moments)) return;
  const std::vector<const MomentRow*> rows = columns(optimizer.state);
  for (const ParameterState& parameter : optimizer.state.parameters) {
    std::vector<double>& line = optimizer.norms.emplace_back();
    for (const MomentRow* row : rows) {
      const Tensor* moment = parameter.moment(row->torch);
      line.push_back(moment == nullptr ? NAN : norm(*moment));
    }
  }
}

void TrainingView::print(const Paint& paint) const {
  for (const Optimizer& optimizer : optimizers_) print_optimizer(optimizer, paint);
  if (more_ > 0) fmt::print("\n{} more\n", count(more_, "optimizer"));
  if (schedulers_.empty()) return;
  fmt::print("\n{}\n{}", paint.bold("learning-rate schedulers"),
             format_table(schedulers_, std::vector<bool>(3, false), "  "));
}

void TrainingView::print_optimizer(const Optimizer& optimizer, const Paint& paint) const {
  const OptimizerState& state = optimizer.state;
  const std::string where = state.place.empty() ? "" : fmt::format(" at {}", printable(state.place));
  if (!optimizer.unread.empty()) {
    fmt::print("\n{}: {}\n", paint.bold("optimizer" + where), optimizer.unread);
    return;
  }
  fmt::print("\n{}: {}{}, {}\n", paint.bold("optimizer" + where),
             state.kind == nullptr ? "unknown" : std::string(state.kind->name),
             state.kind == nullptr ? "" : fmt::format(" ({})", printable(state.evidence)),
             count(state.parameters.size(), "parameter"));
  const std::vector<const MomentRow*> rows = columns(state);
  if (!state.parameters.empty()) {
    std::vector<std::vector<std::string>> table{
        {"parameter", optimizer.is_record ? "id" : "position", "step"}};
    std::vector<bool> right{false, !optimizer.is_record, true};
    for (const MomentRow* row : rows) {
      table.front().push_back(
          fmt::format("|{}|", optimizer.is_record ? last_segment(row->burn) : row->torch));
      right.push_back(true);
    }
    if (optimizer.norms.empty()) table.front().resize(3), right.resize(3);
    for (std::size_t i = 0; i < state.parameters.size(); ++i) {
      const ParameterState& parameter = state.parameters[i];
      std::vector<std::string> line{label(parameter), printable(parameter.key),
                                    parameter.step ? std::to_string(*parameter.step) : "-"};
      if (!optimizer.norms.empty())
        for (const double value : optimizer.norms[i])
          line.push_back(std::isnan(value) ? "-" : fmt::format("{:.4g}", value));
      table.push_back(std::move(line));
    }
    fmt::print("{}", format_table(table, right, "  "));
    if (optimizer.norms.empty() && !rows.empty())
      fmt::print("  --optimizer shows the norms of the moments\n");
  }
  for (std::size_t i = 0; i < state.groups.size(); ++i) {
    std::string settings;
    for (const auto& [key, value] : *state.groups[i].hypers.as<Value::Object>())
      settings +=
          fmt::format("{}{} {}", settings.empty() ? "" : ", ", printable(key), printable(json::dump(value)));
    fmt::print("  group {}, {}: {}\n", i, count(state.groups[i].keys.size(), "parameter"), settings);
  }
  if (state.groups.empty()) fmt::print("  burn's record holds no hyper-parameters\n");
}

Value TrainingView::optimizer_json(const Optimizer& optimizer) const {
  const OptimizerState& state = optimizer.state;
  Value doc = Value::object();
  doc.set("key", state.place);
  if (!optimizer.unread.empty()) return doc.set("unread", optimizer.unread);
  doc.set("kind", state.kind == nullptr ? Value() : Value(state.kind->name)).set("evidence", state.evidence);
  const std::vector<const MomentRow*> rows = columns(state);
  Value parameters = Value::array();
  for (std::size_t i = 0; i < state.parameters.size(); ++i) {
    const ParameterState& parameter = state.parameters[i];
    const std::string& name = parameter.name.empty() ? parameter.path : parameter.name;
    Value line = Value::object();
    line.set("key", parameter.key).set("name", name.empty() ? Value() : Value(name));
    line.set("step", parameter.step ? Value(*parameter.step) : Value());
    Value norms = Value::object();
    for (std::size_t m = 0; m < rows.size() && !optimizer.norms.empty(); ++m)
      if (!std::isnan(optimizer.norms[i][m])) norms.set(std::string(rows[m]->torch), optimizer.norms[i][m]);
    if (!optimizer.norms.empty()) line.set("norms", std::move(norms));
    parameters.push(std::move(line));
  }
  Value groups = Value::array();
  for (const ParameterGroup& group : state.groups) groups.push(group.hypers);
  return doc.set("parameters", std::move(parameters)).set("groups", std::move(groups));
}

Value TrainingView::json() const {
  if (optimizers_.empty() && schedulers_.empty()) return nullptr;
  Value optimizers = Value::array();
  for (const Optimizer& optimizer : optimizers_) optimizers.push(optimizer_json(optimizer));
  Value schedulers = Value::array();
  for (const auto& row : schedulers_)
    schedulers.push(Value::object().set("key", row[0]).set("kind", row[1]).set("state", row[2]));
  return Value::object().set("optimizers", std::move(optimizers)).set("schedulers", std::move(schedulers));
}

}  // namespace ckpt
