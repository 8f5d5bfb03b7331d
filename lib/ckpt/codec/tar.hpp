#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ckpt/core/bytes.hpp"

namespace ckpt::tar {

inline constexpr std::size_t block_size = 512;

/// A regular file of the archive: a range of its bytes.
struct Member {
  std::string name;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// Whether the block is a header with the right checksum. A block of zeros is none.
bool is_header(std::span<const std::byte> block);

struct Archive {
  std::vector<Member> members;  ///< in order; folders and links are left out
  bool has_end = false;         ///< whether the blocks of zeros stand behind the last member
};

/// The regular files of a ustar, GNU or pax archive. Throws `corrupt` for a wrong checksum and for a member
/// that goes beyond the file.
Archive read_archive(const ByteSource& file);

}  // namespace ckpt::tar
