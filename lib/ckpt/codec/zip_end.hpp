#pragma once

#include <cstdint>

#include "ckpt/core/bytes.hpp"

namespace ckpt::zip {

/// What the end of an archive says of its directory.
struct End {
  std::uint64_t directory_offset = 0;
  std::uint64_t directory_size = 0;
  std::uint64_t entries = 0;
  std::uint64_t trailing = 0;  ///< bytes after the end record and its comment
};

/// Finds the end record, and the ZIP64 one where there is one. The directory is known to lie inside
/// the file, right before the end records. Throws `corrupt` where that is not so.
End find_end(const ByteSource& file);

}  // namespace ckpt::zip
