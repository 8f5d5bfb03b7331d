#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ckpt/stages/edit.hpp"
#include "ckpt/stages/match.hpp"

namespace ckpt {

/// Adds the `num_batches_tracked` that `target` has beside a `running_mean` that the checkpoint has too: the
/// I64 scalar 0, as PyTorch begins to count. burn keeps no such counter, and evaluation does not look at it.
Edited restore_counters(Checkpoint checkpoint, const Target& target);

/// Adds, of two names that are one tensor in a target, the one that the checkpoint lacks, as that of the
/// other. Names that the checkpoint has neither or both of are left alone.
Edited restore_ties(Checkpoint checkpoint, const std::vector<std::pair<std::string, std::string>>& ties);

}  // namespace ckpt
