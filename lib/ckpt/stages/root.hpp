#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ckpt/core/checkpoint.hpp"

namespace ckpt {

/// Takes the tensors under one place of a nested checkpoint; their names lose its prefix. What lies
/// elsewhere is dropped, and its names are added to `dropped`.
///
/// With a `key`: that place (`state_dict`, `a.b`; `.` is the whole checkpoint). Throws `refused`, with
/// the places there are, when it holds nothing. Without: the one place that holds tensors of a model;
/// throws `refused`, with counts and sizes, when several do.
Checkpoint select_root(Checkpoint checkpoint, const std::optional<std::string>& key,
                       std::vector<std::string>& dropped);

}  // namespace ckpt
