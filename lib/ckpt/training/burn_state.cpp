// burn's record of an optimizer, an id being a ParamId in decimals:
//
//   tensors   {id}.momentum.moment_1, …    scalars   {id}.__rank, {id}.momentum.time
//   metadata  {id} -> the parameter's path in the module
//
// L-BFGS alone has names without ids.
#include "ckpt/training/burn_state.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/training/numbers.hpp"

namespace ckpt {
namespace {

constexpr std::string_view rank_key = "__rank";

std::optional<std::uint64_t> whole(const Scalar& scalar) {
  if (const auto* u = std::get_if<std::uint64_t>(&scalar)) return *u;
  if (const auto* i = std::get_if<std::int64_t>(&scalar); i != nullptr && *i >= 0)
    return static_cast<std::uint64_t>(*i);
  return std::nullopt;
}

std::optional<std::uint64_t> whole(const Value& value) {
  if (const auto* u = value.as<std::uint64_t>()) return *u;
  if (const auto* i = value.as<std::int64_t>(); i != nullptr && *i >= 0)
    return static_cast<std::uint64_t>(*i);
  return std::nullopt;
}

/// The row whose burn paths fit all tensors of one parameter; AdamW's are Adam's, Muon's are SGD's.
const OptimizerKind* kind_of(const std::vector<std::string_view>& paths) {
  if (paths.empty()) return find_optimizer("SGD");  // without momentum it keeps nothing
  for (const OptimizerKind& kind : optimizer_table()) {
    if (kind.moments.empty() || kind.name == "Muon") continue;
    if (std::ranges::all_of(paths, [&](std::string_view path) {
          return std::ranges::any_of(kind.moments, [&](const MomentRow& row) { return row.burn == path; });
        }))
      return &kind;
  }
  return nullptr;
}

class Reader {
 public:
  explicit Reader(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  OptimizerState read() {
    if (checkpoint_.scalars.contains("history_s.len") || checkpoint_.scalars.contains("g_iter")) {
      state_.kind = find_optimizer("LBFGS");
      state_.evidence = "its names are L-BFGS's";
      return std::move(state_);
    }
    for (const Tensor& tensor : checkpoint_.tensors) {
      if (const auto key = parse_record_key(tensor.name))
        parts(key->id).tensors.emplace_back(key->path, &tensor);
      else state_.unknown.push_back(tensor.name);
    }
    for (const auto& [name, scalar] : checkpoint_.scalars) {
      if (const auto key = parse_record_key(name)) parts(key->id).scalars.emplace_back(key->path, &scalar);
      else state_.unknown.push_back(name);
    }
    for (const Parts& parts : parts_) read_parameter(parts);
    tell_muon();
    read_note();
    return std::move(state_);
  }

 private:
  struct Parts {
    std::uint64_t id;
    std::vector<std::pair<std::string_view, const Tensor*>> tensors;
    std::vector<std::pair<std::string_view, const Scalar*>> scalars;
  };

  Parts& parts(std::uint64_t id) {
    const auto [at, is_new] = index_.try_emplace(id, parts_.size());
    if (is_new) parts_.push_back({id, {}, {}});
    return parts_[at->second];
  }

  void read_parameter(const Parts& parts) {
    ParameterState result;
    result.key = std::to_string(parts.id);
    result.param_id = parts.id;
    if (const auto path = checkpoint_.metadata.find(result.key); path != checkpoint_.metadata.end())
      result.path = path->second;
    std::vector<std::string_view> paths;
    for (const auto& [path, tensor] : parts.tensors) paths.push_back(path);
    const OptimizerKind* kind = kind_of(paths);
    note_kind(kind, paths);
    for (const auto& [path, tensor] : parts.tensors) {
      const MomentRow* row = nullptr;
      if (kind != nullptr)
        for (const MomentRow& candidate : kind->moments)
          if (candidate.burn == path) row = &candidate;
      if (row == nullptr) state_.unknown.push_back(tensor->name);
      if (row != nullptr && !row->copy_of.empty()) continue;
      Tensor moment = *tensor;
      moment.name = row == nullptr ? std::string(path) : std::string(row->torch);
      result.moments.push_back(std::move(moment));
    }
    for (const auto& [path, scalar] : parts.scalars) {
      if (path == rank_key) result.rank = whole(*scalar);
      else if (kind != nullptr && path == kind->burn_step) result.step = whole(*scalar);
      else state_.unknown.push_back(join(parts.id, path));
    }
    if (kind != nullptr) {
      for (const MomentRow& row : kind->moments)
        if (row.is_required && std::ranges::find(paths, row.burn) == paths.end() && !paths.empty())
          result.missing.emplace_back(row.burn);
      if (!kind->burn_step.empty() && !result.step) result.missing.emplace_back(kind->burn_step);
    }
    state_.parameters.push_back(std::move(result));
  }

  static std::string join(std::uint64_t id, std::string_view path) { return fmt::format("{}.{}", id, path); }

  /// The kind of the record is that of its first parameter; others are named beside it.
  void note_kind(const OptimizerKind* kind, const std::vector<std::string_view>& paths) {
    if (kind == nullptr) return;
    if (state_.kind == nullptr) {
      state_.kind = kind;
      state_.evidence = paths.empty() ? "it has ranks and no tensors"
                                      : fmt::format("its names are {}", fmt::join(paths, ", "));
    } else if (state_.kind != kind &&
               std::ranges::find(state_.other_kinds, kind->name) == state_.other_kinds.end()) {
      state_.other_kinds.emplace_back(kind->name);
    }
  }

  /// A velocity of matrices alone, beside another optimizer for the vectors, is Muon's.
  void tell_muon() {
    const OptimizerKind* sgd = find_optimizer("SGD");
    const bool is_first = state_.kind == sgd;
    const auto other = std::ranges::find(state_.other_kinds, sgd->name);
    if (state_.other_kinds.empty() || (!is_first && other == state_.other_kinds.end())) return;
    for (const ParameterState& parameter : state_.parameters)
      if (const Tensor* velocity = parameter.moment("momentum_buffer");
          velocity != nullptr && velocity->shape.size() != 2)
        return;
    if (is_first) state_.kind = find_optimizer("Muon");
    else *other = "Muon";
  }

  void read_note() {
    const auto note = checkpoint_.metadata.find(std::string(optimizer_note));
    if (note == checkpoint_.metadata.end()) return;
    const auto fail_on = [&](std::string_view what) {
      throw Error(ErrorKind::refused,
                  fmt::format("the metadata `{}` is not what ckpt writes: {}", optimizer_note, what))
          .in_file(checkpoint_.file);
    };
    Value value;
    try {
      value = from_note(note->second);
    } catch (const Error& error) {
      fail_on(error.message());
    }
    const Value* kind = value.find("kind");
    const auto* name = kind == nullptr ? nullptr : kind->as<std::string>();
    const OptimizerKind* row = name == nullptr ? nullptr : find_optimizer(*name);
    const Value* groups = value.find("param_groups");
    const auto* list = groups == nullptr ? nullptr : groups->as<Value::Array>();
    if (row == nullptr || list == nullptr) return fail_on("no kind or no param_groups");
    state_.kind = row;
    state_.evidence = "noted by the conversion";
    for (const Value& group : *list) {
      const auto* members = group.as<Value::Object>();
      if (members == nullptr) return fail_on("a group is no object");
      ParameterGroup result;
      for (const auto& [key, member] : *members) {
        const auto* ids = member.as<Value::Array>();
        if (key != "params" || ids == nullptr) {
          result.hypers.set(key, member);
          continue;
        }
        for (const Value& id : *ids) {
          const std::optional<std::uint64_t> number = whole(id);
          if (!number) return fail_on("an id is no number");
          result.keys.push_back(std::to_string(*number));
        }
      }
      state_.groups.push_back(std::move(result));
    }
    const Value* steps = value.find("steps");
    if (const auto* members = steps == nullptr ? nullptr : steps->as<Value::Object>()) {
      std::unordered_map<std::string_view, const Value*> by_key;
      for (const auto& [key, step] : *members) by_key.emplace(key, &step);
      for (ParameterState& parameter : state_.parameters)
        if (const auto at = by_key.find(parameter.key); at != by_key.end() && !parameter.step)
          parameter.step = whole(*at->second);
    }
  }

  const Checkpoint& checkpoint_;
  OptimizerState state_;
  std::vector<Parts> parts_;
  std::map<std::uint64_t, std::size_t> index_;  // a tree: a file can choose ids that fall into one bucket
};

/// What the record itself has no place for, as one JSON text.
std::string note_of(const OptimizerState& state) {
  Value groups = Value::array();
  for (const ParameterGroup& group : state.groups) {
    Value object = group.hypers;
    Value ids = Value::array();
    for (const std::string& key : group.keys) {
      std::uint64_t id = 0;
      std::from_chars(key.data(), key.data() + key.size(), id);
      ids.push(id);
    }
    object.set("params", std::move(ids));
    groups.push(std::move(object));
  }
  Value note = Value::object();
  note.set("kind", state.kind->name).set("param_groups", std::move(groups));
  if (state.kind->burn_step.empty() && state.kind->torch_counts) {
    Value steps = Value::object();
    for (const ParameterState& parameter : state.parameters)
      if (parameter.step) steps.set(std::to_string(*parameter.param_id), *parameter.step);
    note.set("steps", std::move(steps));
  }
  return to_note(note);
}

}  // namespace

std::optional<RecordKey> parse_record_key(std::string_view key) {
  const std::size_t dot = key.find('.');
  if (dot == key.npos || dot == 0) return std::nullopt;
  RecordKey result;
  const std::string_view digits = key.substr(0, dot);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result.id);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  result.path = key.substr(dot + 1);
  return result;
}

bool is_burn_optimizer(const Checkpoint& checkpoint) {
  // Before the first step there is nothing but the note.
  if (checkpoint.scalars.contains("history_s.len") ||
      checkpoint.metadata.contains(std::string(optimizer_note)))
    return true;
  return std::ranges::any_of(checkpoint.scalars, [](const auto& scalar) {
    const std::optional<RecordKey> key = parse_record_key(scalar.first);
    return key && key->path == rank_key;
  });
}

OptimizerState read_burn_optimizer(const Checkpoint& checkpoint) { return Reader(checkpoint).read(); }

Checkpoint make_burn_optimizer(const OptimizerState& state) {
  Checkpoint record;
  for (const ParameterState& parameter : state.parameters) {
    const std::uint64_t id = parameter.param_id.value();
    const auto name = [&](std::string_view path) { return fmt::format("{}.{}", id, path); };
    for (const MomentRow& row : state.kind->moments) {
      const Tensor* moment = parameter.moment(row.copy_of.empty() ? row.torch : row.copy_of);
      if (moment == nullptr) continue;
      Tensor tensor = *moment;
      tensor.name = name(row.burn);
      tensor.param_id = id;
      record.tensors.push_back(std::move(tensor));
    }
    record.scalars.emplace(name(rank_key), parameter.rank.value_or(0));
    if (!state.kind->burn_step.empty())
      record.scalars.emplace(name(state.kind->burn_step), parameter.step.value_or(0));
    record.metadata.emplace(std::to_string(id), parameter.name);
  }
  record.metadata.emplace(optimizer_note, note_of(state));
  return record;
}

}  // namespace ckpt
