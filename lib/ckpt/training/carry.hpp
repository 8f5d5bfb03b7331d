#pragma once

#include <string>
#include <vector>

#include "ckpt/stages/edit.hpp"
#include "ckpt/stages/layout.hpp"
#include "ckpt/stages/remap.hpp"
#include "ckpt/training/state.hpp"

namespace ckpt {

/// The state of an optimizer in the other side's layout.
struct Carried {
  OptimizerState state;
  std::vector<std::string> lost;        ///< names of parameters with state that `model` does not hold
  std::vector<std::string> order = {};  ///< names of the result, in the order of `model`
};

/// Gives the parameters of a joined state the names that filters and rules left them; one that was left out
/// keeps none.
void follow_names(OptimizerState& state, const RemapReport& report);
/// The same for edits that name tensors anew and do nothing else.
void follow_names(OptimizerState& state, const EditReport& report);

/// Takes every moment through the very views that its parameter goes through: rows, transposes, joins.
/// `model` is the catalogue before the layout stage, `state` is joined with it by name; what follows are that
/// stage's own arguments. A parameter that is split gives its step to every part; parts that are joined must
/// agree in theirs. A group's parameter that is split is named by all its parts.
///
/// Throws what `lay_out` throws, and `refused` when parts that become one parameter differ.
Carried carry(const OptimizerState& state, const Checkpoint& model, Direction direction,
              const std::vector<KindRule>& rules, const Target* target = nullptr,
              const Checkpoint* source = nullptr);

}  // namespace ckpt
