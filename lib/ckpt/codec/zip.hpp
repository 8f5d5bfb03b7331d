#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ckpt/codec/name_index.hpp"
#include "ckpt/codec/zip_walk.hpp"
#include "ckpt/core/bytes.hpp"

namespace ckpt::zip {

/// One entry of the central directory.
struct Member {
  std::string_view name;     ///< bytes as stored, inside the archive's copy of its directory
  std::uint64_t stored = 0;  ///< bytes in the file
  std::uint64_t size = 0;    ///< bytes when unfolded
  std::uint64_t header = 0;  ///< offset of the local header
  std::uint32_t crc32 = 0;   ///< 0 where the writer left it out
  std::uint16_t method = 0;  ///< 0 stored, 8 deflated
  std::uint16_t flags = 0;

  bool is_folder() const noexcept { return name.ends_with('/'); }
  bool is_stored() const noexcept { return method == 0; }
};

/// The directory of a ZIP archive. Members are found by name; stored ones are ranges of the file.
class Archive {
 public:
  /// Reads the directory alone. Throws `corrupt` when there is none or when it contradicts itself:
  /// a count or size that is wrong, an entry outside the file, two entries of one name.
  explicit Archive(Bytes file);

  /// The archive of members that were found without a directory. Throws `corrupt` when two have one name.
  static Archive of(Bytes file, std::span<const WalkedMember> members);

  Archive(Archive&&) = default;
  Archive& operator=(Archive&&) = default;

  /// In the directory's order.
  std::span<const Member> members() const noexcept { return members_; }
  /// The member of that name, or null.
  const Member* find(std::string_view name) const;
  /// Bytes before the first member, which belong to none.
  std::uint64_t leading() const noexcept { return leading_; }
  /// Bytes that follow the end record.
  std::uint64_t trailing() const noexcept { return trailing_; }

  /// The bytes of one member. A stored member is a slice of the file, its CRC not looked at; a
  /// deflated one is unfolded now and its CRC compared. Throws `unsupported` for an encrypted member or
  /// another method, `corrupt` when the local header belongs to another member or the data is damaged.
  Bytes open(const Member& member) const;
  /// The same for many members; all that must be unfolded share one spool.
  std::vector<Bytes> open(std::span<const Member* const> members) const;
  /// A small member in memory with its CRC compared. Throws `corrupt` when it holds more than `limit` bytes.
  std::vector<std::byte> read(const Member& member, std::uint64_t limit) const;

 private:
  Archive() = default;
  void add(const Member& member);
  void read_directory(std::uint64_t offset, std::uint64_t size, std::uint64_t count);

  Bytes file_;
  std::uint64_t directory_offset_ = 0;
  std::uint64_t leading_ = UINT64_MAX;
  std::uint64_t trailing_ = 0;
  std::vector<std::byte> directory_;
  std::vector<Member> members_;
  NameIndex by_name_;
};

}  // namespace ckpt::zip
