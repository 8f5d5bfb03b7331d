#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace ckpt {

/// One tensor that an optimizer keeps for every parameter, in the parameter's shape.
struct MomentRow {
  std::string_view torch;         ///< key in PyTorch's `state[i]`
  std::string_view burn;          ///< path below `{ParamId}.` in burn's record
  bool is_required = true;        ///< burn starts the parameter afresh, in silence, when it is missing
  std::string_view copy_of = {};  ///< PyTorch lacks it: burn's is filled from this moment, by PyTorch's key
};

/// What a hyper-parameter may be, by what PyTorch's constructors take; Rust spells it accordingly.
enum class HyperType : std::uint8_t {
  real,      ///< 0 or more
  any_real,  ///< a number of either sign
  fraction,  ///< from 0 to below 1
  integer,   ///< 0 or more
  flag,
  tuple,  ///< of numbers of either sign
};

/// One hyper-parameter: where it stands on both sides, and what it is when nobody says.
struct HyperRow {
  std::string_view torch;   ///< key in a `param_groups` entry; empty where PyTorch has no such setting
  int index = -1;           ///< which item of a tuple (`betas`); -1 for all of it
  std::string_view burn;    ///< what burn calls it
  std::string_view setter;  ///< `.with_epsilon({})`
  HyperType type = HyperType::real;
  std::optional<double> torch_default = {};
  std::optional<double> burn_default = {};     ///< 0 stands for `None`; nothing: it is always written out
  bool is_of_momentum = false;                 ///< set on the `MomentumConfig` inside
  std::span<const double> tuple_default = {};  ///< of a tuple, on both sides
  std::string_view shown_by = {};              ///< it is off where no parameter has this moment
};

/// One optimizer: a row of the table.
struct OptimizerKind {
  std::string_view name;    ///< as PyTorch's class and `--optimizer-kind` spell it
  std::string_view config;  ///< burn's configuration; empty where burn has no such optimizer
  std::span<const std::string_view> group_keys;  ///< a `param_groups` entry has all of these, and …
  std::string_view state_key;                    ///< … the state, where there is one, this
  std::span<const MomentRow> moments = {};
  std::string_view burn_step = {};   ///< path of burn's step counter; empty where burn counts none
  bool torch_counts = true;          ///< PyTorch's state has a `step` …
  bool torch_step_is_tensor = true;  ///< … which is a 0-d tensor, not a Python int
  std::span<const HyperRow> hypers = {};
  std::string_view momentum_setter = {};  ///< wraps the setters of momentum: `.with_momentum(Some({}))`
  double torch_rate = 1e-3;               ///< PyTorch's default learning rate
  std::string_view why_not = "has no counterpart on the other side";  ///< where `config` is empty
};

/// The table. PyTorch's side is in torch.optim, burn's in burn-optim.
std::span<const OptimizerKind> optimizer_table();

/// The rows of one setting, by PyTorch's key: several where it is a tuple of settings (`betas`), in their
/// order. The learning rate has a row with every optimizer. Empty for what is no setting of this one.
std::vector<const HyperRow*> rows_of(const OptimizerKind& kind, std::string_view key);

/// The row of that name, in any case; null for an unknown one.
const OptimizerKind* find_optimizer(std::string_view name);

}  // namespace ckpt
