#pragma once

#include "ckpt/core/bytes.hpp"
#include "ckpt/formats/pytorch/opened.hpp"

namespace ckpt::pytorch {

/// Reads the ZIP container, also a TorchScript archive. Throws `corrupt` when it is damaged, `unsupported`
/// for a ZIP file of another kind.
Opened open_archive(Bytes source);

}  // namespace ckpt::pytorch
