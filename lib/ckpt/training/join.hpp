#pragma once

#include <string>
#include <vector>

#include "ckpt/stages/kinds.hpp"
#include "ckpt/training/state.hpp"

namespace ckpt {

/// How the parameters of a state were matched with those of a model.
struct Join {
  std::vector<std::string> names;  ///< by position, over all groups; a burn record: by parameter
  std::string how;                 ///< one clause: what the order rests on
  std::string problem;             ///< why there is no match; then `names` is empty
  std::string hint;                ///< the way out of it, where there is one
  std::vector<std::string> open;   ///< parameters that share their shape with another: no shape proves these
  bool is_by_order = false;        ///< the order of the model's tensors decided, not names
  bool is_ambiguous = false;       ///< that is the problem: the shapes leave several ways
};

/// The tensors of a model that are parameters, in the order of `model.parameters()`: no buffers, no integers,
/// tied ones once.
std::vector<const Tensor*> parameters_of(const Checkpoint& model);

/// Gives the parameters of a PyTorch state the names of `model`'s tensors: `names` where there are any, by
/// position; else the file's own; else from the order of the model. Several groups are taken out of it each
/// in that order, if the shapes leave one way to do so. Every moment's shape is held against its parameter's.
/// A position or a name that stands twice is a problem, as one of two states would be lost.
/// Keys of groups become names; what no group lists keeps no name.
Join join_by_position(OptimizerState& state, const Checkpoint& model,
                      const std::vector<std::string>& names = {});

/// Gives the parameters of a burn record the names that `model` has for their ids; the others keep none. Keys
/// of groups become names, too.
Join join_by_id(OptimizerState& state, const Checkpoint& model);

/// Of a PyTorch state that is joined with a model of which nobody says whose layout it is in: the square
/// matrices with state that burn has, or may have, transposed. Empty where another such matrix, which is not
/// square, proves by the shape of its moments that the model is in PyTorch's layout, too. `rules` and
/// `source` are those of `decide_kinds`.
std::vector<std::string> matrices_of_open_layout(const OptimizerState& state, const Checkpoint& model,
                                                 const std::vector<KindRule>& rules,
                                                 const Checkpoint* source = nullptr);

}  // namespace ckpt
