#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/formats/format.hpp"
#include "ckpt/training/join.hpp"
#include "ckpt/training/state.hpp"
#include "options.hpp"
#include "training_options.hpp"

namespace ckpt {

/// The number of a tensor that holds one.
double read_number(const Tensor& tensor);

/// The state of the optimizer that `checkpoint` holds, of either side; nothing where it holds none. Throws
/// `refused` when it holds several and `key` does not choose.
std::optional<OptimizerState> read_optimizer(const Checkpoint& checkpoint, const std::string& key = {});

/// Why the moments in the file `optimizer` are not those of a model in the file `model`, which is in the
/// layout of `convention`: they are in the other side's. Empty where they may be.
std::string layout_conflict(const Checkpoint& optimizer, const Checkpoint& model, Convention convention);

/// The state that a conversion takes along, joined with the model.
struct OptimizerSource {
  OptimizerState state;
  Join join;
  bool is_of_input = false;            ///< it lies in the input itself, not in a file of its own
  std::vector<std::string> explained;  ///< how each parameter was matched
  std::vector<std::string> orphans;  ///< keys of parameters that the model does not have; left out of `state`
  std::size_t orphan_tensors = 0;
  bool is_layout_open = false;  ///< nobody says whether the model is in the layout that the moments are in
  std::vector<Integrity> integrity;  ///< of the file
};

/// Reads it from the file that the options name, or from `whole`, the input as it was read, whose model it is
/// joined with. Throws `refused` where the two are in different layouts, where burn has no such optimizer,
/// where something has no place, does not fit or is not complete, and for orphans that are not to be dropped.
OptimizerSource read_source(const TrainingOptions& options, const Checkpoint& whole,
                            const StageOptions::Parsed& stages);

/// What the target of --like says of the optimizer.
struct LikeOptimizer {
  bool keeps_order = false;                  ///< its tensors stand in the order of `model.parameters()`
  std::optional<OptimizerState> state = {};  ///< joined with its model; nothing where it holds none of use
  std::string why_not = {};                  ///< why one that it holds is of no use, as a clause
};

/// Looks into the file at `path` for an optimizer of the kind of `state`: an earlier checkpoint of the same
/// training knows groups, order and what a burn record does not.
LikeOptimizer read_like(const std::string& path, const OptimizerState& state);

}  // namespace ckpt
