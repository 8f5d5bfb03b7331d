// A ZIP archive as PyTorch's miniz writes it, and as other programs do:
//
//     | local header, name, extra | data | (descriptor) | … | directory: one entry a member | end |
//
// Sizes and checksums stand in the directory only: PyTorch leaves them zero in the local headers and
// writes descriptors behind the data. Where the data begins stands in the local header only: its
// extra field pads the data to a multiple of 64 and differs from the directory's.
#include "ckpt/codec/zip.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "ckpt/codec/inflate.hpp"
#include "ckpt/codec/little_endian.hpp"
#include "ckpt/codec/window.hpp"
#include "ckpt/codec/zip_end.hpp"
#include "ckpt/core/checked.hpp"
#include "ckpt/core/crc32.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/spool.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt::zip {
namespace {

constexpr std::uint32_t local_signature = 0x04034b50;
constexpr std::uint32_t entry_signature = 0x02014b50;
constexpr std::size_t local_size = 30;
constexpr std::size_t entry_size = 46;
constexpr std::uint16_t zip64_extra = 0x0001;
constexpr std::uint16_t encrypted_flag = 0x0001;
constexpr std::uint16_t deflated = 8;
/// Bytes of directory that one member may cost on average; names are short.
constexpr std::uint64_t directory_bytes = limits::zip_members * 256;

/// Numbers of an entry that are all ones stand in its ZIP64 extra field instead, in this order.
void apply_zip64_extra(std::span<const std::byte> extra, Member& member) {
  std::vector<std::uint64_t*> wanted;
  for (std::uint64_t* field : {&member.size, &member.stored, &member.header})
    if (*field == 0xFFFFFFFF) wanted.push_back(field);
  if (wanted.empty()) return;
  while (extra.size() >= 4) {
    const std::uint16_t id = load_le<std::uint16_t>(extra);
    const std::size_t size = load_le<std::uint16_t>(extra, 2);
    extra = extra.subspan(4);
    if (size > extra.size()) break;
    if (id == zip64_extra && size >= wanted.size() * 8) {
      for (std::size_t i = 0; i < wanted.size(); ++i) *wanted[i] = load_le<std::uint64_t>(extra, i * 8);
      return;
    }
    extra = extra.subspan(size);
  }
  fail(ErrorKind::corrupt, "zip: member {} lacks the ZIP64 field that holds its sizes",
       printable(member.name));
}

/// Reads local headers, best in the order of the file.
class LocalHeaders {
 public:
  /// `end`: where the members end and the directory begins.
  LocalHeaders(const ByteSource& file, std::uint64_t end) : window_(file), end_(end) {}

  /// Checks the header against its directory entry; returns where the member's data begins.
  std::uint64_t data_offset(const Member& member);

 private:
  Window window_;
  std::uint64_t end_;
};

std::uint64_t LocalHeaders::data_offset(const Member& member) {
  const auto damaged = [&](std::string_view why) {
    fail(ErrorKind::corrupt, "zip: member {}: {} (local header at byte {})", printable(member.name), why,
         member.header);
  };
  if ((member.flags & encrypted_flag) != 0)
    fail(ErrorKind::unsupported, "zip: member {} is encrypted", printable(member.name));
  if (!member.is_stored() && member.method != deflated)
    fail(ErrorKind::unsupported,
         "zip: member {} is compressed by method {}; only 0 (stored) and 8 (deflated) are known",
         printable(member.name), member.method);
  const std::uint64_t prefix = local_size + member.name.size();
  if (!range_fits(member.header, prefix, end_)) damaged("its header lies outside the archive");
  const std::span<const std::byte> header = window_.get(member.header, prefix);
  if (load_le<std::uint32_t>(header) != local_signature)
    damaged("there is no header where the directory says");
  if (load_le<std::uint16_t>(header, 26) != member.name.size() ||
      as_text(header.subspan(local_size)) != member.name)
    damaged("its own header names another member");
  if (load_le<std::uint16_t>(header, 8) != member.method)
    damaged("header and directory disagree about the compression method");
  const std::uint64_t data = member.header + prefix + load_le<std::uint16_t>(header, 28);
  if (!range_fits(data, member.stored, end_))
    fail(ErrorKind::corrupt, "zip: member {}: {} bytes at byte {} reach into the directory at byte {}",
         printable(member.name), member.stored, data, end_);
  if (member.is_stored() && member.stored != member.size) damaged("a stored member with two sizes");
  if (!member.is_stored() && member.size / limits::inflate_ratio > member.stored)
    damaged("it claims to unfold to more than deflate can do");
  return data;
}

}  // namespace

Archive::Archive(Bytes file) : file_(std::move(file)) {
  const End end = find_end(*file_);
  trailing_ = end.trailing;
  directory_offset_ = end.directory_offset;
  read_directory(end.directory_offset, end.directory_size, end.entries);
}

Archive Archive::of(Bytes file, std::span<const WalkedMember> members) {
  Archive archive;
  archive.file_ = std::move(file);
  archive.leading_ = 0;
  archive.directory_offset_ = archive.file_->size();
  std::size_t text = 0;
  for (const WalkedMember& member : members) text += member.name.size();
  archive.directory_.reserve(text);  // names are views into it
  for (const WalkedMember& member : members) {
    const std::span<const std::byte> name = as_bytes(member.name);
    archive.directory_.insert(archive.directory_.end(), name.begin(), name.end());
    archive.add({.name = as_text(std::span(archive.directory_).last(name.size())),
                 .stored = member.stored,
                 .size = member.size,
                 .header = member.header,
                 .crc32 = member.crc32,
                 .method = member.method,
                 .flags = member.flags});
  }
  return archive;
}

void Archive::add(const Member& member) {
  if (by_name_.add(member.name, static_cast<std::uint32_t>(members_.size())))
    fail(ErrorKind::corrupt, "zip: two members are named {}; which one is meant cannot be told",
         printable(member.name));
  members_.push_back(member);
  leading_ = std::min(leading_, member.header);
}

void Archive::read_directory(std::uint64_t offset, std::uint64_t size, std::uint64_t count) {
  if (size > directory_bytes)
    fail(ErrorKind::corrupt, "zip: a directory of {} bytes is beyond the limit of {}", size, directory_bytes);
  directory_ = read_range(*file_, offset, size);
  std::span<const std::byte> rest = directory_;
  // The count is not trusted for more than what the bytes at hand could hold.
  members_.reserve(std::min<std::uint64_t>({count, size / entry_size, limits::zip_members}));
  by_name_ = NameIndex(members_.capacity());
  while (!rest.empty()) {
    const std::uint64_t at = offset + (directory_.size() - rest.size());
    if (members_.size() == count)
      fail(ErrorKind::corrupt, "zip: the end record counts {} members, but more stand in the directory",
           count);
    if (members_.size() == limits::zip_members)
      fail(ErrorKind::corrupt, "zip: more than {} members", limits::zip_members);
    if (rest.size() < entry_size || load_le<std::uint32_t>(rest) != entry_signature)
      fail(ErrorKind::corrupt, "zip: the directory is damaged at byte {}", at);
    const std::size_t name_size = load_le<std::uint16_t>(rest, 28);
    const std::size_t extra_size = load_le<std::uint16_t>(rest, 30);
    const std::size_t comment_size = load_le<std::uint16_t>(rest, 32);
    const std::size_t whole = entry_size + name_size + extra_size + comment_size;
    if (rest.size() < whole) fail(ErrorKind::corrupt, "zip: the directory entry at byte {} is cut off", at);

    Member member;
    member.flags = load_le<std::uint16_t>(rest, 8);
    member.method = load_le<std::uint16_t>(rest, 10);
    member.crc32 = load_le<std::uint32_t>(rest, 16);
    member.stored = load_le<std::uint32_t>(rest, 20);
    member.size = load_le<std::uint32_t>(rest, 24);
    member.header = load_le<std::uint32_t>(rest, 42);
    member.name = as_text(rest.subspan(entry_size, name_size));
    apply_zip64_extra(rest.subspan(entry_size + name_size, extra_size), member);
    add(member);
    rest = rest.subspan(whole);
  }
  if (members_.empty()) leading_ = 0;
  if (members_.size() != count)
    fail(ErrorKind::corrupt, "zip: the end record counts {} members, the directory holds {}", count,
         members_.size());
}

const Member* Archive::find(std::string_view name) const {
  const std::optional<std::uint32_t> found = by_name_.find(name);
  return found ? &members_[*found] : nullptr;
}

Bytes Archive::open(const Member& member) const {
  const Member* const one = &member;
  return std::move(open(std::span(&one, 1)).front());
}

std::vector<Bytes> Archive::open(std::span<const Member* const> members) const {
  std::vector<Bytes> out(members.size());
  std::vector<std::pair<std::size_t, std::uint64_t>> unfolded;  // which member, where in the spool
  LocalHeaders headers(*file_, directory_offset_);
  Spool spool;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Member& member = *members[i];
    Bytes data = slice(file_, headers.data_offset(member), member.stored);
    if (member.is_stored()) {
      out[i] = std::move(data);
      continue;
    }
    unfolded.emplace_back(i, spool.size());
    try {
      const std::uint32_t crc = inflate_raw(*data, member.size, spool);
      if (member.crc32 != 0 && crc != member.crc32)
        fail(ErrorKind::corrupt, "its CRC-32 is {:08x}, the directory says {:08x}", crc, member.crc32);
    } catch (Error& error) {
      throw error.in(fmt::format("zip: member {}", printable(member.name)));
    }
  }
  if (unfolded.empty()) return out;
  const Bytes all = spool.finish();
  for (const auto& [index, offset] : unfolded) out[index] = slice(all, offset, members[index]->size);
  return out;
}

std::vector<std::byte> Archive::read(const Member& member, std::uint64_t limit) const {
  if (member.size > limit)
    fail(ErrorKind::corrupt, "zip: member {} holds {} bytes; at most {} make sense", printable(member.name),
         member.size, limit);
  const Bytes data = open(member);
  std::vector<std::byte> bytes = read_range(*data, 0, data->size());
  if (member.is_stored() && member.crc32 != 0) {
    const std::uint32_t crc = crc32(0, bytes);
    if (crc != member.crc32)
      fail(ErrorKind::corrupt, "zip: member {}: its CRC-32 is {:08x}, the directory says {:08x}",
           printable(member.name), crc, member.crc32);
  }
  return bytes;
}

}  // namespace ckpt::zip
