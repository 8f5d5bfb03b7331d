#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ckpt/core/checkpoint.hpp"

namespace ckpt {

/// What was left out of a record.
struct DroppedOrphans {
  std::vector<std::uint64_t> ids;    ///< of parameters that the model does not have
  std::vector<std::string> tensors;  ///< names in the record
};

/// Leaves everything out of a burn optimizer's record that speaks of parameters which `model` does not have:
/// tensors, scalars, and the parameters' paths.
DroppedOrphans drop_orphans(Checkpoint& record, const Checkpoint& model);

/// Gives every tensor without a ParamId one of its own that the same name and shape always get; ids that are
/// there stay.
void give_param_ids(Checkpoint& model);

}  // namespace ckpt
