#include <cbor.h>

#include <algorithm>
#include <bit>

#include "ckpt/codec/cbor.hpp"
#include "ckpt/codec/cbor_float.hpp"
#include "ckpt/core/bytes.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt::cbor {
namespace {

// libcbor's decoder of single heads calls back into C++ once for each; the callbacks only note what
// they are told, since no exception may cross it. Its tree loader is not used: it allocates by counts
// that a file merely claims.
template <Kind kind, typename Number> void note_number(void* item, Number number) {
  static_cast<Item*>(item)->kind = kind;
  static_cast<Item*>(item)->number = number;
}

template <Kind kind> void note_payload(void* item, cbor_data data, std::size_t size) {
  static_cast<Item*>(item)->kind = kind;
  static_cast<Item*>(item)->payload = {reinterpret_cast<const std::byte*>(data), size};
}

template <Kind kind, bool indefinite> void note(void* item) {
  static_cast<Item*>(item)->kind = kind;
  static_cast<Item*>(item)->indefinite = indefinite;
}

constexpr cbor_callbacks callbacks{
    .uint8 = note_number<Kind::whole, std::uint8_t>,
    .uint16 = note_number<Kind::whole, std::uint16_t>,
    .uint32 = note_number<Kind::whole, std::uint32_t>,
    .uint64 = note_number<Kind::whole, std::uint64_t>,
    .negint64 = note_number<Kind::negative, std::uint64_t>,
    .negint32 = note_number<Kind::negative, std::uint32_t>,
    .negint16 = note_number<Kind::negative, std::uint16_t>,
    .negint8 = note_number<Kind::negative, std::uint8_t>,
    .byte_string_start = note<Kind::bytes, true>,
    .byte_string = note_payload<Kind::bytes>,
    .string = note_payload<Kind::text>,
    .string_start = note<Kind::text, true>,
    .indef_array_start = note<Kind::array, true>,
    .array_start = note_number<Kind::array, std::size_t>,
    .indef_map_start = note<Kind::map, true>,
    .map_start = note_number<Kind::map, std::size_t>,
    .tag = note_number<Kind::tag, std::uint64_t>,
    // The value is taken from the bytes, see cbor_float.hpp.
    .float2 = [](void* item, float) { note<Kind::floating, false>(item); },
    .float4 = [](void* item, float) { note<Kind::floating, false>(item); },
    .float8 = [](void* item, double) { note<Kind::floating, false>(item); },
    .undefined = note<Kind::undefined, false>,
    .null = note<Kind::null, false>,
    .boolean = note_number<Kind::boolean, bool>,
    .indef_break = note<Kind::stop, false>,
};

std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::whole:
      return "an unsigned integer";
    case Kind::negative:
      return "a negative integer";
    case Kind::bytes:
      return "a byte string";
    case Kind::text:
      return "a text";
    case Kind::array:
      return "an array";
    case Kind::map:
      return "a map";
    case Kind::tag:
      return "a tag";
    case Kind::boolean:
      return "true or false";
    case Kind::null:
      return "null";
    case Kind::undefined:
      return "undefined";
    case Kind::floating:
      return "a float";
    case Kind::stop:
      break;
  }
  return "the end of a container";
}

[[noreturn]] void fail_kind(const Item& item, std::string_view what, std::string_view due) {
  fail(ErrorKind::corrupt, "CBOR at offset {}: {} is {}, not {}", item.offset, what, name(item.kind), due);
}

std::uint64_t big_endian(std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  for (const std::byte byte : bytes) number = number << 8U | std::to_integer<std::uint64_t>(byte);
  return number;
}

// `bytes` are the head of a float and the 2, 4 or 8 bytes behind it.
std::uint64_t float_bits(std::span<const std::byte> bytes) {
  const std::uint64_t number = big_endian(bytes.subspan(1));
  if (bytes.size() == 3) return double_bits_of_half(static_cast<std::uint16_t>(number));
  if (bytes.size() == 5) return double_bits_of_single(static_cast<std::uint32_t>(number));
  return number;
}

}  // namespace

Item Reader::head() {
  const std::span<const std::byte> rest = bytes_.subspan(at_);
  Item item;
  item.offset = offset();
  if (rest.empty())
    fail(ErrorKind::corrupt, "CBOR at offset {}: the data ends where another item is due", item.offset);
  const cbor_decoder_result result =
      cbor_stream_decode(reinterpret_cast<cbor_data>(rest.data()), rest.size(), &callbacks, &item);
  if (result.status == CBOR_DECODER_NEDATA)
    fail(ErrorKind::corrupt,
         "CBOR at offset {}: the item that begins here goes on beyond the {} bytes that are left",
         item.offset, rest.size());
  if (result.status != CBOR_DECODER_FINISHED)
    fail(ErrorKind::corrupt, "CBOR at offset {}: the byte 0x{:02x} begins no item", item.offset,
         std::to_integer<unsigned>(rest.front()));
  if (item.kind == Kind::floating) item.number = float_bits(rest.first(result.read));
  at_ += result.read;
  return item;
}

Item Reader::item() {
  Item item = head();
  std::optional<std::uint64_t> tag;
  for (unsigned tags = 1; item.kind == Kind::tag; ++tags) {
    if (depth_ + tags > limits::nesting)
      fail(ErrorKind::corrupt, "CBOR at offset {}: nested deeper than {} levels", item.offset,
           limits::nesting);
    tag = item.number;
    item = head();
  }
  item.tag = tag;
  return item;
}

Item Reader::expect(Kind kind, std::string_view what) {
  Item found = item();
  if (found.kind != kind) fail_kind(found, what, name(kind));
  return found;
}

Reader::Entries Reader::entries(const Item& head) {
  if (++depth_ > limits::nesting)
    fail(ErrorKind::corrupt, "CBOR at offset {}: nested deeper than {} levels", head.offset, limits::nesting);
  const std::uint64_t least = head.kind == Kind::map ? 2 : 1;  // bytes of an entry
  if (head.number > left() / least)
    fail(ErrorKind::corrupt, "CBOR at offset {}: {} claims {} entries, but {} bytes are left", head.offset,
         name(head.kind), head.number, left());
  return {*this, head};
}

Reader::Entries Reader::enter(Kind kind, std::string_view what) { return entries(expect(kind, what)); }

bool Reader::Entries::next() {
  if (indefinite_) {
    if (reader_.left() == 0 || std::to_integer<unsigned>(reader_.bytes_[reader_.at_]) != 0xFF) return true;
    ++reader_.at_;
  } else if (left_ != 0) {
    --left_;
    return true;
  }
  --reader_.depth_;
  return false;
}

std::uint64_t Reader::whole(std::string_view what) {
  constexpr std::uint64_t positive_bignum = 2;
  const Item found = item();
  if (found.kind == Kind::bytes && found.tag == positive_bignum && !found.indefinite) {
    std::span<const std::byte> digits = found.payload;
    while (!digits.empty() && digits.front() == std::byte{0}) digits = digits.subspan(1);
    if (digits.size() > 8)
      fail(ErrorKind::corrupt, "CBOR at offset {}: {} is beyond 64 bits", found.offset, what);
    return big_endian(digits);
  }
  if (found.kind != Kind::whole) fail_kind(found, what, name(Kind::whole));
  return found.number;
}

std::int64_t Reader::integer(std::string_view what) {
  const Item found = item();
  if (found.kind != Kind::whole && found.kind != Kind::negative) fail_kind(found, what, "an integer");
  if (found.number > INT64_MAX)
    fail(ErrorKind::corrupt, "CBOR at offset {}: {} is beyond 64 bits", found.offset, what);
  const auto magnitude = static_cast<std::int64_t>(found.number);
  return found.kind == Kind::whole ? magnitude : -1 - magnitude;
}

double Reader::floating(std::string_view what) {
  return std::bit_cast<double>(expect(Kind::floating, what).number);
}

bool Reader::boolean(std::string_view what) { return expect(Kind::boolean, what).number != 0; }

std::string Reader::text(std::string_view what) {
  const Item first = expect(Kind::text, what);
  std::string out(as_text(first.payload));
  if (first.indefinite) {
    for (Item piece = head(); piece.kind != Kind::stop; piece = head()) {
      if (piece.kind != Kind::text || piece.indefinite) fail_kind(piece, what, "a piece of a text");
      out += as_text(piece.payload);
    }
  }
  if (!is_utf8(out)) fail(ErrorKind::corrupt, "CBOR at offset {}: {} is not UTF-8", first.offset, what);
  return out;
}

std::string_view Reader::identifier(std::string_view what) {
  const Item found = item();
  if (found.kind != Kind::text && found.kind != Kind::bytes) fail_kind(found, what, name(Kind::text));
  if (found.indefinite)
    fail(ErrorKind::corrupt, "CBOR at offset {}: {} is a text in pieces", found.offset, what);
  return as_text(found.payload);
}

std::span<const std::byte> Reader::bytes(std::string_view what) {
  const Item found = expect(Kind::bytes, what);
  if (found.indefinite) fail(ErrorKind::corrupt, "CBOR at offset {}: {} is in pieces", found.offset, what);
  return found.payload;
}

Kind Reader::peek() {
  const std::size_t start = at_;
  const Kind kind = item().kind;
  at_ = start;
  return kind;
}

bool Reader::null() {
  if (peek() != Kind::null) return false;
  item();
  return true;
}

void Reader::skip() {
  const unsigned outside = depth_;
  Item found = head();
  // A tag is a level of its own here, as it is in ciborium.
  while (found.kind == Kind::tag) {
    if (++depth_ > limits::nesting)
      fail(ErrorKind::corrupt, "CBOR at offset {}: nested deeper than {} levels", found.offset,
           limits::nesting);
    found = head();
  }
  if (found.kind == Kind::stop) fail_kind(found, "the end", "a value");
  if (found.kind == Kind::array || found.kind == Kind::map) {
    for (Entries all = entries(found); all.next();) {
      skip();
      if (found.kind == Kind::map) skip();
    }
  } else if (found.indefinite) {
    for (Item piece = head(); piece.kind != Kind::stop; piece = head())
      if (piece.kind != found.kind || piece.indefinite) fail_kind(piece, "a piece", name(found.kind));
  }
  depth_ = outside;
}

}  // namespace ckpt::cbor
