// What `optimizer.state_dict()` gives, wherever a checkpoint keeps it:
//
//   {'state': {0: {'step': …, 'exp_avg': tensor, …}, …},
//    'param_groups': [{'lr': …, 'betas': (…), …, 'params': [0, 1, …], 'param_names': […]}, …]}
//
// Positions run over the groups. torch.distributed keys by the parameters' names instead.
#include "ckpt/training/torch_state.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/stages/names.hpp"
#include "ckpt/training/numbers.hpp"

namespace ckpt {
namespace {

constexpr std::string_view groups_key = "param_groups";
/// Settings that are tensors: each is read, and looked for among the others. A group has a dozen settings.
constexpr std::size_t most_tensor_settings = 4096;
/// What stands in a value that was too large to be shown.
constexpr std::string_view ellipsis = "…";

bool is_optimizer(const Value& value) {
  const Value* groups = value.find(groups_key);
  const auto* array = groups == nullptr ? nullptr : groups->as<Value::Array>();
  return array != nullptr && !array->empty() && array->front().is_object();
}

void find_places(const Value& value, const std::string& path, std::vector<std::string>& places) {
  if (is_optimizer(value)) return places.push_back(path);
  if (const auto* object = value.as<Value::Object>())
    for (const auto& [key, member] : *object) find_places(member, join_path(path, key), places);
  if (const auto* array = value.as<Value::Array>())
    for (std::size_t i = 0; i < array->size(); ++i)
      find_places((*array)[i], join_path(path, std::to_string(i)), places);
}

/// The value at a dotted path; null when there is none.
const Value* at_path(const Value& value, std::string_view path) {
  if (path.empty()) return &value;
  if (const auto* object = value.as<Value::Object>())
    for (const auto& [key, member] : *object) {
      if (path == key) return &member;
      if (path.starts_with(key) && path.substr(key.size()).starts_with('.'))
        if (const Value* found = at_path(member, path.substr(key.size() + 1))) return found;
    }
  if (const auto* array = value.as<Value::Array>())
    for (std::size_t i = 0; i < array->size(); ++i) {
      const std::string key = std::to_string(i);
      if (path == key) return &(*array)[i];
      if (path.starts_with(key + ".")) return at_path((*array)[i], path.substr(key.size() + 1));
    }
  return nullptr;
}

std::optional<double> number_of(const Value& value) {
  if (const auto* i = value.as<std::int64_t>()) return static_cast<double>(*i);
  if (const auto* u = value.as<std::uint64_t>()) return static_cast<double>(*u);
  if (const auto* d = value.as<double>()) return *d;
  return std::nullopt;
}

std::string key_of(const Value& value) {
  if (const auto* i = value.as<std::int64_t>()) return std::to_string(*i);
  if (const auto* u = value.as<std::uint64_t>()) return std::to_string(*u);
  if (const auto* s = value.as<std::string>()) return *s;
  return {};
}

/// A step as PyTorch has it since 1.12: a 0-d tensor of 32 bits.
Tensor step_tensor(std::string name, std::uint64_t step) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(step));
  std::vector<std::byte> bytes;
  for (unsigned i = 0; i < 4; ++i) bytes.push_back(static_cast<std::byte>(bits >> (8 * i)));
  return {.name = std::move(name), .view = {.source = memory_bytes(std::move(bytes)), .bytes = 4}};
}

class Reader {
 public:
  Reader(const Checkpoint& checkpoint, const std::string& place, const NumberReader& number)
      : checkpoint_(checkpoint), place_(place), number_(number) {}

  OptimizerState read() {
    const Value* value = at_path(checkpoint_.values, place_);
    if (value == nullptr || !is_optimizer(*value))
      throw Error(ErrorKind::refused,
                  fmt::format("there is no optimizer's state under {}", place_.empty() ? "." : place_))
          .in_file(checkpoint_.file);
    state_.place = place_;
    read_groups(*value->find(groups_key));
    if (const Value* state = value->find("state")) gather_values(*state);
    gather_tensors();
    read_tensor_settings();
    recognise();
    for (Parts& parts : parts_) read_parameter(std::move(parts));
    return std::move(state_);
  }

 private:
  /// What the file holds for one key: everything by its name there.
  struct Parts {
    std::string key;
    std::vector<std::pair<std::string, const Tensor*>> tensors;
    std::vector<std::pair<std::string, const Value*>> values;
  };

  [[noreturn]] void refuse(std::string_view what) const {
    throw Error(ErrorKind::refused, join_path(place_, what)).in_file(checkpoint_.file);
  }

  Parts& parts(const std::string& key) {
    const auto [at, is_new] = index_.try_emplace(key, parts_.size());
    if (is_new) parts_.push_back({key, {}, {}});
    return parts_[at->second];
  }

  void read_groups(const Value& groups) {
    for (const Value& group : *groups.as<Value::Array>()) {
      const auto* members = group.as<Value::Object>();
      if (members == nullptr) refuse("param_groups were left out on reading: they are too large");
      ParameterGroup result;
      for (const auto& [key, value] : *members) {
        const auto* items = value.as<Value::Array>();
        if (key == "params" && items != nullptr)
          for (const Value& item : *items) result.keys.push_back(key_of(item));
        else if (key == "param_names" && items != nullptr)
          for (const Value& item : *items) result.names.push_back(key_of(item));
        else result.hypers.set(key, value);
      }
      for (const std::vector<std::string>* list : {&result.keys, &result.names})
        for (const std::string& key : *list)
          if (key == ellipsis || key.empty())
            refuse(
                "param_groups were left out on reading in part: they are too large, or not a list of "
                "numbers");
      if (!result.names.empty() && result.names.size() != result.keys.size())
        refuse(
            fmt::format("param_groups: {} names for {} parameters", result.names.size(), result.keys.size()));
      state_.groups.push_back(std::move(result));
    }
  }

  void gather_values(const Value& state) {
    const auto* members = state.as<Value::Object>();
    if (members == nullptr) return;
    for (const auto& [key, value] : *members) {
      const auto* kept = value.as<Value::Object>();
      if (kept == nullptr) refuse(fmt::format("state.{} is no dict", printable(key)));
      for (const auto& [name, number] : *kept) parts(key).values.emplace_back(name, &number);
    }
  }

  void gather_tensors() {
    const std::string prefix = join_path(place_, "state") + ".";
    for (const Tensor& tensor : checkpoint_.tensors) {
      if (!tensor.name.starts_with(prefix)) continue;
      const std::string_view rest = std::string_view(tensor.name).substr(prefix.size());
      // Positions hold no dot; a name does, and a moment's key does not.
      const std::size_t first = rest.find('.');
      const std::size_t dot = first != rest.npos && is_index(rest.substr(0, first)) ? first : rest.rfind('.');
      if (dot == rest.npos) refuse(fmt::format("state.{} belongs to no parameter", printable(rest)));
      parts(std::string(rest.substr(0, dot))).tensors.emplace_back(rest.substr(dot + 1), &tensor);
    }
  }

  /// `lr=torch.tensor(0.05)`: the number stands among the tensors, not in the group.
  void read_tensor_settings() {
    const std::string prefix = join_path(place_, groups_key) + ".";
    for (const Tensor& tensor : checkpoint_.tensors) {
      if (!tensor.name.starts_with(prefix)) continue;
      const std::string_view rest = std::string_view(tensor.name).substr(prefix.size());
      const std::size_t dot = rest.find('.');
      std::size_t group = state_.groups.size();
      const std::string_view digits = rest.substr(0, dot);
      std::from_chars(digits.data(), digits.data() + digits.size(), group);
      const bool is_read = dot != rest.npos && state_.tensor_settings.size() < most_tensor_settings &&
                           group < state_.groups.size() &&
                           put_number(state_.groups[group].hypers, rest.substr(dot + 1), tensor, number_);
      (is_read ? state_.tensor_settings : state_.unknown).push_back(tensor.name);
    }
    for (const Refused& refused : checkpoint_.refused)
      if (refused.name.starts_with(prefix)) state_.unknown.push_back(refused.name);
  }

  bool has_state_key(std::string_view key) const {
    return key.empty() || parts_.empty() || std::ranges::any_of(parts_, [&](const Parts& all) {
             return std::ranges::any_of(all.tensors, [&](const auto& tensor) { return tensor.first == key; });
           });
  }

  void recognise() {
    const Value& group = state_.groups.front().hypers;
    for (const OptimizerKind& kind : optimizer_table()) {
      if (!std::ranges::all_of(kind.group_keys, [&](auto key) { return group.find(key) != nullptr; }) ||
          !has_state_key(kind.state_key))
        continue;
      state_.kind = &kind;
      state_.evidence = fmt::format("its param_groups have {}", fmt::join(kind.group_keys, ", "));
      if (kind.name == "Adam") tell_adamw(group);
      return;
    }
  }

  /// The state of both is the same. PyTorch 2.7 says which; before, each class lists its settings in an order
  /// of its own.
  void tell_adamw(const Value& group) {
    const OptimizerKind* adamw = find_optimizer("AdamW");
    if (const Value* decoupled = group.find("decoupled_weight_decay")) {
      const bool is_adamw = decoupled->as<bool>() != nullptr && *decoupled->as<bool>();
      if (is_adamw) state_.kind = adamw;
      state_.evidence = fmt::format("decoupled_weight_decay is {}", is_adamw);
      return;
    }
    const auto place = [&](std::string_view key) {
      const auto& members = *group.as<Value::Object>();
      return std::ranges::find(members, key, [](const auto& member) { return member.first; }) -
             members.begin();
    };
    if (group.find("foreach") != nullptr && group.find("maximize") != nullptr) {
      const bool is_adamw = place("foreach") < place("maximize");
      if (is_adamw) state_.kind = adamw;
      state_.evidence = fmt::format("its settings stand in the order of {}'s", state_.kind->name);
      return;
    }
    const Value* decay = group.find("weight_decay");
    if (decay != nullptr && number_of(*decay) == 0.01) {
      state_.kind = adamw;
      state_.evidence = "weight_decay is 0.01, AdamW's default";
    } else {
      state_.evidence = "nothing tells it from AdamW: --optimizer-kind says so";
    }
  }

  void read_parameter(Parts parts) {
    ParameterState result;
    result.key = parts.key;
    const auto unknown = [&](const std::string& name) {
      state_.unknown.push_back(join_path(join_path(place_, "state"), join_path(parts.key, name)));
    };
    for (const auto& [name, tensor] : parts.tensors) {
      if (name == "step") {
        result.step = step_of(parts.key, number_of_tensor(*tensor));
        continue;
      }
      Tensor moment = *tensor;
      moment.name = name;
      const bool is_known =
          state_.kind != nullptr &&
          std::ranges::any_of(state_.kind->moments, [&](const MomentRow& row) { return row.torch == name; });
      if (!is_known) unknown(name);
      result.moments.push_back(std::move(moment));
    }
    for (const auto& [name, value] : parts.values) {
      if (value->is_null()) continue;  // SGD's momentum_buffer without momentum
      if (name == "step") result.step = step_of(parts.key, number_of(*value));
      else unknown(name);
    }
    // Adan's authors count in the group.
    if (const Value* step = state_.groups.front().hypers.find("step"); step != nullptr && !result.step)
      result.step = step_of(parts.key, number_of(*step));
    if (state_.kind != nullptr)
      for (const MomentRow& row : state_.kind->moments)
        if (row.is_required && row.copy_of.empty() && result.moment(row.torch) == nullptr &&
            !result.moments.empty())
          result.missing.emplace_back(row.torch);
    state_.parameters.push_back(std::move(result));
  }

  std::optional<double> number_of_tensor(const Tensor& tensor) const {
    if (tensor.elements() != 1) return std::nullopt;
    return number_(tensor);
  }

  std::uint64_t step_of(const std::string& key, std::optional<double> number) const {
    constexpr double most = 9007199254740992.0;  // whole numbers up to 2^53
    if (!number || !(*number >= 0) || *number > most || *number != std::floor(*number))
      refuse(fmt::format("state.{}.step is no whole number of steps", printable(key)));
    return static_cast<std::uint64_t>(*number);
  }

  const Checkpoint& checkpoint_;
  const std::string& place_;
  const NumberReader& number_;
  OptimizerState state_;
  std::vector<Parts> parts_;
  std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace

std::vector<std::string> find_torch_optimizers(const Checkpoint& checkpoint) {
  std::vector<std::string> places;
  find_places(checkpoint.values, "", places);
  return places;
}

OptimizerState read_torch_optimizer(const Checkpoint& checkpoint, const std::string& place,
                                    const NumberReader& number) {
  return Reader(checkpoint, place, number).read();
}

Checkpoint make_torch_optimizer(const OptimizerState& state) {
  std::unordered_map<std::string_view, const ParameterState*> by_name;
  for (const ParameterState& parameter : state.parameters) by_name.emplace(parameter.name, &parameter);
  Checkpoint result;
  Value states = Value::object();
  Value groups = Value::array();
  std::uint64_t position = 0;
  std::size_t written = 0;
  for (const ParameterGroup& group : state.groups) {
    Value params = Value::array();
    Value names = Value::array();
    for (const std::string& name : group.keys) {
      const std::string at = std::to_string(position);
      params.push(position++);
      names.push(name);
      const auto found = by_name.find(name);
      if (found == by_name.end()) continue;
      ++written;
      const ParameterState& parameter = *found->second;
      if (state.kind->torch_counts) {
        const std::uint64_t step = parameter.step.value_or(0);
        if (state.kind->torch_step_is_tensor)
          result.tensors.push_back(step_tensor("state." + at + ".step", step));
        else states.set(at, Value::object().set("step", step));
      }
      for (const Tensor& moment : parameter.moments) {
        result.tensors.push_back(moment);
        result.tensors.back().name = fmt::format("state.{}.{}", at, moment.name);
      }
    }
    Value object = group.hypers;
    object.set("params", std::move(params)).set("param_names", std::move(names));
    groups.push(std::move(object));
  }
  if (written < state.parameters.size())
    fail(ErrorKind::refused, "{} parameters with state are in no parameter group of the optimizer",
         state.parameters.size() - written);
  result.values.set("state", std::move(states)).set("param_groups", std::move(groups));
  return result;
}

ParameterGroup default_group(const OptimizerState& state, std::vector<std::string> names) {
  ParameterGroup group;
  group.keys = std::move(names);
  group.hypers.set("lr", state.kind->torch_rate);
  for (const HyperRow& row : state.kind->hypers) {
    if (row.torch.empty()) continue;
    const std::string key(row.torch);
    if (row.type == HyperType::tuple) {
      Value items = Value::array();
      for (const double item : row.tuple_default) items.push(item);
      group.hypers.set(key, std::move(items));
      continue;
    }
    double value = row.burn_default.value_or(row.torch_default.value_or(0));
    if (!row.shown_by.empty()) {
      const bool is_shown = std::ranges::any_of(state.parameters, [&](const ParameterState& parameter) {
        return parameter.moment(row.shown_by) != nullptr;
      });
      if (!is_shown) value = 0;
      else if (row.type == HyperType::flag) value = 1;
    }
    if (row.index == 0) group.hypers.set(key, Value::array());
    if (row.index >= 0) group.hypers.as<Value::Object>()->back().second.push(value);
    else if (row.type == HyperType::flag) group.hypers.set(key, value != 0);
    else if (row.type == HyperType::integer) group.hypers.set(key, static_cast<std::int64_t>(value));
    else group.hypers.set(key, value);
  }
  return group;
}

}  // namespace ckpt
