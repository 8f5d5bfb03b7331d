#pragma once

#include "ckpt/core/bytes.hpp"
#include "ckpt/formats/pytorch/opened.hpp"

namespace ckpt::pytorch {

/// Reads a file that is one pickle and nothing else.
Opened open_bare(Bytes source);

}  // namespace ckpt::pytorch
