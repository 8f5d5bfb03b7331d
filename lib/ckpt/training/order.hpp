#pragma once

#include <string>
#include <vector>

#include "ckpt/training/state.hpp"

namespace ckpt {

/// What became of the order in which the groups count their parameters.
struct Ordering {
  bool is_changed = false;   ///< parameters have other positions than before
  bool is_unproven = false;  ///< the order before was neither that of the source nor that of the model
};

/// The first parameter of a group that stands behind one which the model has later; empty where every group
/// counts in the order of `model`, as `optimizer(model.parameters())` does. Tied names count as the first.
std::string first_out_of_order(const OptimizerState& state, const Checkpoint& model);

/// Puts every group, whose keys are names, in the order of `model`, which PyTorch will count in. `source` has
/// the names in the order of the model that the state came from: a group that did not follow it was put
/// together by hand, and stays as it is where the two models have one order.
Ordering follow_order(OptimizerState& state, const Checkpoint& model, const std::vector<std::string>& source);

/// Puts the parameters in the groups and the order of `like`, an optimizer of the model that is written. Each
/// group gets the settings that its parameters had. Throws `refused` when one group would get those of
/// several that differ, and for parameters with state that `like` does not have.
Ordering follow_groups(OptimizerState& state, const OptimizerState& like);

}  // namespace ckpt
