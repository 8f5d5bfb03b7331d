// The end of a ZIP archive (APPNOTE 4.3.14 to 4.3.16), all numbers little-endian:
//
//     … | central directory | ZIP64 end record | ZIP64 locator | end record | comment |
//                              56+, optional      20, optional    22          0 … 65535
//
// The end record is searched for from the back, since a comment may hold its signature. PyTorch
// writes the ZIP64 records always, other writers only where a number needs them.
#include "ckpt/codec/zip_end.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "ckpt/codec/little_endian.hpp"
#include "ckpt/core/checked.hpp"
#include "ckpt/core/error.hpp"

namespace ckpt::zip {
namespace {

constexpr std::uint32_t end_signature = 0x06054b50;
constexpr std::uint32_t end64_signature = 0x06064b50;
constexpr std::uint32_t locator_signature = 0x07064b50;
constexpr std::uint32_t entry_signature = 0x02014b50;
constexpr std::uint64_t end_size = 22;
constexpr std::uint64_t end64_size = 56;
constexpr std::uint64_t locator_size = 20;
constexpr std::uint64_t comment_limit = 0xFFFF;

/// Looks for the end record whose comment ends the file; failing that, for one that junk follows.
std::optional<std::size_t> find_record(std::span<const std::byte> tail, bool exact) {
  for (std::size_t i = tail.size() - end_size + 1; i-- > 0;) {
    if (load_le<std::uint32_t>(tail, i) != end_signature) continue;
    const std::uint64_t end = i + end_size + load_le<std::uint16_t>(tail, i + 20);
    if (exact ? end == tail.size() : end < tail.size()) return i;
  }
  return std::nullopt;
}

/// Replaces what the plain record says by what the ZIP64 record says. Returns where the records begin.
std::uint64_t apply_zip64(const ByteSource& file, std::uint64_t record, End& end, bool needed) {
  std::vector<std::byte> locator;
  if (record >= locator_size) locator = read_range(file, record - locator_size, locator_size);
  if (locator.empty() || load_le<std::uint32_t>(locator) != locator_signature) {
    if (needed)
      fail(ErrorKind::corrupt, "zip: the end record at byte {} refers to a ZIP64 record that is not there",
           record);
    return record;
  }
  const std::uint64_t offset = load_le<std::uint64_t>(locator, 8);
  if (!range_fits(offset, end64_size, record - locator_size))
    fail(ErrorKind::corrupt, "zip: the ZIP64 locator points to byte {}, outside the archive", offset);
  const std::vector<std::byte> bytes = read_range(file, offset, end64_size);
  if (load_le<std::uint32_t>(bytes) != end64_signature)
    fail(ErrorKind::corrupt, "zip: there is no ZIP64 end record at byte {}", offset);
  // The record, its 12 bytes up to the size field counted in, and the locator follow each other.
  const std::uint64_t locator_offset = record - locator_size;
  if (load_le<std::uint64_t>(bytes, 4) != locator_offset - offset - 12)
    fail(ErrorKind::corrupt,
         "zip: the ZIP64 end record at byte {} does not end at its locator at byte {}: something was put in "
         "front of the "
         "archive or archives were joined",
         offset, locator_offset);
  if (load_le<std::uint32_t>(bytes, 16) != 0 || load_le<std::uint32_t>(bytes, 20) != 0)
    fail(ErrorKind::unsupported, "zip: the archive is one of several volumes");
  end.entries = load_le<std::uint64_t>(bytes, 32);
  end.directory_size = load_le<std::uint64_t>(bytes, 40);
  end.directory_offset = load_le<std::uint64_t>(bytes, 48);
  return offset;
}

}  // namespace

End find_end(const ByteSource& file) {
  if (file.size() < end_size)
    fail(ErrorKind::corrupt, "zip: the archive is cut off: {} bytes hold no end record", file.size());
  const std::uint64_t tail_size = std::min(file.size(), end_size + comment_limit);
  const std::uint64_t tail_offset = file.size() - tail_size;
  const std::vector<std::byte> tail = read_range(file, tail_offset, tail_size);
  std::optional<std::size_t> found = find_record(tail, true);
  if (!found) found = find_record(tail, false);
  if (!found)
    fail(ErrorKind::corrupt,
         "zip: the archive has no end record; it is cut off (a download that was not finished?)");

  const std::span<const std::byte> record = std::span(tail).subspan(*found);
  const std::uint64_t position = tail_offset + *found;
  End end;
  end.entries = load_le<std::uint16_t>(record, 10);
  end.directory_size = load_le<std::uint32_t>(record, 12);
  end.directory_offset = load_le<std::uint32_t>(record, 16);
  end.trailing = file.size() - position - end_size - load_le<std::uint16_t>(record, 20);
  const bool needs_zip64 =
      end.entries == 0xFFFF || end.directory_size == 0xFFFFFFFF || end.directory_offset == 0xFFFFFFFF;
  const std::uint64_t records = apply_zip64(file, position, end, needs_zip64);

  const std::optional<std::uint64_t> stop = checked_add(end.directory_offset, end.directory_size);
  if (!stop || *stop > records)
    fail(ErrorKind::corrupt,
         "zip: the directory ({} bytes at byte {}) does not fit before the end record at byte {}",
         end.directory_size, end.directory_offset, records);
  if (*stop != records)
    fail(ErrorKind::corrupt,
         "zip: the directory should end at byte {} but the end record says {}: {} bytes were put in front of "
         "the "
         "archive or archives were joined",
         records, *stop, records - *stop);
  if (end.directory_size >= 4) {
    const std::vector<std::byte> first = read_range(file, end.directory_offset, 4);
    if (load_le<std::uint32_t>(first) != entry_signature)
      fail(ErrorKind::corrupt, "zip: there is no directory at byte {}", end.directory_offset);
  }
  return end;
}

}  // namespace ckpt::zip
