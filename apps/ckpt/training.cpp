#include "training.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "ckpt/codec/json.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/pytorch/writer.hpp"
#include "ckpt/training/burn_state.hpp"
#include "ckpt/training/configuration.hpp"
#include "ckpt/training/order.hpp"
#include "ckpt/training/orphans.hpp"
#include "ckpt/training/schedulers.hpp"
#include "ckpt/training/torch_state.hpp"

namespace ckpt {
namespace {

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
  const std::optional<double> now = learning_rate(hypers);
  if (!now) return "no learning rate is stated";
  const Value* initial = hypers.find("initial_lr");
  const auto* first = initial == nullptr ? nullptr : initial->as<double>();
  return fmt::format(
      "learning rate {}{}", rust_float(*now),
      first == nullptr || *first == *now ? "" : fmt::format(" (initially {})", rust_float(*first)));
}

/// `scheduler._schedulers.0 (ExponentialLR), …`
std::string places_of(const std::vector<TorchScheduler>& schedulers) {
  std::vector<std::string> names;
  for (const TorchScheduler& scheduler : schedulers)
    names.push_back(fmt::format("{} ({})", scheduler.place,
                                scheduler.kind == nullptr ? "unknown" : scheduler.kind->torch));
  return first_names(names);
}

/// Throws `usage` for a setting that is given twice.
void require_once(const std::vector<std::string>& hypers) {
  std::set<std::string> keys;
  for (const std::string& hyper : hypers)
    if (const std::string key = hyper.substr(0, hyper.find('=')); !keys.insert(key).second)
      throw Error(ErrorKind::usage, fmt::format("--hyper sets {} twice", printable(key)))
          .with_hint("it is set for all groups: give it once");
}

/// Throws `usage` for a record whose name is that of another format.
void require_record_name(const std::string& path) {
  const Format* named = format_for_extension(path);
  if (named != nullptr && named->name != "burnpack")
    throw Error(ErrorKind::usage,
                fmt::format("burn's record is a burnpack, and this name calls for {}", named->name))
        .in_file(path)
        .with_hint("name it .bpk");
}

}  // namespace

Training::Training(const TrainingOptions& options, Checkpoint& whole, const StageOptions::Parsed& stages,
                   const Format& format)
    : options_(options), format_(format), like_(stages.like) {
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
  require_once(options.hypers);
  for (const std::string& path : {options.optimizer_out, options.scheduler_out}) require_record_name(path);
  if (!options.model.empty()) {
    drop_orphans_of_record(whole);
    return;
  }
  need(!options.drop_orphans || wants_records || wants_nested, "--drop-orphans needs the model of the record",
       "name it with --model");
  if (reads_state) take_source(read_source(options, whole, stages));
  if (!options.scheduler_out.empty() || !options.scheduler.empty()) read_schedulers(whole);
  if (wants_nested) format_.plan = plan_pytorch_training;
  if (!wants_records && !wants_nested && !find_torch_optimizers(whole).empty())
    keeping_option_ = is_burnpack ? "--optimizer-out FILE" : is_pytorch ? "--optimizer IN" : "";
}

void Training::drop_orphans_of_record(Checkpoint& whole) {
  if (!is_burn_optimizer(whole))
    refuse(whole.file, "this is no optimizer's record of burn, which --model is for");
  const Checkpoint model = load(options_.model);
  if (std::ranges::none_of(model.tensors, [](const Tensor& tensor) { return tensor.param_id.has_value(); }))
    refuse(model.file, "the model's tensors have no ids, by which burn's record names its parameters",
           "--model takes the burnpack that the record belongs to");
  const std::size_t before = whole.tensors.size();
  const DroppedOrphans dropped = drop_orphans(whole, model);
  for (const std::uint64_t id : dropped.ids) orphans_.push_back(std::to_string(id));
  orphan_tensors_ = before - whole.tensors.size();
}

void Training::take_source(OptimizerSource source) {
  if (!source.state.tensor_settings.empty())
    warnings_.push_back(
        fmt::format("{} of the optimizer {} a tensor; the number is taken, and written as one: {}",
                    count(source.state.tensor_settings.size(), "setting"),
                    source.state.tensor_settings.size() == 1 ? "is" : "are each",
                    first_names(source.state.tensor_settings)));
  if (source.is_of_input) places_.push_back(source.state.place);
  orphans_ = source.orphans;
  orphan_tensors_ = source.orphan_tensors;
  source_ = std::move(source);
}

void Training::read_schedulers(const Checkpoint& whole) {
  const bool is_of_input = options_.scheduler.empty() || options_.scheduler == whole.file;
  const Checkpoint other = is_of_input ? Checkpoint{} : load(options_.scheduler);
  const Checkpoint& source = is_of_input ? whole : other;
  if (source.format == "burnpack" && !is_of_input) return take_burn_scheduler(source);
  const std::vector<TorchScheduler> schedulers = find_torch_schedulers(source, read_number);
  if (schedulers.empty() && options_.may_lack_scheduler) {
    records_.push_back({options_.scheduler_out, {}});
    return;
  }
  if (schedulers.size() != 1)
    refuse(source.file,
           schedulers.empty() ? "there is no scheduler's state"
                              : fmt::format("{} places hold a scheduler's state: {}", schedulers.size(),
                                            places_of(schedulers)),
           schedulers.empty() ? "ckpt inspect shows what there is"
                              : "one is carried: leave the others out of the checkpoint");
  const std::string below = schedulers.front().place + ".";
  if (std::ranges::any_of(source.tensors, [&](const Tensor& t) { return t.name.starts_with(below); }))
    warnings_.emplace_back(
        "rates of the scheduler are tensors; their numbers are taken, and written as such");
  if (is_of_input) places_.push_back(schedulers.front().place);
  if (options_.scheduler_out.empty()) {
    scheduler_ = schedulers.front().members;
    return;
  }
  BurnScheduler burn = [&] {
    try {
      return to_burn(schedulers.front());
    } catch (Error& error) {
      throw error.in_file(source.file).with_hint("leave --scheduler-out away, and build the scheduler anew");
    }
  }();
  burn.record.file = source.file;
  configurations_.push_back(fmt::format("scheduler: {}", fmt::join(burn.configurations, "; ")));
  warnings_.insert(warnings_.end(), burn.warnings.begin(), burn.warnings.end());
  records_.push_back({options_.scheduler_out, std::move(burn.record)});
}

void Training::take_burn_scheduler(const Checkpoint& record) {
  if (!options_.scheduler_out.empty()) {
    records_.push_back({options_.scheduler_out, record});
    return;
  }
  if (record.scalars.empty()) {
    configurations_.emplace_back("scheduler: a constant rate, which has no state");
    return;
  }
  try {
    scheduler_ = to_torch_scheduler(record);
  } catch (Error& error) {
    throw error.with_hint(
        "leave --scheduler away (of a folder, name its model and --optimizer), and build the scheduler anew");
  }
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
  if (!source_) return;
  follow_names(source_->state, prepared.remap);
  for (const EditReport& edits : prepared.edits) follow_names(source_->state, edits);
  if (source_->is_layout_open)
    if (const auto open =
            matrices_of_open_layout(source_->state, prepared.checkpoint, stages.kinds, prepared.source.get());
        !open.empty())
      warnings_.push_back(fmt::format(
          "nothing says whose layout the model is in, and no shape does; it was taken for that of the "
          "optimizer's moments, which matters for {}: {}",
          open.size() == 1 ? "1 square matrix" : fmt::format("{} square matrices", open.size()),
          first_names(open)));
  Carried carried =
      carry(source_->state, prepared.checkpoint, direction, stages.kinds, target, prepared.source.get());
  source_->state = std::move(carried.state);
  lost_ = std::move(carried.lost);
  order_ = std::move(carried.order);
}

std::optional<Prepared> Training::complete(Prepared& prepared) {
  if (!options_.optimizer_out.empty()) make_record(prepared);
  for (const std::string& warning : warnings_) prepared.warnings.push_back(warning);
  if (!keeping_option_.empty())
    prepared.warnings.push_back(
        fmt::format("the optimizer's state is left behind: {} takes it along", keeping_option_));
  if (!lost_.empty())
    prepared.warnings.push_back(fmt::format("the state of {} is left out with them: {}",
                                            count(lost_.size(), "parameter"), first_names(lost_)));
  if (format_.plan != plan_pytorch_training) return {};
  if (source_) {
    order_parameters(prepared);
    if (const std::vector<std::string> inexact = inexact_settings(source_->state); !inexact.empty())
      prepared.warnings.push_back(
          fmt::format("{} may get another type in Python (a list becomes a tuple, a type its name): {}",
                      count(inexact.size(), "setting"), first_names(inexact)));
  }
  return nested(prepared);
}

/// PyTorch finds a parameter's state by counting: as the model does that is written.
void Training::order_parameters(Prepared& prepared) {
  if (!like_.empty()) return follow_like(prepared, read_like(like_, source_->state));
  if (source_->state.groups.empty()) return make_group(prepared);
  if (const std::string name = first_out_of_order(source_->state, prepared.checkpoint); !name.empty())
    prepared.warnings.push_back(
        fmt::format("the optimizer counts the parameters in an order of its own, not in that of OUT (from {} "
                    "on): param_names has it",
                    printable(name)));
}

void Training::follow_like(Prepared& prepared, LikeOptimizer like) {
  OptimizerState& state = source_->state;
  if (!like.why_not.empty())
    prepared.warnings.push_back(
        fmt::format("the optimizer of {} is not taken for a model: {}", printable(like_), like.why_not));
  if (like.state && state.groups.empty()) {
    state.kind = like.state->kind;
    state.groups = std::move(like.state->groups);
    configurations_.push_back(
        fmt::format("  settings and order of the parameters are those of {}", printable(like_)));
    return;
  }
  if (state.groups.empty()) return make_group(prepared);
  if (!like.keeps_order) {
    if (!first_out_of_order(state, prepared.checkpoint).empty())
      prepared.warnings.push_back(
          fmt::format("{} does not keep the order of model.parameters(): the optimizer counts the parameters "
                      "as before, which param_names has",
                      printable(like_)));
    return;
  }
  const Ordering ordering =
      like.state ? follow_groups(state, *like.state) : follow_order(state, prepared.checkpoint, order_);
  if (ordering.is_changed)
    configurations_.push_back(fmt::format("  the parameters are counted in the order of {}{}",
                                          printable(like_), like.state ? "'s optimizer" : "'s model"));
  if (ordering.is_unproven)
    prepared.warnings.push_back(fmt::format(
        "the optimizer counted the parameters in an order of its own; the order of {}'s model was "
        "taken in its place",
        printable(like_)));
}

/// burn's record says nothing of hyper-parameters and of the order that PyTorch counts in.
void Training::make_group(Prepared& prepared) {
  std::vector<std::string> names;
  for (const Tensor* tensor : parameters_of(prepared.checkpoint)) names.push_back(tensor->name);
  source_->state.groups.push_back(default_group(source_->state, std::move(names)));
  const Value& hypers = source_->state.groups.front().hypers;
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
  if (source_->state.kind->torch_counts && source_->state.kind->burn_step.empty())
    prepared.warnings.push_back(fmt::format(
        "burn's {} does not count steps: 0 is written, which changes no number", source_->state.kind->name));
}

void Training::make_record(Prepared& prepared) {
  give_param_ids(prepared.checkpoint);
  std::unordered_map<std::string_view, std::uint64_t> ids;
  std::unordered_map<std::string_view, ParameterState*> states;
  for (const Tensor& tensor : prepared.checkpoint.tensors) ids.emplace(tensor.name, *tensor.param_id);
  for (ParameterState& parameter : source_->state.parameters) {
    states.emplace(parameter.name, &parameter);
    if (!ids.contains(parameter.name)) lost_.push_back(parameter.name);
  }
  tell_configuration(prepared);
  for (ParameterGroup& group : source_->state.groups) {
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
  source_->state.parameters = std::move(ordered);
  Checkpoint record = make_burn_optimizer(source_->state);
  record.file = prepared.checkpoint.file;
  record.integrity = source_->integrity;
  records_.push_back({options_.optimizer_out, std::move(record)});
}

void Training::tell_configuration(Prepared& prepared) const {
  for (std::size_t i = 0; i < source_->state.groups.size(); ++i) {
    const ParameterGroup& group = source_->state.groups[i];
    const BurnConfiguration burn = burn_configuration(*source_->state.kind, group.hypers);
    const std::string of_group = source_->state.groups.size() == 1 ? "" : fmt::format(" for group {}", i);
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
  if (source_) {
    for (const std::string& hyper : options_.hypers) set_hyper(source_->state, hyper);
    Checkpoint optimizer = make_torch_optimizer(source_->state);
    for (Tensor& tensor : optimizer.tensors) {
      tensor.name = "optimizer." + tensor.name;
      checkpoint.tensors.push_back(std::move(tensor));
    }
    checkpoint.values.set("optimizer", std::move(optimizer.values));
    if (!source_->is_of_input)
      checkpoint.integrity.insert(checkpoint.integrity.end(), source_->integrity.begin(),
                                  source_->integrity.end());
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
    emit_output(plan, record.checkpoint, *record.output, options.resources.parse());
    record.output->flush();
  }
}

void Training::commit() {
  for (Record& record : records_)
    if (record.output) record.output->commit();
}

void Training::verify(const Talk& talk) const {
  for (const Record& record : records_) {
    if (!record.output) continue;
    Prepared planned;
    planned.checkpoint = record.checkpoint;
    verify_output(planned, record.path, talk);
  }
}

void Training::print(bool explain, const Talk& talk) const {
  if (explain && source_)
    for (const std::string& line : source_->explained) talk.report(line);
  if (!orphans_.empty())
    talk.report(fmt::format("dropped {} of {} that the model does not have: {}",
                            count(orphan_tensors_, "orphan tensor"), count(orphans_.size(), "parameter"),
                            first_names(orphans_)));
  if (source_) {
    std::size_t moments = 0;
    for (const ParameterState& parameter : source_->state.parameters) moments += parameter.moments.size();
    talk.report(fmt::format("optimizer: {} ({}), {} with {}; joined by {}", source_->state.kind->name,
                            source_->state.evidence, count(source_->state.parameters.size(), "parameter"),
                            count(moments, "moment"), source_->join.how));
    if (!source_->join.open.empty())
      talk.report(fmt::format("  no shape proves the order of {}: {}",
                              count(source_->join.open.size(), "parameter"),
                              first_names(source_->join.open)));
    if (!options_.optimizer_out.empty()) {
      for (const ParameterGroup& group : source_->state.groups)
        talk.report(fmt::format("  write {}, {}", burn_configuration(*source_->state.kind, group.hypers).code,
                                rate_text(group.hypers)));
      talk.report(
          "  if the training clips gradients: PyTorch's norm is of all parameters together, burn's of each");
    }
  }
  for (const std::string& line : configurations_) talk.report(line);
}

Value Training::json() const {
  Value doc = Value::object();
  if (source_) {
    Value configurations = Value::array();
    for (const ParameterGroup& group : source_->state.groups)
      configurations.push(burn_configuration(*source_->state.kind, group.hypers).code);
    doc.set("kind", source_->state.kind->name)
        .set("parameters", static_cast<std::uint64_t>(source_->state.parameters.size()))
        .set("join", source_->join.how)
        .set("open", strings_json(source_->join.open))
        .set("configurations", std::move(configurations));
  }
  doc.set("orphans", strings_json(orphans_)).set("lost", strings_json(lost_));
  return doc;
}

}  // namespace ckpt
