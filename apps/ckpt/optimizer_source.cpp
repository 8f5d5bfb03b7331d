#include "optimizer_source.hpp"

#include <fmt/ranges.h>

#include <cmath>

#include "ckpt/core/error.hpp"
#include "ckpt/core/quoted.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/kernels/statistics.hpp"
#include "ckpt/kernels/tensor_reader.hpp"
#include "ckpt/stages/root.hpp"
#include "ckpt/training/burn_state.hpp"
#include "ckpt/training/torch_state.hpp"
#include "name_lists.hpp"
#include "pipeline.hpp"
#include "terminal.hpp"

namespace ckpt {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) lines.push_back(std::move(line));
    at = end + 1;
  }
  return lines;
}

[[noreturn]] void refuse(const std::string& file, std::string what, std::string hint = {}) {
  throw Error(ErrorKind::refused, std::move(what)).in_file(file).with_hint(std::move(hint));
}

void choose_kind(OptimizerState& state, const std::string& name, const std::string& file) {
  const OptimizerKind* kind = find_optimizer(name);
  if (kind == nullptr || state.kind == nullptr || kind->moments.data() != state.kind->moments.data())
    refuse(file, fmt::format("--optimizer-kind {}: the state is not of that kind, but of {}", printable(name),
                             state.kind == nullptr ? "an unknown one" : state.kind->name));
  state.kind = kind;
  state.evidence = "given";
}

void require_counterpart(const OptimizerState& state, const std::string& file) {
  const std::string_view kind = state.kind == nullptr ? "this optimizer" : state.kind->name;
  if (state.kind == nullptr || state.kind->config.empty())
    refuse(file,
           fmt::format("{}: {} {}", state.place.empty() ? "optimizer" : printable(state.place), kind,
                       state.kind == nullptr ? "is none of those that burn has" : state.kind->why_not),
           "leave the optimizer's state out: convert the model alone");
  if (!state.other_kinds.empty())
    refuse(file,
           fmt::format("the record holds the state of several optimizers: {}, {}", kind,
                       fmt::join(state.other_kinds, ", ")),
           "PyTorch keeps a state for each: save them apart in burn");
  if (!state.unknown.empty())
    refuse(file, fmt::format("{} has no place for {}", kind, first_names(state.unknown)));
}

/// Whose layout the model is in: a direction that the user gives says it, too.
Convention model_convention(const Checkpoint& model, const StageOptions::Parsed& stages) {
  if (stages.adapter == Direction::pytorch_to_burn) return Convention::pytorch;
  if (stages.adapter == Direction::burn_to_pytorch) return Convention::burn;
  return convention_of(model);
}

/// The way out of a conflict of layouts: the optimizer stays, the model changes sides.
std::string hint_to_change_sides(const Checkpoint& model, Convention from,
                                 const StageOptions::Parsed& stages) {
  const bool is_burn = from == Convention::burn;
  const char* name = is_burn ? "in-pytorch.pt" : "in-burn.bpk";
  const bool is_told = convention_of(model) != from;
  return fmt::format(
      "first convert the model alone: ckpt convert {} {}{}{}; then give {} in its place{}{}",
      shell_word(model.file), name,
      is_told ? fmt::format(" --adapter {}", direction_name(*stages.adapter)) : "",
      is_burn ? "" : " --like MODEL (the record's own model, for its ids)", name,
      stages.adapter ? ", without --adapter" : "",
      is_burn && model.format == "safetensors"
          ? ", with --param-names FILE (a safetensors file does not keep the parameters' order)"
          : "");
}

/// Lists every parameter's match, and finds those that have none or are not complete.
void look_through(OptimizerSource& source, const std::string& file, bool is_record, bool drops_orphans) {
  std::vector<std::string> incomplete;
  for (const ParameterState& parameter : source.state.parameters) {
    const std::string where = fmt::format("{} {}", is_record ? "id" : "position", printable(parameter.key));
    const bool is_orphan = parameter.name.empty();
    std::string line = fmt::format(
        "{} -> {}: {}", where, is_orphan ? "(the model has no such parameter)" : printable(parameter.name),
        parameter.step ? fmt::format("step {}", *parameter.step) : "no step");
    for (const Tensor& moment : parameter.moments)
      line += fmt::format(", {} {}", printable(moment.name), to_string(moment.shape));
    source.explained.push_back(std::move(line));
    if (is_orphan) {
      source.orphans.push_back(parameter.key);
      source.orphan_tensors += parameter.moments.size();
    } else if (!parameter.missing.empty()) {
      incomplete.push_back(fmt::format("{} of {}", parameter.missing.front(), where));
    }
  }
  if (!source.orphans.empty() && !drops_orphans)
    refuse(file,
           fmt::format("{} of {} with state are not in the model: {}", source.orphans.size(),
                       count(source.state.parameters.size(), "parameter"), first_names(source.orphans)),
           "--drop-orphans leaves them out");
  if (!incomplete.empty())
    refuse(file, fmt::format("the state is not complete: {} is missing", first_names(incomplete)));
  std::erase_if(source.state.parameters,
                [](const ParameterState& parameter) { return parameter.name.empty(); });
}

}  // namespace

double read_number(const Tensor& tensor) {
  if (!can_measure(tensor.dtype))
    fail(ErrorKind::refused, "tensor {}: {} is no number", printable(tensor.name), name(tensor.dtype));
  TensorReader reader(1U << 12);
  reader.start(tensor);
  StatisticsGatherer gatherer(tensor.dtype);
  for (auto piece = reader.next(); !piece.empty(); piece = reader.next()) gatherer.add(piece);
  const Statistics statistics = gatherer.finish();
  if (statistics.finite() > 0) return static_cast<double>(statistics.min);
  if (statistics.infinities == 0) return NAN;
  // Of a number that is infinite the sign alone is to be told.
  reader.start(tensor);
  const auto piece = reader.next();
  return (std::to_integer<unsigned>(piece.back()) & 0x80U) != 0 ? -HUGE_VAL : HUGE_VAL;
}

std::string layout_conflict(const Checkpoint& optimizer, const Checkpoint& model, Convention convention) {
  const Convention moments = convention_of(optimizer);
  if (moments == convention || moments == Convention::either || convention == Convention::either) return {};
  const bool is_burn = moments == Convention::burn;
  return fmt::format("the moments are in {} layout, but the model {} is in {}",
                     is_burn ? "burn's" : "PyTorch's", printable(model.file),
                     is_burn ? "PyTorch's" : "burn's");
}

std::optional<OptimizerState> read_optimizer(const Checkpoint& checkpoint, const std::string& key) {
  if (is_burn_optimizer(checkpoint)) return read_burn_optimizer(checkpoint);
  std::vector<std::string> places = find_torch_optimizers(checkpoint);
  if (!key.empty()) places = {key == "." ? "" : key};
  if (places.empty()) return std::nullopt;
  if (places.size() > 1)
    refuse(checkpoint.file,
           fmt::format("{} places hold an optimizer's state: {}", places.size(), first_names(places)),
           fmt::format("--optimizer-key {} takes one of them", shell_word(places.front())));
  return read_torch_optimizer(checkpoint, places.front(), read_number);
}

OptimizerSource read_source(const TrainingOptions& options, const Checkpoint& whole,
                            const StageOptions::Parsed& stages) {
  OptimizerSource source;
  source.is_of_input = options.optimizer.empty() || options.optimizer == whole.file;
  const Checkpoint other = source.is_of_input ? Checkpoint{} : load(options.optimizer);
  const Checkpoint& file = source.is_of_input ? whole : other;
  std::optional<OptimizerState> state = read_optimizer(file, options.optimizer_key);
  if (!state) refuse(file.file, "there is no optimizer's state", "ckpt inspect shows what there is");
  source.state = *std::move(state);
  source.integrity = file.integrity;
  if (!options.optimizer_kind.empty()) choose_kind(source.state, options.optimizer_kind, file.file);
  require_counterpart(source.state, file.file);
  if (!source.is_of_input) {
    const Convention convention = model_convention(whole, stages);
    if (std::string conflict = layout_conflict(file, whole, convention); !conflict.empty())
      refuse(file.file, std::move(conflict), hint_to_change_sides(whole, convention, stages));
    source.is_layout_open = convention == Convention::either && !is_burn_optimizer(file);
    if (source.is_layout_open && !options.optimizer_out.empty() && !stages.adapter)
      refuse(
          whole.file, "nothing says whose layout the model is in, but burn's record takes moments in burn's",
          "--adapter pytorch-to-burn if it is in PyTorch's, as the moments are; --adapter none carries both "
          "as they are");
  }

  std::vector<std::string> dropped;
  const Checkpoint model = select_root(whole, stages.top_level_key, dropped);
  const bool is_record = is_burn_optimizer(file);
  std::vector<std::string> names;
  if (!options.param_names.empty()) names = lines_of(read_text(options.param_names));
  source.join = is_record ? join_by_id(source.state, model) : join_by_position(source.state, model, names);
  if (!source.join.problem.empty()) refuse(file.file, source.join.problem, source.join.hint);
  if (source.join.is_by_order && !source.join.open.empty() && whole.format == "safetensors")
    refuse(whole.file,
           fmt::format(
               "a safetensors file does not keep the order of model.parameters(), and no shape proves that "
               "of {}: {}",
               count(source.join.open.size(), "parameter"), first_names(source.join.open)),
           "--param-names FILE names the parameters by position, one a line");
  look_through(source, file.file, is_record, options.drop_orphans);
  return source;
}

LikeOptimizer read_like(const std::string& path, const OptimizerState& state) {
  LikeOptimizer result;
  if (read_lock(path)) return result;  // sorted, and without an optimizer
  const Checkpoint checkpoint = load(path);
  result.keeps_order = checkpoint.format == "pytorch";
  const std::size_t places = find_torch_optimizers(checkpoint).size();
  if (places == 0) return result;
  if (places > 1) {
    result.why_not = fmt::format("it holds {} optimizers", places);
    return result;
  }
  std::optional<OptimizerState> other = read_optimizer(checkpoint);
  if (other->kind == nullptr || other->kind->moments.data() != state.kind->moments.data()) {
    result.why_not =
        fmt::format("it is {}, not {}", other->kind == nullptr ? "of an unknown kind" : other->kind->name,
                    state.kind->name);
    return result;
  }
  std::vector<std::string> dropped;
  const Join join = join_by_position(*other, select_root(checkpoint, std::nullopt, dropped));
  if (!join.problem.empty()) result.why_not = join.problem;
  else result.state = std::move(other);
  return result;
}

}  // namespace ckpt
