#pragma once

#include "ckpt/core/bytes.hpp"
#include "ckpt/formats/pytorch/opened.hpp"

namespace ckpt::pytorch {

/// Whether the source begins with the pickled magic number of the legacy container.
bool is_legacy(const ByteSource& source);

/// Reads a legacy container. Throws `corrupt` when it is malformed or cut off; with `tolerated` only when
/// that is so before its storages begin.
Opened open_legacy(Bytes source, Damage damage = Damage::refused);

/// The storage that a whole legacy file inside a pickle consists of (`torch.storage._load_from_bytes`).
/// Throws `corrupt` when it is something else.
Storage read_nested_storage(Bytes source);

}  // namespace ckpt::pytorch
