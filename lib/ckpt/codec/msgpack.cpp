#include "ckpt/codec/msgpack.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "ckpt/core/checked.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"

// https://github.com/msgpack/msgpack/blob/master/spec.md; all numbers are big-endian.
//   00-7f fixint  80-8f fixmap  90-9f fixarray  a0-bf fixstr  c0 nil  c2 false  c3 true  c4-c6 bin 8/16/32
//   c7-c9 ext  ca float32  cb float64  cc-cf uint 8..64  d0-d3 int 8..64  d4-d8 fixext  d9-db str 8/16/32
//   dc-dd array 16/32  de-df map 16/32  e0-ff negative fixint

namespace ckpt {

void MsgpackReader::need(std::uint64_t bytes, std::uint64_t offset) const {
  if (!range_fits(at_, bytes, source_->size()))
    fail(ErrorKind::corrupt, "offset {}: an item claims {} bytes more, but {} are left", offset, bytes,
         source_->size() - std::min(at_, source_->size()));
}

void MsgpackReader::read(std::span<std::byte> out) {
  need(out.size(), at_);
  if (out.size() > window_bytes) source_->read_at(at_, out);
  else std::ranges::copy(ahead(out.size()).first(out.size()), out.begin());
  at_ += out.size();
}

std::uint64_t MsgpackReader::big_endian(unsigned size) {
  std::array<std::byte, 8> bytes{};
  read(std::span(bytes).first(size));
  std::uint64_t value = 0;
  for (unsigned i = 0; i < size; ++i) value = value << 8U | std::to_integer<std::uint64_t>(bytes.at(i));
  return value;
}

void MsgpackReader::begin(Item& item, Kind kind, std::uint64_t count) {
  item.kind = kind;
  item.count = count;
  switch (kind) {
    case Kind::array:
      return need(count, item.offset);  // each member has a byte at least
    case Kind::map:
      return need(2 * count, item.offset);  // counts are at most 32 bits wide
    case Kind::text: {
      need(count, item.offset);
      if (count > limits::record_text)
        fail(ErrorKind::corrupt, "offset {}: a text of {} bytes; {} are the limit", item.offset, count,
             limits::record_text);
      std::vector<std::byte> text(count);
      read(text);
      item.text = as_text(text);
      if (!is_utf8(item.text)) fail(ErrorKind::corrupt, "offset {}: a text is not UTF-8", item.offset);
      return;
    }
    default:
      need(count, item.offset);
      item.data = at_;
      at_ += count;
  }
}

MsgpackReader::Item MsgpackReader::next() {
  Item item;
  item.offset = at_;
  const auto code = static_cast<unsigned>(big_endian(1));
  const auto natural = [&](std::uint64_t value) {
    item.kind = Kind::unsigned_integer;
    item.natural = value;
  };
  const auto integer = [&](std::int64_t value) {
    if (value >= 0) return natural(static_cast<std::uint64_t>(value));
    item.kind = Kind::signed_integer;
    item.integer = value;
  };
  if (code <= 0x7F) natural(code);
  else if (code <= 0x8F) begin(item, Kind::map, code & 0x0FU);
  else if (code <= 0x9F) begin(item, Kind::array, code & 0x0FU);
  else if (code <= 0xBF) begin(item, Kind::text, code & 0x1FU);
  else if (code >= 0xE0) integer(static_cast<std::int8_t>(code));
  else switch (code) {
      case 0xC0:
        break;
      case 0xC2:
      case 0xC3:
        item.kind = Kind::boolean;
        item.boolean = code == 0xC3;
        break;
      case 0xC4:
      case 0xC5:
      case 0xC6:
        begin(item, Kind::binary, big_endian(1U << (code - 0xC4U)));
        break;
      case 0xC7:
      case 0xC8:
      case 0xC9:
        begin(item, Kind::extension, big_endian(1U << (code - 0xC7U)) + 1);
        break;  // and its type
      case 0xCA:
        item.kind = Kind::real;
        item.real = std::bit_cast<float>(static_cast<std::uint32_t>(big_endian(4)));
        break;
      case 0xCB:
        item.kind = Kind::real;
        item.real = std::bit_cast<double>(big_endian(8));
        break;
      case 0xCC:
      case 0xCD:
      case 0xCE:
      case 0xCF:
        natural(big_endian(1U << (code - 0xCCU)));
        break;
      case 0xD0:
        integer(static_cast<std::int8_t>(big_endian(1)));
        break;
      case 0xD1:
        integer(static_cast<std::int16_t>(big_endian(2)));
        break;
      case 0xD2:
        integer(static_cast<std::int32_t>(big_endian(4)));
        break;
      case 0xD3:
        integer(static_cast<std::int64_t>(big_endian(8)));
        break;
      case 0xD4:
      case 0xD5:
      case 0xD6:
      case 0xD7:
      case 0xD8:
        begin(item, Kind::extension, (1U << (code - 0xD4U)) + 1);
        break;
      case 0xD9:
      case 0xDA:
      case 0xDB:
        begin(item, Kind::text, big_endian(1U << (code - 0xD9U)));
        break;
      case 0xDC:
      case 0xDD:
        begin(item, Kind::array, big_endian(code == 0xDC ? 2 : 4));
        break;
      case 0xDE:
      case 0xDF:
        begin(item, Kind::map, big_endian(code == 0xDE ? 2 : 4));
        break;
      default:
        fail(ErrorKind::corrupt, "offset {}: the byte {:#04x} begins no MessagePack item", item.offset, code);
    }
  return item;
}

}  // namespace ckpt
