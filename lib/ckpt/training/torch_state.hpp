#pragma once

#include <string>
#include <vector>

#include "ckpt/training/state.hpp"

namespace ckpt {

/// Where a PyTorch checkpoint holds what `optimizer.state_dict()` gives: every place with `param_groups`.
std::vector<std::string> find_torch_optimizers(const Checkpoint& checkpoint);

/// Reads the one at `place`. `number` is asked for steps and settings that are tensors. Throws `refused` when
/// the place holds none, when parts of it were left out on reading (it is too large to be shown), and for
/// numbers that are none.
OptimizerState read_torch_optimizer(const Checkpoint& checkpoint, const std::string& place,
                                    const NumberReader& number);

/// What `load_state_dict` takes: tensors `state.0.exp_avg`, …, and values `param_groups`, `state`. Positions
/// run over the groups, whose keys are the parameters' names; these are written as `param_names`. Parameters
/// without state keep their position. Throws `refused` when a parameter with state is in no group.
Checkpoint make_torch_optimizer(const OptimizerState& state);

/// The one group of all `names` for a state that came without: settings that show in the state (a
/// `max_exp_avg_sq` means amsgrad), else burn's defaults, and PyTorch's default learning rate.
ParameterGroup default_group(const OptimizerState& state, std::vector<std::string> names);

}  // namespace ckpt
