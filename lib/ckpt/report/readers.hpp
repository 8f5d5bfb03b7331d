#pragma once

#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/report/findings.hpp"

namespace ckpt {

/// Which other readers of the checkpoint's format would refuse it, and why: one finding for each reason, each
/// reader with a code of its own. What no reader of a format is known to refuse is not looked for.
std::vector<Finding> check_readers(const Checkpoint& checkpoint);

}  // namespace ckpt
