#include "ckpt/training/configuration.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "ckpt/codec/json.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt {
namespace {

/// Settings that say how PyTorch computes, not what; and what the state or the scheduler already holds.
constexpr std::array<std::string_view, 13> neutral{"lr",
                                                   "initial_lr",
                                                   "foreach",
                                                   "capturable",
                                                   "differentiable",
                                                   "fused",
                                                   "decoupled_weight_decay",
                                                   "step",
                                                   "name",
                                                   "initial_accumulator_value",
                                                   "max_lr",
                                                   "min_lr",
                                                   "adjust_lr_fn"};

std::optional<double> number_of(const Value& value) {
  if (const auto* i = value.as<std::int64_t>()) return static_cast<double>(*i);
  if (const auto* u = value.as<std::uint64_t>()) return static_cast<double>(*u);
  if (const auto* d = value.as<double>()) return *d;
  if (const auto* b = value.as<bool>()) return *b ? 1.0 : 0.0;
  return std::nullopt;
}

/// What a group has for a row; nothing where it does not say.
std::optional<double> value_of(const HyperRow& row, const Value& hypers) {
  const Value* value = hypers.find(row.torch);
  if (row.torch.empty()) return row.torch_default;
  if (value == nullptr) return std::nullopt;
  if (row.index < 0) return number_of(*value);
  const auto* items = value->as<Value::Array>();
  const auto index = static_cast<std::size_t>(row.index);
  return items != nullptr && index < items->size() ? number_of((*items)[index]) : std::nullopt;
}

std::string literal(const HyperRow& row, double value) {
  switch (row.type) {
    case HyperType::flag:
      return value != 0 ? "true" : "false";
    case HyperType::integer:
      return fmt::format("{:.0f}", value);
    case HyperType::real:
    case HyperType::any_real:
    case HyperType::fraction:
    case HyperType::tuple:
      break;
  }
  return rust_float(value);
}

/// Settings of PyTorch's own optimizers that are tuples.
constexpr std::array<std::string_view, 4> tuples{"betas", "etas", "step_sizes", "ns_coefficients"};

/// Whether a value that was read stands for several of Python's: a list, a tuple or a set; an int or its text
/// as a key; an object or its class; a type or its name; bytes or their count.
bool may_be_other(const Value& value) {
  if (value.is_array()) return true;
  if (const auto* text = value.as<std::string>())
    return text->starts_with("torch.") || text->starts_with("dtype ") || text->ends_with(" bytes") ||
           text->find("…") != text->npos;
  const auto* members = value.as<Value::Object>();
  return members != nullptr && std::ranges::any_of(*members, [](const auto& member) {
           return member.first == "class" ||
                  member.first.find_first_not_of("0123456789") == member.first.npos ||
                  may_be_other(member.second);
         });
}

std::optional<std::string> tuple_text(const HyperRow& row, const Value& hypers) {
  const Value* value = hypers.find(row.torch);
  const auto* items = value == nullptr ? nullptr : value->as<Value::Array>();
  if (items == nullptr) return std::nullopt;
  std::vector<std::string> texts;
  bool is_default = items->size() == row.tuple_default.size();
  for (std::size_t i = 0; i < items->size(); ++i) {
    const double number = number_of((*items)[i]).value_or(NAN);
    is_default = is_default && number == row.tuple_default[i];
    texts.push_back(rust_float(number));
  }
  if (is_default) return std::nullopt;
  return fmt::format("({})", fmt::join(texts, ", "));
}

/// One number or flag of a setting, whose type the row states.
bool is_allowed(HyperType type, const Value& value) {
  if (type == HyperType::flag) return value.as<bool>() != nullptr;
  const std::optional<double> number = value.as<bool>() != nullptr ? std::nullopt : number_of(value);
  if (!number || !std::isfinite(*number)) return false;
  switch (type) {
    case HyperType::real:
      return *number >= 0;
    case HyperType::fraction:
      return *number >= 0 && *number < 1;
    case HyperType::integer:
      return *number >= 0 && value.as<double>() == nullptr;
    case HyperType::any_real:
    case HyperType::tuple:
    case HyperType::flag:
      break;
  }
  return true;
}

std::string_view describe(HyperType type) {
  switch (type) {
    case HyperType::real:
      return "a number, 0 or more";
    case HyperType::fraction:
      return "a number from 0 to below 1";
    case HyperType::integer:
      return "a whole number, 0 or more";
    case HyperType::flag:
      return "true or false";
    case HyperType::any_real:
    case HyperType::tuple:
      break;
  }
  return "a number";
}

/// What a setting has to be, as a clause; empty where `value` is that.
std::string misfit(const std::vector<const HyperRow*>& rows, const Value& value) {
  const HyperRow& row = *rows.front();
  const std::string_view wanted = describe(row.type);
  const std::size_t length = row.type == HyperType::tuple ? row.tuple_default.size() : rows.size();
  if (row.type != HyperType::tuple && row.index < 0)
    return is_allowed(row.type, value) ? "" : std::string(wanted);
  const auto* items = value.as<Value::Array>();
  const bool fits =
      items != nullptr && items->size() == length &&
      std::ranges::all_of(*items, [&](const Value& item) { return is_allowed(row.type, item); });
  return fits ? "" : fmt::format("a list of {}, each {}", length, wanted);
}

/// A setting that calls for a moment which the state lacks, and which PyTorch would not begin by itself.
bool lacks_moment(const OptimizerState& state, const HyperRow& row, const Value& value) {
  if (row.shown_by.empty() || number_of(value) == 0.0) return false;
  const auto moment = std::ranges::find(state.kind->moments, row.shown_by, &MomentRow::torch);
  return !moment->is_required && std::ranges::any_of(state.parameters, [&](const ParameterState& parameter) {
    return !parameter.moments.empty() && parameter.moment(row.shown_by) == nullptr;
  });
}

}  // namespace

std::string rust_float(double value) {
  if (std::isnan(value)) return "f64::NAN";
  if (std::isinf(value)) return value < 0 ? "f64::NEG_INFINITY" : "f64::INFINITY";
  std::string text = fmt::format("{}", value);
  if (const std::size_t e = text.find('e'); e != text.npos) {
    std::size_t digit = e + 1;
    if (text[digit] == '+') text.erase(digit, 1);
    else if (text[digit] == '-') ++digit;
    while (text.size() > digit + 1 && text[digit] == '0') text.erase(digit, 1);
    return text;
  }
  return text.find('.') == text.npos ? text + ".0" : text;
}

std::vector<std::string> inexact_settings(const OptimizerState& state) {
  std::vector<std::string> names;
  for (const ParameterGroup& group : state.groups)
    for (const auto& [key, value] : *group.hypers.as<Value::Object>()) {
      if (std::ranges::find(tuples, key) != tuples.end() && value.is_array()) continue;
      const bool is_known = std::ranges::find(names, key) != names.end();
      if (!is_known && (may_be_other(value) || value == Value::object())) names.push_back(key);
    }
  return names;
}

std::optional<double> learning_rate(const Value& hypers) {
  const Value* rate = hypers.find("lr");
  return rate == nullptr ? std::nullopt : number_of(*rate);
}

BurnConfiguration burn_configuration(const OptimizerKind& kind, const Value& hypers) {
  BurnConfiguration result;
  result.code = fmt::format("{}::new()", kind.config);
  std::string momentum;
  std::string rest;
  const Value* factor = kind.momentum_setter.empty() ? nullptr : hypers.find("momentum");
  const bool has_momentum = factor != nullptr && number_of(*factor).value_or(0) != 0;
  for (const HyperRow& row : kind.hypers) {
    if (row.is_of_momentum && !has_momentum) continue;
    std::string& setters = row.is_of_momentum ? momentum : rest;
    if (row.type == HyperType::tuple) {
      if (const auto text = tuple_text(row, hypers)) setters += fmt::format(fmt::runtime(row.setter), *text);
      continue;
    }
    const std::optional<double> value = value_of(row, hypers);
    if (const Value* stated = value ? nullptr : hypers.find(row.torch);
        stated != nullptr && !stated->is_null())
      result.lacking.push_back(
          fmt::format("{} is {}, which is no number", row.torch, printable(json::dump(*stated))));
    if (!value || value == row.burn_default) continue;
    const std::string text = literal(row, *value);
    setters += fmt::format(fmt::runtime(row.setter), text);
    if (row.burn_default)
      result.differences.push_back(
          fmt::format("{} is {} (burn's default: {})", row.burn, text, literal(row, *row.burn_default)));
  }
  if (has_momentum)
    result.code += fmt::format(fmt::runtime(kind.momentum_setter), "MomentumConfig::new()" + momentum);
  result.code += rest;
  for (const auto& [key, value] : *hypers.as<Value::Object>()) {
    const bool is_known =
        std::ranges::any_of(kind.hypers, [&](const HyperRow& row) { return row.torch == key; }) ||
        std::ranges::find(neutral, key) != neutral.end();
    const bool is_off = value.is_null() || number_of(value) == 0.0;
    if (!is_known && !is_off)
      result.lacking.push_back(fmt::format("{} is {}: burn's {} has no such setting", printable(key),
                                           printable(json::dump(value)), kind.config));
  }
  return result;
}

void set_hyper(OptimizerState& state, std::string_view assignment) {
  const auto refuse = [&](std::string_view what, std::string hint) {
    throw Error(ErrorKind::usage, fmt::format("--hyper {}: {}", printable(assignment), what))
        .with_hint(std::move(hint));
  };
  const std::size_t equals = assignment.find('=');
  const std::string key(assignment.substr(0, equals));
  const std::vector<const HyperRow*> rows = rows_of(*state.kind, key);
  if (equals == assignment.npos || rows.empty()) {
    std::set<std::string_view> known{"lr"};
    for (const HyperRow& row : state.kind->hypers)
      if (!row.torch.empty()) known.insert(row.torch);
    refuse(fmt::format("not a setting of {}", state.kind->name),
           fmt::format("KEY=VALUE, where KEY is one of: {}", fmt::join(known, ", ")));
  }
  Value value;
  try {
    value = json::parse(assignment.substr(equals + 1));
  } catch (const Error&) {
    refuse("the value is no number", "0.05, true, [0.9, 0.999]");
  }
  if (const std::string wanted = misfit(rows, value); !wanted.empty())
    refuse(fmt::format("{} of {} is {}", key, state.kind->name, wanted), "0.05, true, [0.9, 0.999]");
  if (lacks_moment(state, *rows.front(), value))
    refuse(fmt::format("this takes {} in the state, which has none: PyTorch would fail in the next step",
                       rows.front()->shown_by),
           "leave it as the state has it");
  for (ParameterGroup& group : state.groups) {
    auto& members = *group.hypers.as<Value::Object>();
    const auto at = std::ranges::find(members, key, [](const auto& member) { return member.first; });
    if (at == members.end()) group.hypers.set(key, value);
    else at->second = value;
  }
}

}  // namespace ckpt
