#include "training.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "ckpt/codec/json.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/pytorch/writer.hpp"
#include "ckpt/kernels/statistics.hpp"
#include "ckpt/kernels/tensor_reader.hpp"
#include "ckpt/stages/root.hpp"
#include "ckpt/training/burn_state.hpp"
#include "ckpt/training/configuration.hpp"
#include "ckpt/training/orphans.hpp"
#include "ckpt/training/schedulers.hpp"
#include "ckpt/training/torch_state.hpp"

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

/// Whether `name` is the place or lies below it.
bool is_below(std::string_view name, std::string_view place) {
  return place.empty() || name == place ||
         (name.size() > place.size() && name.starts_with(place) && name[place.size()] == '.');
}

/// Takes the value at a dotted path away, and what is empty without it.
bool remove_at(Value& value, std::string_view path) {
  const auto step = [&](std::string_view key, Value& member) {
    if (path == key) return true;
    return path.starts_with(key) && path.substr(key.size()).starts_with('.') &&
           remove_at(member, path.substr(key.size() + 1));
  };
  if (auto* object = value.as<Value::Object>()) {
    std::erase_if(*object, [&](auto& member) { return step(member.first, member.second); });
    return object->empty();
  }
  if (auto* array = value.as<Value::Array>()) {
    for (std::size_t i = 0; i < array->size(); ++i)
      if (step(std::to_string(i), (*array)[i])) (*array)[i] = nullptr;
    return std::ranges::all_of(*array, &Value::is_null);
  }
  return false;
}

[[noreturn]] void refuse(const std::string& file, std::string what, std::string hint = {}) {
  throw Error(ErrorKind::refused, std::move(what)).in_file(file).with_hint(std::move(hint));
}

/// The rate of the next step, and where a scheduler has moved it, the one that it began with.
std::string rate_text(const Value& hypers) {
  const double now = learning_rate(hypers).value_or(0);
  const Value* initial = hypers.find("initial_lr");
  const auto* first = initial == nullptr ? nullptr : initial->as<double>();
  return first == nullptr || *first == now
             ? rust_float(now)
             : fmt::format("{} (initially {})", rust_float(now), rust_float(*first));
}

std::string some(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 5); ++i)
    text += (i == 0 ? "" : ", ") + printable(names[i]);
  return names.size() > 5 ? text + ", …" : text;
}

}  // namespace

void TrainingOptions::add(CLI::App& app) {
  app.add_option("--optimizer-out", optimizer_out,
                 "Write the optimizer's state as burn's record, keyed by the ids of OUT")
      ->type_name("FILE");
  app.add_option("--scheduler-out", scheduler_out,
                 "Write the state of the learning-rate scheduler as burn's record")
      ->type_name("FILE");
  app.add_option("--optimizer", optimizer,
                 "Take the optimizer's state from this file; a PyTorch OUT holds it beside the model")
      ->type_name("FILE");
  app.add_option("--scheduler", scheduler, "The same for burn's record of a scheduler")->type_name("FILE");
  app.add_option("--optimizer-key", optimizer_key, "Which optimizer, where a checkpoint holds several")
      ->type_name("KEY");
  app.add_option("--optimizer-kind", optimizer_kind,
                 "Adam or AdamW, SGD or Muon, where the state does not tell")
      ->type_name("KIND");
  app.add_option("--param-names", param_names, "Names of the parameters by position, one a line")
      ->type_name("FILE");
  app.add_option("--hyper", hypers, "A setting of the optimizer that is written (repeatable)")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--model", model, "With --drop-orphans: the model that the record IN belongs to")
      ->type_name("FILE");
  app.add_flag("--drop-orphans", drop_orphans,
               "Leave out the state of parameters that the model does not have");
}

double read_number(const Tensor& tensor) {
  if (!can_measure(tensor.dtype))
    fail(ErrorKind::refused, "tensor {}: {} is no number", printable(tensor.name), name(tensor.dtype));
  TensorReader reader(1U << 12);
  reader.start(tensor);
  StatisticsGatherer gatherer(tensor.dtype);
  for (auto piece = reader.next(); !piece.empty(); piece = reader.next()) gatherer.add(piece);
  const Statistics statistics = gatherer.finish();
  return statistics.finite() == 0 ? -1 : static_cast<double>(statistics.min);
}

std::optional<OptimizerState> read_optimizer(const Checkpoint& checkpoint, const std::string& key) {
  if (is_burn_optimizer(checkpoint)) return read_burn_optimizer(checkpoint);
  std::vector<std::string> places = find_torch_optimizers(checkpoint);
  if (!key.empty()) places = {key == "." ? "" : key};
  if (places.empty()) return std::nullopt;
  if (places.size() > 1)
    refuse(checkpoint.file,
           fmt::format("{} places hold an optimizer's state: {}", places.size(), some(places)),
           fmt::format("--optimizer-key {} takes one of them", printable(places.front())));
  return read_torch_optimizer(checkpoint, places.front(), read_number);
}

Training::Training(const TrainingOptions& options, Checkpoint& whole, const StageOptions::Parsed& stages,
                   const Format& format)
    : options_(options), format_(format) {
  const auto need = [](bool is_right, const char* what, const char* hint) {
    if (!is_right) throw Error(ErrorKind::usage, what).with_hint(hint);
  };
  const bool is_burnpack = format.name == "burnpack";
  const bool is_pytorch = format.name == "pytorch";
  const bool wants_records = !options.optimizer_out.empty() || !options.scheduler_out.empty();
  const bool wants_nested = is_pytorch && (!options.optimizer.empty() || !options.scheduler.empty());
  need(!wants_records || is_burnpack,
       "burn's records go with a burnpack, which alone holds the parameters' ids", "name OUT .bpk");
  need(options.optimizer.empty() || is_pytorch || !options.optimizer_out.empty(),
       "--optimizer needs a place to go to", "name OUT .pt, or give --optimizer-out");
  need(options.scheduler.empty() || is_pytorch || !options.scheduler_out.empty(),
       "--scheduler needs a place to go to", "name OUT .pt, or give --scheduler-out");
  need(options.model.empty() || options.drop_orphans, "--model is of use with --drop-orphans only",
       "ckpt check RECORD --model MODEL tells what does not fit");
  need((!wants_records && !wants_nested) || (stages.casts.rules.empty() && !stages.casts.half),
       "a cast would not reach the optimizer's state", "convert without a cast, then cast the model");
  const bool reads_state = !options.optimizer_out.empty() || !options.optimizer.empty();
  need(reads_state ||
           (options.optimizer_key.empty() && options.optimizer_kind.empty() && options.param_names.empty()),
       "--optimizer-key, --optimizer-kind and --param-names say nothing where no optimizer is read",
       "--optimizer-out FILE or --optimizer FILE reads one");
  need(options.hypers.empty() || (is_pytorch && !options.optimizer.empty()),
       "--hyper sets what is written beside a PyTorch model, and nothing is",
       "ckpt convert model.bpk train.pt --optimizer optim.bpk");
  if (!options.model.empty()) {
    drop_orphans_of_record(whole);
    return;
  }
  need(!options.drop_orphans || wants_records || wants_nested, "--drop-orphans needs the model of the record",
       "name it with --model");
  if (reads_state) read_state(whole, stages);
  if (!options.scheduler_out.empty() || !options.scheduler.empty()) read_schedulers(whole);
  if (wants_nested) format_.plan = plan_pytorch_training;
  is_left_behind_ = is_burnpack && !wants_records && !find_torch_optimizers(whole).empty();
}

void Training::drop_orphans_of_record(Checkpoint& whole) {
  if (!is_burn_optimizer(whole))
    refuse(whole.file, "this is no optimizer's record of burn, which --model is for");
  const std::size_t before = whole.tensors.size();
  const DroppedOrphans dropped = drop_orphans(whole, load(options_.model));
  for (const std::uint64_t id : dropped.ids) orphans_.push_back(std::to_string(id));
  orphan_tensors_ = before - whole.tensors.size();
}

void Training::read_state(const Checkpoint& whole, const StageOptions::Parsed& stages) {
  is_of_input_ = options_.optimizer.empty() || options_.optimizer == whole.file;
  const Checkpoint other = is_of_input_ ? Checkpoint{} : load(options_.optimizer);
  const Checkpoint& source = is_of_input_ ? whole : other;
  state_ = read_optimizer(source, options_.optimizer_key);
  if (!state_) refuse(source.file, "there is no optimizer's state", "ckpt inspect shows what there is");
  const std::string& file = source.file;
  integrity_ = source.integrity;
  if (!options_.optimizer_kind.empty()) {
    const OptimizerKind* kind = find_optimizer(options_.optimizer_kind);
    if (kind == nullptr || state_->kind == nullptr || kind->moments.data() != state_->kind->moments.data())
      refuse(file, fmt::format("--optimizer-kind {}: the state is not of that kind, but of {}",
                               printable(options_.optimizer_kind),
                               state_->kind == nullptr ? "an unknown one" : state_->kind->name));
    state_->kind = kind;
    state_->evidence = "given";
  }
  const std::string_view kind = state_->kind == nullptr ? "this optimizer" : state_->kind->name;
  if (state_->kind == nullptr || state_->kind->config.empty())
    refuse(file,
           fmt::format("{}: {} {}", state_->place.empty() ? "optimizer" : state_->place, kind,
                       state_->kind == nullptr ? "is none of those that burn has" : state_->kind->why_not),
           "leave the optimizer's state out: convert the model alone");
  if (!state_->other_kinds.empty())
    refuse(file,
           fmt::format("the record holds the state of several optimizers: {}, {}", kind,
                       fmt::join(state_->other_kinds, ", ")),
           "PyTorch keeps a state for each: save them apart in burn");
  if (!state_->unknown.empty())
    refuse(file, fmt::format("{} has no place for {}", kind, some(state_->unknown)));

  std::vector<std::string> dropped;
  const Checkpoint model = select_root(whole, stages.top_level_key, dropped);
  const bool is_record = is_burn_optimizer(source);
  join_ = is_record
              ? join_by_id(*state_, model)
              : join_by_position(*state_, model,
                                 options_.param_names.empty() ? std::vector<std::string>{}
                                                              : lines_of(read_text(options_.param_names)));
  if (!join_.problem.empty())
    refuse(file, join_.problem,
           is_record ? "" : "--param-names FILE names the parameters by position, one a line");
  if (join_.is_ambiguous)
    warnings_.push_back(
        fmt::format("shapes alone leave the order of the parameters open: {} was taken", join_.how));
  std::vector<std::string> incomplete;
  for (const ParameterState& parameter : state_->parameters) {
    const std::string where = fmt::format("{} {}", is_record ? "id" : "position", parameter.key);
    explained_.push_back(
        fmt::format("{} -> {}: {}", where,
                    parameter.name.empty() ? "(the model has no such parameter)" : printable(parameter.name),
                    parameter.step ? fmt::format("step {}", *parameter.step) : "no step"));
    for (const Tensor& moment : parameter.moments)
      explained_.back() += fmt::format(", {} {}", printable(moment.name), to_string(moment.shape));
    if (parameter.name.empty())
      orphans_.push_back(parameter.key), orphan_tensors_ += parameter.moments.size();
    else if (!parameter.missing.empty())
      incomplete.push_back(fmt::format("{} of {}", parameter.missing.front(), where));
  }
  if (!orphans_.empty() && !options_.drop_orphans)
    refuse(file,
           fmt::format("{} of {} with state are not in the model: {}", orphans_.size(),
                       count(state_->parameters.size(), "parameter"), some(orphans_)),
           "--drop-orphans leaves them out");
  if (!incomplete.empty())
    refuse(file, fmt::format("the state is not complete: {} is missing", some(incomplete)));
  std::erase_if(state_->parameters, [](const ParameterState& parameter) { return parameter.name.empty(); });
  if (is_of_input_) places_.push_back(state_->place);
}

void Training::read_schedulers(const Checkpoint& whole) {
  if (!options_.scheduler.empty()) {
    Checkpoint record = load(options_.scheduler);
    if (record.scalars.empty())
      configurations_.emplace_back("scheduler: a constant rate, which has no state");
    else scheduler_ = to_torch_scheduler(record);
    if (!options_.scheduler_out.empty()) records_.push_back({options_.scheduler_out, std::move(record)});
    return;
  }
  const std::vector<TorchScheduler> schedulers = find_torch_schedulers(whole);
  if (schedulers.empty() && options_.may_lack_scheduler) {
    records_.push_back({options_.scheduler_out, {}});
    return;
  }
  if (schedulers.size() != 1)
    refuse(whole.file, schedulers.empty()
                           ? "there is no scheduler's state"
                           : fmt::format("{} places hold a scheduler's state", schedulers.size()));
  BurnScheduler burn = [&] {
    try {
      return to_burn(schedulers.front());
    } catch (Error& error) {
      throw error.in_file(whole.file).with_hint("leave --scheduler-out away, and build the scheduler anew");
    }
  }();
  burn.record.file = whole.file;
  configurations_.push_back(fmt::format("scheduler: {}", fmt::join(burn.configurations, "; ")));
  warnings_.insert(warnings_.end(), burn.warnings.begin(), burn.warnings.end());
  places_.push_back(schedulers.front().place);
  records_.push_back({options_.scheduler_out, std::move(burn.record)});
}

/// What goes into a record of its own is neither dropped nor left behind.
void Training::forget(Prepared& prepared) const {
  for (const std::string& place : places_) {
    const std::size_t before = prepared.dropped.size();
    std::erase_if(prepared.dropped, [&](const std::string& name) { return is_below(name, place); });
    prepared.read -= before - prepared.dropped.size();
    remove_at(prepared.checkpoint.values, place);
  }
}

void Training::carry_along(Prepared& prepared, Direction direction, const StageOptions::Parsed& stages,
                           const Target* target) {
  forget(prepared);
  if (!state_) return;
  follow_names(*state_, prepared.remap);
  Carried carried = carry(*state_, prepared.checkpoint, direction, stages.kinds, target);
  state_ = std::move(carried.state);
  lost_ = std::move(carried.lost);
}

Prepared Training::complete(Prepared& prepared) {
  if (!options_.optimizer_out.empty()) make_record(prepared);
  for (const std::string& warning : warnings_) prepared.warnings.push_back(warning);
  if (is_left_behind_)
    prepared.warnings.emplace_back(
        "the optimizer's state is left behind: --optimizer-out FILE takes it along");
  if (!lost_.empty())
    prepared.warnings.push_back(fmt::format("the state of {} is left out with them: {}",
                                            count(lost_.size(), "parameter"), some(lost_)));
  if (format_.plan != plan_pytorch_training) return prepared;
  if (state_ && state_->groups.empty()) make_group(prepared);
  return nested(prepared);
}

/// burn's record says nothing of hyper-parameters and of the order that PyTorch counts in.
void Training::make_group(Prepared& prepared) {
  std::vector<std::string> names;
  for (const Tensor* tensor : parameters_of(prepared.checkpoint)) names.push_back(tensor->name);
  state_->groups.push_back(default_group(*state_, std::move(names)));
  const Value& hypers = state_->groups.front().hypers;
  std::vector<std::string> missing;
  for (const auto& [key, value] : *hypers.as<Value::Object>()) {
    const bool is_given = std::ranges::any_of(
        options_.hypers, [&](const std::string& hyper) { return hyper.starts_with(key + "="); });
    if (!is_given) missing.push_back(fmt::format("{}={}", key, json::dump(value)));
  }
  if (!missing.empty())
    prepared.warnings.push_back(
        fmt::format("burn's record holds no hyper-parameters; written as PyTorch's rate and "
                    "burn's defaults: {}; --hyper KEY=VALUE sets them",
                    fmt::join(missing, ", ")));
  prepared.warnings.emplace_back(
      "the optimizer counts the parameters in the order of OUT, which must be that of model.parameters()");
  if (state_->kind->torch_counts && state_->kind->burn_step.empty())
    prepared.warnings.push_back(fmt::format(
        "burn's {} does not count steps: 0 is written, which changes no number", state_->kind->name));
}

void Training::make_record(Prepared& prepared) {
  give_param_ids(prepared.checkpoint);
  std::unordered_map<std::string_view, std::uint64_t> ids;
  std::unordered_map<std::string_view, ParameterState*> states;
  for (const Tensor& tensor : prepared.checkpoint.tensors) ids.emplace(tensor.name, *tensor.param_id);
  for (ParameterState& parameter : state_->parameters) {
    states.emplace(parameter.name, &parameter);
    if (!ids.contains(parameter.name)) lost_.push_back(parameter.name);
  }
  tell_configuration(prepared);
  for (ParameterGroup& group : state_->groups) {
    std::vector<std::string> keys;
    for (const std::string& name : group.keys)
      if (const auto at = ids.find(name); at != ids.end()) keys.push_back(std::to_string(at->second));
    group.keys = std::move(keys);
  }
  std::vector<ParameterState> ordered;
  for (const Tensor& tensor : prepared.checkpoint.tensors)
    if (const auto at = states.find(tensor.name); at != states.end()) {
      at->second->param_id = tensor.param_id;
      ordered.push_back(std::move(*at->second));
    }
  state_->parameters = std::move(ordered);
  Checkpoint record = make_burn_optimizer(*state_);
  record.file = prepared.checkpoint.file;
  record.integrity = integrity_;
  records_.push_back({options_.optimizer_out, std::move(record)});
}

void Training::tell_configuration(Prepared& prepared) const {
  for (std::size_t i = 0; i < state_->groups.size(); ++i) {
    const ParameterGroup& group = state_->groups[i];
    const BurnConfiguration burn = burn_configuration(*state_->kind, group.hypers);
    const std::string of_group = state_->groups.size() == 1 ? "" : fmt::format(" for group {}", i);
    if (!burn.differences.empty())
      prepared.warnings.push_back(
          fmt::format("hyper-parameters do not travel in burn's record{}: {}; write {}", of_group,
                      fmt::join(burn.differences, ", "), burn.code));
    for (const std::string& lacking : burn.lacking) prepared.warnings.push_back(lacking);
  }
}

/// Model, optimizer and scheduler as the one dict that training scripts save.
Prepared Training::nested(const Prepared& prepared) {
  Prepared result = prepared;
  Checkpoint& checkpoint = result.checkpoint;
  for (Tensor& tensor : checkpoint.tensors) tensor.name = "model." + tensor.name;
  checkpoint.values = Value::object();
  if (state_) {
    for (const std::string& hyper : options_.hypers) set_hyper(*state_, hyper);
    Checkpoint optimizer = make_torch_optimizer(*state_);
    for (Tensor& tensor : optimizer.tensors) {
      tensor.name = "optimizer." + tensor.name;
      checkpoint.tensors.push_back(std::move(tensor));
    }
    checkpoint.values.set("optimizer", std::move(optimizer.values));
    if (!is_of_input_)
      checkpoint.integrity.insert(checkpoint.integrity.end(), integrity_.begin(), integrity_.end());
  }
  if (scheduler_) checkpoint.values.set("scheduler", *scheduler_);
  return result;
}

void Training::write(const WriteOptions& options) {
  const Format& burnpack = *find_format("burnpack");
  for (Record& record : records_) {
    const Plan plan = plan_output(record.checkpoint, burnpack);
    if (options.dry_run) continue;
    const Interruptible guard;
    record.output = std::make_unique<AtomicOutput>(record.path, guard.output_options(options.force));
    emit_output(plan, record.checkpoint, *record.output);
    record.output->flush();
  }
}

void Training::commit() {
  for (Record& record : records_)
    if (record.output) record.output->commit();
}

void Training::print(bool explain, const Talk& talk) const {
  if (explain)
    for (const std::string& line : explained_) talk.report(line);
  if (!orphans_.empty())
    talk.report(fmt::format("dropped {} of {} that the model does not have: {}",
                            count(orphan_tensors_, "orphan tensor"), count(orphans_.size(), "parameter"),
                            some(orphans_)));
  if (state_) {
    std::size_t moments = 0;
    for (const ParameterState& parameter : state_->parameters) moments += parameter.moments.size();
    talk.report(fmt::format("optimizer: {} ({}), {} with {}; joined by {}", state_->kind->name,
                            state_->evidence, count(state_->parameters.size(), "parameter"),
                            count(moments, "moment"), join_.how));
    if (!join_.open.empty())
      talk.report(fmt::format("  no shape proves the order of {}: {}", count(join_.open.size(), "parameter"),
                              some(join_.open)));
    if (!options_.optimizer_out.empty()) {
      for (const ParameterGroup& group : state_->groups)
        talk.report(fmt::format("  write {}, learning rate {}",
                                burn_configuration(*state_->kind, group.hypers).code,
                                rate_text(group.hypers)));
      talk.report(
          "  if the training clips gradients: PyTorch's norm is of all parameters together, burn's of each");
    }
  }
  for (const std::string& line : configurations_) talk.report(line);
}

Value Training::json() const {
  Value doc = Value::object();
  if (state_) {
    Value configurations = Value::array();
    for (const ParameterGroup& group : state_->groups)
      configurations.push(burn_configuration(*state_->kind, group.hypers).code);
    doc.set("kind", state_->kind->name)
        .set("parameters", static_cast<std::uint64_t>(state_->parameters.size()))
        .set("join", join_.how)
        .set("open", strings_json(join_.open))
        .set("configurations", std::move(configurations));
  }
  doc.set("orphans", strings_json(orphans_)).set("lost", strings_json(lost_));
  return doc;
}

}  // namespace ckpt
