#include "ckpt/training/schedulers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/stages/names.hpp"
#include "ckpt/training/configuration.hpp"
#include "ckpt/training/numbers.hpp"

namespace ckpt {
namespace {

constexpr std::string_view scheduler_note = "ckpt.scheduler";

constexpr std::array<std::string_view, 2> step_keys{"step_size", "gamma"};
constexpr std::array<std::string_view, 2> cosine_keys{"T_max", "eta_min"};
constexpr std::array<std::string_view, 3> linear_keys{"start_factor", "end_factor", "total_iters"};
constexpr std::array<std::string_view, 2> sequential_keys{"_schedulers", "_milestones"};
constexpr std::array<std::string_view, 1> chained_keys{"_schedulers"};
constexpr std::array<std::string_view, 2> constant_keys{"factor", "total_iters"};
constexpr std::array<std::string_view, 1> multi_step_keys{"milestones"};
constexpr std::array<std::string_view, 1> lambda_keys{"lr_lambdas"};
constexpr std::array<std::string_view, 1> one_cycle_keys{"_schedule_phases"};
constexpr std::array<std::string_view, 1> restart_keys{"T_0"};
constexpr std::array<std::string_view, 1> plateau_keys{"patience"};
constexpr std::array<std::string_view, 1> cyclic_keys{"step_ratio"};
constexpr std::array<std::string_view, 1> polynomial_keys{"power"};
constexpr std::array<std::string_view, 1> exponential_keys{"gamma"};

constexpr std::array table{
    SchedulerKind{"SequentialLR", "", sequential_keys},
    SchedulerKind{"ChainedScheduler", "", chained_keys},
    SchedulerKind{"OneCycleLR", "", one_cycle_keys},
    SchedulerKind{"CosineAnnealingWarmRestarts", "", restart_keys},
    SchedulerKind{"ReduceLROnPlateau", "", plateau_keys},
    SchedulerKind{"CyclicLR", "", cyclic_keys},
    SchedulerKind{"PolynomialLR", "", polynomial_keys},
    SchedulerKind{"MultiStepLR", "", multi_step_keys},
    SchedulerKind{"LambdaLR or MultiplicativeLR", "", lambda_keys},
    SchedulerKind{"ConstantLR", "", constant_keys},
    SchedulerKind{"StepLR", "StepLrSchedulerConfig", step_keys, "iter_idx", Counting::index, true},
    SchedulerKind{"CosineAnnealingLR", "CosineAnnealingLrSchedulerConfig", cosine_keys, "current_iter",
                  Counting::index},
    SchedulerKind{"LinearLR", "LinearLrSchedulerConfig", linear_keys, "remaining_iters", Counting::countdown},
    SchedulerKind{"ExponentialLR", "ExponentialLrSchedulerConfig", exponential_keys, "previous_lr",
                  Counting::rate},
    SchedulerKind{"", "NoamLrSchedulerConfig", {}, "step", Counting::steps},
};

constexpr std::uint64_t most_steps = 1ULL << 53;

std::optional<double> number_of(const Value* value) {
  if (value == nullptr) return std::nullopt;
  if (const auto* i = value->as<std::int64_t>()) return static_cast<double>(*i);
  if (const auto* u = value->as<std::uint64_t>()) return static_cast<double>(*u);
  if (const auto* d = value->as<double>()) return *d;
  return std::nullopt;
}

double need(const TorchScheduler& scheduler, std::string_view key) {
  const std::optional<double> number = number_of(scheduler.members.find(key));
  if (!number || !std::isfinite(*number))
    fail(ErrorKind::refused, "{}: {} has no number {}", scheduler.place, scheduler.kind->torch, key);
  return *number;
}

std::uint64_t need_whole(const TorchScheduler& scheduler, std::string_view key) {
  const double number = need(scheduler, key);
  if (number < 0 || number != std::floor(number) || number > static_cast<double>(most_steps))
    fail(ErrorKind::refused, "{}: {} of {} is no whole number", scheduler.place, key, scheduler.kind->torch);
  return static_cast<std::uint64_t>(number);
}

/// Lists of rates, which follow the type of the optimizer's `lr`.
constexpr std::array<std::string_view, 2> rate_lists{"base_lrs", "_last_lr"};

/// Rates that are tensors: each is read, and looked for among the others.
constexpr std::size_t most_tensor_rates = 4096;

/// Whether a dotted name is that of an item of the list `key`.
bool is_item_of(std::string_view name, std::string_view key) {
  const std::size_t last = name.rfind('.');
  if (last == name.npos || !is_index(name.substr(last + 1))) return false;
  name = name.substr(0, last);
  return name == key || (name.ends_with(key) && name[name.size() - key.size() - 1] == '.');
}

std::vector<double> base_rates(const TorchScheduler& scheduler) {
  std::vector<double> rates;
  if (const Value* list = scheduler.members.find("base_lrs"))
    if (const auto* items = list->as<Value::Array>())
      for (const Value& item : *items)
        if (const auto number = number_of(&item)) rates.push_back(*number);
  if (rates.empty())
    fail(ErrorKind::refused, "{}: {} has no base_lrs", scheduler.place, scheduler.kind->torch);
  if (std::ranges::all_of(rates, [&](double rate) { return rate == rates.front(); }))
    rates.erase(rates.begin() + 1, rates.end());
  return rates;
}

const SchedulerKind* kind_of(const Value& members) {
  const auto row = std::ranges::find_if(table, [&](const SchedulerKind& kind) {
    return !kind.keys.empty() &&
           std::ranges::all_of(kind.keys, [&](std::string_view key) { return members.find(key) != nullptr; });
  });
  return row == table.end() ? nullptr : &*row;
}

bool is_scheduler(const Value& value) {
  // A ChainedScheduler counts nothing itself.
  if (value.find("_schedulers") != nullptr && value.find("_last_lr") != nullptr) return true;
  return value.find("last_epoch") != nullptr &&
         (value.find("base_lrs") != nullptr || value.find("_schedulers") != nullptr ||
          value.find("patience") != nullptr);
}

void find_places(const Value& value, const std::string& path, std::vector<TorchScheduler>& found) {
  if (is_scheduler(value)) return found.push_back({path, kind_of(value), value});
  if (const auto* object = value.as<Value::Object>())
    for (const auto& [key, member] : *object) find_places(member, join_path(path, key), found);
  if (const auto* array = value.as<Value::Array>())
    for (std::size_t i = 0; i < array->size(); ++i)
      find_places((*array)[i], join_path(path, std::to_string(i)), found);
}

/// The rate that burn's scheduler returned last, by its own arithmetic: it multiplies once a call.
double rate_after(double initial, double gamma, std::uint64_t steps) {
  constexpr std::uint64_t most_products = 1'000'000;
  double rate = initial / gamma;
  if (steps > most_products) return rate * std::pow(gamma, static_cast<double>(steps));
  for (std::uint64_t i = 0; i < steps; ++i) rate *= gamma;
  return rate;
}

std::string configuration(const TorchScheduler& scheduler, double rate) {
  const std::string_view name = scheduler.kind->burn;
  const std::string initial = rust_float(rate);
  if (scheduler.kind->torch == "StepLR")
    return fmt::format("{}::new({}, {}).with_gamma({})", name, initial, need_whole(scheduler, "step_size"),
                       rust_float(need(scheduler, "gamma")));
  if (scheduler.kind->torch == "CosineAnnealingLR")
    return fmt::format("{}::new({}, {}).with_min_lr({})", name, initial, need_whole(scheduler, "T_max"),
                       rust_float(need(scheduler, "eta_min")));
  if (scheduler.kind->torch == "LinearLR")
    return fmt::format("{}::new({}, {}, {})", name, rust_float(rate * need(scheduler, "start_factor")),
                       rust_float(rate * need(scheduler, "end_factor")),
                       need_whole(scheduler, "total_iters"));
  return fmt::format("{}::new({}, {})", name, initial, rust_float(need(scheduler, "gamma")));
}

Scalar count(const TorchScheduler& scheduler, double rate, std::uint64_t steps) {
  switch (scheduler.kind->counting) {
    case Counting::index:
      if (scheduler.kind->is_signed) return static_cast<std::int64_t>(steps) - 1;
      return steps - 1;  // 2^64 - 1 before the first call, as burn has it
    case Counting::countdown: {
      const std::uint64_t whole = need_whole(scheduler, "total_iters") + 1;
      return whole > steps ? whole - steps : std::uint64_t{0};
    }
    case Counting::rate:
      return rate_after(rate, need(scheduler, "gamma"), steps);
    case Counting::steps:
    case Counting::none:
      break;
  }
  return steps;
}

/// The row whose scalar a key of a burn record is, by its last segment; sequential's own `step` is a UInt.
const SchedulerKind* row_of(std::string_view key, const Scalar& scalar) {
  const std::string_view leaf = key.substr(key.rfind('.') + 1);
  const auto row = std::ranges::find_if(
      table, [&](const auto& kind) { return !kind.burn_key.empty() && kind.burn_key == leaf; });
  if (row == table.end()) return nullptr;
  if (row->counting == Counting::steps && !std::holds_alternative<double>(scalar)) return nullptr;
  return &*row;
}

std::optional<std::uint64_t> whole(const Scalar& scalar) {
  if (const auto* u = std::get_if<std::uint64_t>(&scalar)) return *u;
  if (const auto* i = std::get_if<std::int64_t>(&scalar); i != nullptr && *i >= -1)
    return static_cast<std::uint64_t>(*i);  // -1 is 2^64 - 1, as the unsigned ones begin
  if (const auto* d = std::get_if<double>(&scalar); d != nullptr && *d >= 0 && *d < 9007199254740992.0)
    return static_cast<std::uint64_t>(*d);
  return std::nullopt;
}

/// How many steps a scalar stands for, with PyTorch's settings where it takes them; nothing where it does not
/// tell.
std::optional<std::uint64_t> steps_of(const SchedulerKind& kind, const Scalar& scalar, const Value& members,
                                      std::size_t group = 0) {
  const std::optional<std::uint64_t> number = whole(scalar);
  switch (kind.counting) {
    case Counting::index:
      return number ? std::optional(*number + 1) : std::nullopt;
    case Counting::steps:
      return number;
    case Counting::countdown: {
      const std::optional<double> total = number_of(members.find("total_iters"));
      if (!total || !number || *number == 0 || !(*total <= static_cast<double>(most_steps)) ||
          *total + 1 < static_cast<double>(*number))
        return std::nullopt;
      return static_cast<std::uint64_t>(*total) + 1 - *number;
    }
    case Counting::rate: {
      const auto* rate = std::get_if<double>(&scalar);
      const std::optional<double> gamma = number_of(members.find("gamma"));
      const Value* list = members.find("base_lrs");
      const auto* bases = list == nullptr ? nullptr : list->as<Value::Array>();
      if (rate == nullptr || !gamma || bases == nullptr || group >= bases->size()) return std::nullopt;
      const std::optional<double> base = number_of(&(*bases)[group]);
      if (!base || *base <= 0 || *gamma <= 0 || *gamma == 1 || *rate <= 0) return std::nullopt;
      const double steps = std::round(std::log(*rate / *base) / std::log(*gamma)) + 1;
      if (!(steps >= 0) || steps > static_cast<double>(most_steps)) return std::nullopt;
      return static_cast<std::uint64_t>(steps);
    }
    case Counting::none:
      break;
  }
  return std::nullopt;
}

/// The group of a key: `1.previous_lr` is of the second.
std::size_t group_of(std::string_view key) {
  std::size_t group = 0;
  std::from_chars(key.data(), key.data() + key.size(), group);
  return group;
}

bool is_same(const Scalar& a, const Scalar& b) {
  const auto* x = std::get_if<double>(&a);
  const auto* y = std::get_if<double>(&b);
  if (x != nullptr && y != nullptr) return *x == *y;
  return whole(a) && whole(a) == whole(b);
}

void put(Value& object, std::string_view key, std::uint64_t value) {
  for (auto& [name, member] : *object.as<Value::Object>())
    if (name == key) {
      member = value;
      return;
    }
  object.set(std::string(key), value);
}

}  // namespace

std::span<const SchedulerKind> scheduler_table() { return table; }

std::vector<TorchScheduler> find_torch_schedulers(const Checkpoint& checkpoint, const NumberReader& number) {
  std::vector<TorchScheduler> found;
  Value values = checkpoint.values;
  if (!values.is_object()) values = Value::object();
  std::size_t left = most_tensor_rates;
  for (const Tensor& tensor : checkpoint.tensors)
    if (std::ranges::any_of(rate_lists, [&](std::string_view key) { return is_item_of(tensor.name, key); }) &&
        left > 0 && put_number(values, tensor.name, tensor, number))
      --left;
  find_places(values, "", found);
  return found;
}

BurnScheduler to_burn(const TorchScheduler& scheduler) {
  if (scheduler.kind == nullptr || scheduler.kind->burn.empty())
    fail(ErrorKind::refused, "{}: burn has no counterpart of {}", printable(scheduler.place),
         scheduler.kind == nullptr ? "this scheduler" : scheduler.kind->torch);
  BurnScheduler result;
  const std::uint64_t steps = need_whole(scheduler, "last_epoch");
  const std::vector<double> rates = base_rates(scheduler);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    result.record.scalars.emplace(fmt::format("{}.{}", i, scheduler.kind->burn_key),
                                  count(scheduler, rates[i], steps));
    result.configurations.push_back(configuration(scheduler, rates[i]));
    if (scheduler.kind->counting == Counting::rate && rates[i] > 1)
      result.warnings.push_back(fmt::format("the initial rate is {}: burn's {} refuses one above 1",
                                            rust_float(rates[i]), scheduler.kind->burn));
  }
  result.warnings.push_back(
      fmt::format("{} counts {} steps here: burn's Learner makes one every iteration, PyTorch wherever the "
                  "script says (often "
                  "once an epoch)",
                  scheduler.kind->torch, steps));
  result.record.metadata.emplace(scheduler_note, to_note(scheduler.members));
  return result;
}

namespace {

/// Whether the record is still what a conversion made of the state that it noted: burn made no step since.
bool agrees(const Checkpoint& record, const Value& members) {
  const SchedulerKind* kind = kind_of(members);
  if (kind == nullptr) return false;
  try {
    const BurnScheduler made = to_burn({"", kind, members});
    return std::ranges::equal(made.record.scalars, record.scalars, [](const auto& a, const auto& b) {
      return a.first == b.first && is_same(a.second, b.second);
    });
  } catch (const Error&) {
    return false;  // a note that somebody has changed
  }
}

}  // namespace

bool is_burn_scheduler(const Checkpoint& checkpoint) {
  return checkpoint.tensors.empty() && !checkpoint.scalars.empty() &&
         std::ranges::all_of(checkpoint.scalars, [](const auto& scalar) {
           const std::string_view leaf = std::string_view(scalar.first).substr(scalar.first.rfind('.') + 1);
           return std::ranges::any_of(table, [&](const SchedulerKind& kind) {
             return !kind.burn_key.empty() && kind.burn_key == leaf;
           });
         });
}

std::vector<SchedulerRow> describe_burn_scheduler(const Checkpoint& checkpoint) {
  std::vector<SchedulerRow> rows;
  for (const auto& [key, scalar] : checkpoint.scalars) {
    const SchedulerKind* kind = row_of(key, scalar);
    SchedulerRow row{key, kind, ""};
    if (kind == nullptr) {
      row.state = fmt::format("{} steps done", whole(scalar).value_or(0));
    } else if (kind->counting == Counting::countdown) {
      row.state = fmt::format("{} left", whole(scalar).value_or(0));
    } else if (kind->counting == Counting::rate) {
      const auto* rate = std::get_if<double>(&scalar);
      row.state = fmt::format("last rate {}", rate == nullptr ? "?" : rust_float(*rate));
    } else {
      row.state = fmt::format("{} steps done", steps_of(*kind, scalar, {}).value_or(0));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Value to_torch_scheduler(const Checkpoint& record) {
  Value members = Value::object();
  if (const auto note = record.metadata.find(std::string(scheduler_note)); note != record.metadata.end()) {
    members = from_note(note->second);
    if (!members.is_object())
      fail(ErrorKind::refused, "the metadata `{}` is not what ckpt writes", scheduler_note);
  }
  const bool has_note = !members.as<Value::Object>()->empty();
  if (record.scalars.empty())
    fail(ErrorKind::refused, "the record holds no scheduler's count: a constant rate needs none");
  if (has_note && agrees(record, members)) return members;
  const std::string& first = record.scalars.begin()->first;
  std::optional<std::uint64_t> steps;
  for (const auto& [key, scalar] : record.scalars) {
    const SchedulerKind* kind = row_of(key, scalar);
    const bool is_single = kind != nullptr && std::ranges::count(key, '.') <= 1;
    if (is_single && kind->torch.empty())
      throw Error(ErrorKind::refused,
                  fmt::format("{}: PyTorch has no counterpart of burn's {}", printable(key), kind->burn))
          .in_file(record.file);
    if (!is_single)
      throw Error(
          ErrorKind::refused,
          fmt::format("{}: of burn's schedulers only single ones are carried to PyTorch", printable(key)))
          .in_file(record.file);
    const std::optional<std::uint64_t> done = steps_of(*kind, scalar, members, group_of(key));
    if (!done)
      throw Error(ErrorKind::refused,
                  fmt::format("{} does not tell how many steps were done: that takes the settings of the {}",
                              printable(key), kind->burn))
          .in_file(record.file);
    if (steps && (steps != done || kind != row_of(first, record.scalars.begin()->second)))
      throw Error(ErrorKind::refused,
                  fmt::format("{} and {} are schedulers that differ: PyTorch's has one count for all groups",
                              printable(first), printable(key)))
          .in_file(record.file);
    steps = done;
  }
  put(members, "last_epoch", *steps);
  put(members, "_step_count", *steps + 1);
  std::erase_if(*members.as<Value::Object>(), [](const auto& member) { return member.first == "_last_lr"; });
  return members;
}

}  // namespace ckpt
