#pragma once

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/stages/remap.hpp"

namespace ckpt {

/// Closes the gaps in the indices of every list: those that stand under one path become 0, 1, 2, … in
/// their order, at every depth on its own (PyTorch's Sequential counts layers without parameters, burn's
/// Vec does not). Reports old and new names; throws `refused` when two become one.
Remapped renumber(Checkpoint checkpoint);

}  // namespace ckpt
