#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ckpt/training/state.hpp"

namespace ckpt {

/// What is wrong with the state of an optimizer.
struct StateFault {
  enum class Kind {
    orphan,      ///< state of parameters that the model does not have
    misfit,      ///< a rank or shape that is not the parameter's; no match with the model at all
    incomplete,  ///< something is missing without which burn starts the parameter afresh, in silence
    no_id,       ///< a tensor of a burn record without its ParamId: burn ends with a panic
    no_state,    ///< parameters of the model without state
    zero,        ///< a moment that is all zero though steps were made
    unknown,     ///< something that the optimizer has no place for
    order,       ///< the parameters are not counted as the model has them
    ambiguous,   ///< the shapes leave several ways to match the parameters with the model's
  };
  Kind kind = Kind::misfit;
  std::string tensor = {};  ///< or the parameter; empty where it is about several
  std::string text;         ///< one sentence
};

/// Holds the state that `file` has against a model, where there is one (null otherwise), and against itself.
/// `is_zero` reads one tensor.
std::vector<StateFault> lint_state(OptimizerState state, const Checkpoint& file, const Checkpoint* model,
                                   const std::function<bool(const Tensor&)>& is_zero);

}  // namespace ckpt
