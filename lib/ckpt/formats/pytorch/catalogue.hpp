#pragma once

#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/formats/pytorch/opened.hpp"
#include "ckpt/formats/salvage.hpp"

namespace ckpt::pytorch {

/// Walks the object of a document: names its tensors, collects the values beside them, finds the roots, and
/// lists the foreign globals. A tensor that is malformed or lacks its data is added to `lost`; without one it
/// is `corrupt`.
Checkpoint catalogue(Opened opened, std::vector<Lost>* lost = nullptr);

}  // namespace ckpt::pytorch
