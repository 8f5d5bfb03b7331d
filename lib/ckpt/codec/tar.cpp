// TAR (POSIX.1-2001 pax and ustar, with GNU's long names), in blocks of 512 bytes:
//
//     header | data, padded to a block | header | data | … | two blocks of zeros
//
//     0 name 100   124 size 12   148 checksum 8   156 type 1   257 "ustar"   345 prefix 155
//
// Numbers are octal text, or binary when the first bit is set (GNU). The checksum is the sum of the header's
// bytes with its own field taken as spaces. Types `x` (pax records) and `L` (GNU) hold the name of the next
// member.
#include "ckpt/codec/tar.hpp"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "ckpt/core/checked.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt::tar {
namespace {

/// Bytes of a name or of pax records; paths have 4096 at most.
constexpr std::uint64_t extension_limit = 64U << 10U;

std::string_view field(std::span<const std::byte> block, std::size_t offset, std::size_t size) {
  const std::string_view text = as_text(block.subspan(offset, size));
  return text.substr(0, text.find('\0'));
}

std::optional<std::uint64_t> number(std::span<const std::byte> block, std::size_t offset, std::size_t size) {
  if ((block[offset] & std::byte{0x80}) != std::byte{0}) {
    std::uint64_t value = std::to_integer<std::uint64_t>(block[offset] & std::byte{0x7F});
    for (std::size_t i = 1; i < size; ++i) {
      if (value >> 56U != 0) return std::nullopt;
      value = value << 8U | std::to_integer<std::uint64_t>(block[offset + i]);
    }
    return value;
  }
  std::string_view text = field(block, offset, size);
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.empty()) return 0;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_zero(std::span<const std::byte> block) {
  for (const std::byte b : block)
    if (b != std::byte{0}) return false;
  return true;
}

/// What extension headers say of the member that follows them.
struct Extension {
  std::optional<std::string> name;
  std::optional<std::uint64_t> size;
};

/// Records of the form `LENGTH KEY=VALUE\n`, where LENGTH counts the whole record.
void read_pax(std::string_view text, std::uint64_t at, Extension& out) {
  while (!text.empty()) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    const auto digits = static_cast<std::size_t>(end - text.data());
    if (error != std::errc{} || length > text.size() || length < digits + 3 || text[digits] != ' ' ||
        text[length - 1] != '\n')
      fail(ErrorKind::corrupt, "tar: the extended header at byte {} is malformed", at);
    const std::string_view record = text.substr(digits + 1, length - digits - 2);
    text.remove_prefix(length);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = record.substr(0, equals);
    const std::string_view value = record.substr(equals + 1);
    if (key == "path") out.name = value;
    if (key == "size") {
      std::uint64_t size = 0;
      const auto [stop, bad] = std::from_chars(value.data(), value.data() + value.size(), size);
      if (bad != std::errc{} || stop != value.data() + value.size())
        fail(ErrorKind::corrupt, "tar: a size that is no number at byte {}", at);
      out.size = size;
    }
  }
}

}  // namespace

bool is_header(std::span<const std::byte> block) {
  if (block.size() < block_size || is_zero(block.first(block_size))) return false;
  const std::optional<std::uint64_t> stated = number(block, 148, 8);
  std::uint64_t sum = 8 * std::uint64_t{' '};
  for (std::size_t i = 0; i < block_size; ++i)
    if (i < 148 || i >= 156) sum += std::to_integer<std::uint64_t>(block[i]);
  return stated == sum;
}

Archive read_archive(const ByteSource& file) {
  Archive archive;
  std::vector<Member>& members = archive.members;
  Extension extension;
  for (std::uint64_t at = 0; at < file.size();) {
    if (!range_fits(at, block_size, file.size()))
      fail(ErrorKind::corrupt, "tar: the archive is cut off in the header at byte {}", at);
    const std::vector<std::byte> block = read_range(file, at, block_size);
    if (is_zero(block)) {
      archive.has_end = true;
      break;
    }
    if (!is_header(block))
      fail(ErrorKind::corrupt, "tar: the checksum of the header at byte {} is wrong", at);
    if (members.size() == limits::tar_members)
      fail(ErrorKind::corrupt, "tar: more than {} members", limits::tar_members);

    const std::optional<std::uint64_t> stated = number(block, 124, 12);
    if (!stated) fail(ErrorKind::corrupt, "tar: the size in the header at byte {} is no number", at);
    const char type = static_cast<char>(block[156]);
    const bool is_extension = type == 'x' || type == 'g' || type == 'L' || type == 'K';
    Member member;
    member.size = is_extension ? *stated : extension.size.value_or(*stated);
    member.offset = at + block_size;
    if (extension.name) {
      member.name = *extension.name;
    } else {
      const std::string_view prefix = as_text(block).substr(257, 6) == std::string_view("ustar\0", 6)
                                          ? field(block, 345, 155)
                                          : std::string_view();
      member.name = std::string(prefix) + (prefix.empty() ? "" : "/") + std::string(field(block, 0, 100));
    }
    const std::optional<std::uint64_t> end = checked_align(member.size, block_size);
    if (!end || !range_fits(member.offset, member.size, file.size()))
      fail(ErrorKind::corrupt,
           "tar: the archive is cut off: member {} wants {} bytes at byte {}, {} are left",
           printable(member.name), member.size, member.offset, file.size() - member.offset);
    at = *end > file.size() - member.offset ? file.size() : member.offset + *end;

    if (is_extension) {
      if (member.size > extension_limit)
        fail(ErrorKind::corrupt, "tar: an extended header of {} bytes at byte {}", member.size,
             member.offset);
      const std::vector<std::byte> bytes = read_range(file, member.offset, member.size);
      const std::string_view text = as_text(bytes);
      if (type == 'x') read_pax(text, member.offset, extension);
      if (type == 'L') extension.name = std::string(text.substr(0, text.find('\0')));
      continue;
    }
    extension = {};
    if (type == 'S') fail(ErrorKind::unsupported, "tar: member {} is sparse", printable(member.name));
    if (type == '0' || type == '\0' || type == '7') members.push_back(std::move(member));
  }
  return archive;
}

}  // namespace ckpt::tar
