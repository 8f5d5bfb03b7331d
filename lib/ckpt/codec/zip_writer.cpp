#include "ckpt/codec/zip_writer.hpp"

#include <memory>
#include <string_view>
#include <utility>

#include "ckpt/core/bytes.hpp"
#include "ckpt/core/crc32.hpp"

// Local header:  PK\3\4, version, flags, method 0, time and date 0, CRC, size twice, name length, extra
// length; name;
//                extra field "FB", u16 n, n bytes that move the payload to a multiple of 64. PyTorch pads so
//                as well.
// Payload, then for tensors a data descriptor: PK\7\8, CRC, size twice (of 8 bytes each for a ZIP64 member).
// Directory, end records: see APPNOTE.TXT 6.3.9, sections 4.3.12 to 4.3.16.

namespace ckpt {
namespace {

constexpr std::uint64_t alignment = 64;
constexpr std::uint64_t zip64_from = 0xFFFFFFFF;
constexpr std::uint16_t utf8_flag = 0x0800;
constexpr std::uint16_t descriptor_flag = 0x0008;

class Record {
 public:
  Record& u16(std::uint64_t value) { return little(value, 2); }
  Record& u32(std::uint64_t value) { return little(value, 4); }
  Record& u64(std::uint64_t value) { return little(value, 8); }
  Record& text(std::string_view text) {
    const auto bytes = as_bytes(text);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  std::size_t size() const { return bytes_.size(); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  Record& little(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
    return *this;
  }
  std::vector<std::byte> bytes_;
};

std::uint64_t capped(std::uint64_t value) { return value >= zip64_from ? zip64_from : value; }

}  // namespace

void ZipWriter::append(std::vector<std::byte> bytes) {
  plan_.size += bytes.size();
  plan_.segments.emplace_back(Plan::Literal{std::move(bytes)});
}

void ZipWriter::begin(Member member) {
  member.offset = plan_.size;
  const bool is_zip64 = member.size >= zip64_from;
  Record extra;
  if (is_zip64)
    extra.u16(1)
        .u16(16)
        .u64(member.has_descriptor ? 0 : member.size)
        .u64(member.has_descriptor ? 0 : member.size);
  const std::uint64_t before_padding = member.offset + 30 + member.name.size() + extra.size() + 4;
  const std::uint64_t padding = (alignment - before_padding % alignment) % alignment;
  extra.text("FB").u16(padding).text(std::string(padding, 'Z'));

  Record header;
  header.u32(0x04034B50)
      .u16(is_zip64 ? 45 : 0)
      .u16(utf8_flag | (member.has_descriptor ? descriptor_flag : 0))
      .u16(0)
      .u32(0)
      .u32(member.crc32);
  const std::uint64_t size = is_zip64 ? zip64_from : member.has_descriptor ? 0 : member.size;
  header.u32(size).u32(size).u16(member.name.size()).u16(extra.size()).text(member.name);
  append(header.take());
  append(extra.take());
  members_.push_back(std::move(member));
}

void ZipWriter::add(std::string name, std::span<const std::byte> bytes) {
  begin({.name = std::move(name), .size = bytes.size(), .crc32 = ckpt::crc32(0, bytes)});
  append({bytes.begin(), bytes.end()});
}

void ZipWriter::add_tensor(std::string name, std::size_t index, std::uint64_t size) {
  const bool has_descriptor = size > 0;
  begin({.name = std::move(name),
         .size = size,
         .crc32 = 0,
         .is_tensor = true,
         .has_descriptor = has_descriptor});
  plan_.needs_crc32 = true;
  plan_.segments.emplace_back(Plan::TensorData{index});
  plan_.size += size;
  const std::size_t nth = tensors_++;
  if (!has_descriptor) return;
  const bool is_zip64 = size >= zip64_from;
  const std::uint64_t descriptor = is_zip64 ? 24 : 16;
  plan_.segments.emplace_back(
      Plan::AfterData{descriptor, [nth, size, is_zip64](std::span<const std::uint32_t> crc32) {
                        Record record;
                        record.u32(0x08074B50).u32(crc32[nth]);
                        if (is_zip64) record.u64(size).u64(size);
                        else record.u32(size).u32(size);
                        return record.take();
                      }});
  plan_.size += descriptor;
}

Plan ZipWriter::finish() && {
  const std::uint64_t directory = plan_.size;
  const auto make = [members = std::make_shared<const std::vector<Member>>(std::move(members_)),
                     directory](std::span<const std::uint32_t> crc32) {
    Record record;
    std::size_t nth = 0;
    for (const Member& member : *members) {
      const std::uint32_t crc = member.is_tensor ? crc32.empty() ? 0 : crc32[nth++] : member.crc32;
      Record extra;
      const bool is_large = member.size >= zip64_from;
      const bool is_far = member.offset >= zip64_from;
      if (is_large || is_far) {
        extra.u16(1).u16((is_large ? 16U : 0U) + (is_far ? 8U : 0U));
        if (is_large) extra.u64(member.size).u64(member.size);
        if (is_far) extra.u64(member.offset);
      }
      record.u32(0x02014B50)
          .u16(0)
          .u16(is_large || is_far ? 45 : 0)
          .u16(utf8_flag | (member.has_descriptor ? descriptor_flag : 0))
          .u16(0)
          .u32(0);
      record.u32(crc)
          .u32(capped(member.size))
          .u32(capped(member.size))
          .u16(member.name.size())
          .u16(extra.size())
          .u16(0)
          .u16(0)
          .u16(0)
          .u32(0);
      record.u32(capped(member.offset)).text(member.name).text(as_text(extra.take()));
    }
    const std::uint64_t size = record.size();
    const std::uint64_t count = members->size();
    if (count >= 0xFFFF || size >= zip64_from || directory >= zip64_from) {
      const std::uint64_t end = directory + size;
      record.u32(0x06064B50)
          .u64(44)
          .u16(45)
          .u16(45)
          .u32(0)
          .u32(0)
          .u64(count)
          .u64(count)
          .u64(size)
          .u64(directory);
      record.u32(0x07064B50).u32(0).u64(end).u32(1);
    }
    const std::uint64_t short_count = count >= 0xFFFF ? 0xFFFF : count;
    record.u32(0x06054B50)
        .u16(0)
        .u16(0)
        .u16(short_count)
        .u16(short_count)
        .u32(capped(size))
        .u32(capped(directory))
        .u16(0);
    return record.take();
  };
  // Its length does not depend on the checksums.
  const std::uint64_t size = make({}).size();
  plan_.segments.emplace_back(Plan::AfterData{size, make});
  plan_.size += size;
  return std::move(plan_);
}

}  // namespace ckpt
