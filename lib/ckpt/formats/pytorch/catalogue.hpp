#pragma once

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/formats/pytorch/opened.hpp"

namespace ckpt::pytorch {

/// Walks the object of a document: names its tensors, collects the values beside them, finds the roots, and
/// lists the foreign globals. Throws `corrupt` for a tensor that is malformed or lacks its data.
Checkpoint catalogue(Opened opened);

}  // namespace ckpt::pytorch
