#pragma once

#include "ckpt/core/bytes.hpp"
#include "ckpt/formats/pytorch/opened.hpp"

namespace ckpt::pytorch {

/// Reads the ZIP container, also a TorchScript archive. Throws `corrupt` when it is damaged, `unsupported`
/// for a ZIP file of another kind. With `tolerated` a directory that is cut off or damaged is made again from
/// the members themselves, and every storage is read to compare its checksum.
Opened open_archive(const Bytes& source, Damage damage = Damage::refused);

}  // namespace ckpt::pytorch
