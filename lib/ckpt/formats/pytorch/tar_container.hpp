#pragma once

#include "ckpt/core/bytes.hpp"
#include "ckpt/formats/pytorch/opened.hpp"

namespace ckpt::pytorch {

/// Reads the tar container of PyTorch before 0.1.10. Throws `corrupt` when it is damaged, `unsupported` for a
/// tar of another kind.
Opened open_tar(const Bytes& source);

}  // namespace ckpt::pytorch
