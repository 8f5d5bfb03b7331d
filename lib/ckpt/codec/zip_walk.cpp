// A ZIP archive without its directory (APPNOTE 4.3.7, 4.3.9):
//
//     | local header 30, name, extra | data | descriptor | local header … | directory …
//
// Bit 3 of a header's flags says that CRC and sizes stand in the descriptor behind the data: PK\7\8, CRC,
// then both sizes of 4 or of 8 bytes each. Nothing tells where that is, but it must state just the distance
// that lies in front of it, and another record must follow. PyTorch gives no descriptor to a member without
// data.
#include "ckpt/codec/zip_walk.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "ckpt/codec/little_endian.hpp"
#include "ckpt/core/checked.hpp"

namespace ckpt::zip {
namespace {

constexpr std::string_view local_text{"PK\x03\x04", 4};
constexpr std::string_view entry_text{"PK\x01\x02", 4};
constexpr std::string_view descriptor_text{"PK\x07\x08", 4};
constexpr std::uint64_t local_size = 30;
constexpr std::uint16_t descriptor_flag = 0x0008;
constexpr std::uint16_t zip64_extra = 0x0001;
constexpr std::uint32_t in_zip64 = 0xFFFFFFFF;

/// Both sizes from the ZIP64 field of a local header; false where there is none.
bool apply_zip64_extra(std::span<const std::byte> extra, WalkedMember& member) {
  while (extra.size() >= 4) {
    const std::uint16_t id = load_le<std::uint16_t>(extra);
    const std::size_t size = load_le<std::uint16_t>(extra, 2);
    extra = extra.subspan(4);
    if (size > extra.size()) return false;
    if (id == zip64_extra && size >= 16) {
      member.size = load_le<std::uint64_t>(extra);
      member.stored = load_le<std::uint64_t>(extra, 8);
      return true;
    }
    extra = extra.subspan(size);
  }
  return false;
}

}  // namespace

/// Whether another record begins there, as far as the file goes.
bool Walk::is_record(std::uint64_t offset) const {
  const std::uint64_t size = std::min<std::uint64_t>(local_text.size(), file_->size() - offset);
  const std::vector<std::byte> bytes = read_range(*file_, offset, size);
  return local_text.starts_with(as_text(bytes)) || entry_text.starts_with(as_text(bytes));
}

bool Walk::at_directory() const {
  return range_fits(at_, entry_text.size(), file_->size()) &&
         as_text(read_range(*file_, at_, entry_text.size())) == entry_text;
}

/// Reads the descriptor that would stand behind data that ends at `end`.
bool Walk::read_descriptor(WalkedMember& member, std::uint64_t end, std::uint64_t& next) const {
  for (const std::uint64_t width : {4U, 8U}) {
    const std::uint64_t whole = 8 + 2 * width;
    if (!range_fits(end, whole, file_->size()) || !is_record(end + whole)) continue;
    const std::vector<std::byte> bytes = read_range(*file_, end, whole);
    if (!as_text(bytes).starts_with(descriptor_text)) return false;
    const auto number = [&](std::size_t at) {
      return width == 4 ? load_le<std::uint32_t>(bytes, at) : load_le<std::uint64_t>(bytes, at);
    };
    if (number(8) != end - member.data) continue;
    member.stored = number(8);
    member.size = number(8 + width);
    member.crc32 = load_le<std::uint32_t>(bytes, 4);
    next = end + whole;
    return true;
  }
  return false;
}

bool Walk::find_descriptor(WalkedMember& member, std::uint64_t& next) const {
  constexpr std::uint64_t window = 1U << 20;
  constexpr std::uint64_t overlap = descriptor_text.size() - 1;
  for (std::uint64_t at = member.data; at < file_->size();) {
    const std::uint64_t size = std::min(window, file_->size() - at);
    const std::vector<std::byte> bytes = read_range(*file_, at, size);
    const std::string_view text = as_text(bytes);
    for (std::size_t i = text.find(descriptor_text); i != std::string_view::npos;
         i = text.find(descriptor_text, i + 1))
      if (read_descriptor(member, at + i, next)) return true;
    if (size <= overlap || at + size == file_->size()) return false;
    at += size - overlap;
  }
  return false;
}

std::optional<WalkedMember> Walk::next(const Guess& guess) {
  if (is_stopped_ || !range_fits(at_, local_size, file_->size())) return std::nullopt;
  const std::vector<std::byte> header = read_range(*file_, at_, local_size);
  if (!as_text(header).starts_with(local_text)) return std::nullopt;
  is_stopped_ = true;  // until the member proves whole
  const std::uint64_t name_size = load_le<std::uint16_t>(header, 26);
  const std::uint64_t extra_size = load_le<std::uint16_t>(header, 28);
  if (!range_fits(at_ + local_size, name_size + extra_size, file_->size())) return std::nullopt;
  const std::vector<std::byte> rest = read_range(*file_, at_ + local_size, name_size + extra_size);

  WalkedMember member;
  member.header = at_;
  member.data = at_ + local_size + name_size + extra_size;
  member.name = as_text(std::span(rest).first(name_size));
  member.flags = load_le<std::uint16_t>(header, 6);
  member.method = load_le<std::uint16_t>(header, 8);
  member.crc32 = load_le<std::uint32_t>(header, 14);
  member.stored = load_le<std::uint32_t>(header, 18);
  member.size = load_le<std::uint32_t>(header, 22);

  std::uint64_t next = 0;
  if ((member.flags & descriptor_flag) != 0) {
    std::optional<std::uint64_t> guessed = guess(member.name);
    if (!guessed && member.stored != 0 && member.stored != in_zip64) guessed = member.stored;
    const std::optional<std::uint64_t> end =
        guessed ? checked_add(member.data, *guessed) : std::optional<std::uint64_t>();
    // Without a guess the next record may as well be data: an archive inside the archive.
    const bool is_empty = guessed == 0 && is_record(member.data);
    if (is_empty) {
      member.stored = member.size = 0;
      next = member.data;
    } else if (!(end && read_descriptor(member, *end, next)) && !find_descriptor(member, next)) {
      return std::nullopt;
    }
  } else {
    if ((member.stored == in_zip64 || member.size == in_zip64) &&
        !apply_zip64_extra(std::span(rest).subspan(name_size), member))
      return std::nullopt;
    if (!range_fits(member.data, member.stored, file_->size())) return std::nullopt;
    next = member.data + member.stored;
  }
  is_stopped_ = false;
  at_ = next;
  return member;
}

}  // namespace ckpt::zip
