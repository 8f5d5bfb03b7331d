#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "ckpt/core/bytes.hpp"

namespace ckpt::zip {

/// A member as its own header and descriptor tell of it.
struct WalkedMember {
  std::string name;
  std::uint64_t header = 0;  ///< offset of the local header
  std::uint64_t data = 0;    ///< offset of the data
  std::uint64_t stored = 0;  ///< bytes in the file
  std::uint64_t size = 0;    ///< bytes when unfolded
  std::uint32_t crc32 = 0;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
};

/// Goes through the members of an archive whose directory is missing, from one local header to the next. A
/// member is given when all of it is there. Where its header leaves the size to a descriptor behind the data,
/// that is looked for: first where a guess says, then by reading on.
class Walk {
 public:
  /// How many bytes the data of a member may have; nothing where that is not known.
  using Guess = std::function<std::optional<std::uint64_t>(const std::string& name)>;

  explicit Walk(Bytes file) : file_(std::move(file)) {}

  /// The next member that is whole; nothing at the directory, at the end of the file, and at the first that
  /// is damaged.
  std::optional<WalkedMember> next(const Guess& guess);

  /// Whether the walk has come to the directory, which follows the last member.
  bool at_directory() const;

 private:
  bool read_descriptor(WalkedMember& member, std::uint64_t end, std::uint64_t& next) const;
  bool find_descriptor(WalkedMember& member, std::uint64_t& next) const;
  bool is_record(std::uint64_t offset) const;

  Bytes file_;
  std::uint64_t at_ = 0;
  bool is_stopped_ = false;
};

}  // namespace ckpt::zip
