#include <algorithm>

#include "mutate/tree.hpp"

namespace ckpt::fuzz {
namespace {

using Kind = Item::Kind;
constexpr unsigned deepest = 200;

std::optional<std::uint64_t> take_number(std::string_view& bytes, std::size_t size) {
  if (bytes.size() < size) return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : bytes.substr(0, size)) number = number << 8U | static_cast<unsigned char>(c);
  bytes.remove_prefix(size);
  return number;
}

std::optional<Item> with_text(Kind kind, std::optional<std::uint64_t> size, std::string_view& bytes) {
  if (!size || *size > bytes.size()) return std::nullopt;
  Item item{.kind = kind, .text = std::string(bytes.substr(0, *size))};
  bytes.remove_prefix(*size);
  return item;
}

std::optional<Item> take_item(std::string_view& bytes, unsigned depth);

std::optional<Item> with_items(Kind kind, std::optional<std::uint64_t> count, std::string_view& bytes,
                               unsigned depth) {
  if (!count) return std::nullopt;
  Item item{.kind = kind};
  for (std::uint64_t i = 0; i < (kind == Kind::map ? 2 : 1) * *count; ++i) {
    std::optional<Item> part = take_item(bytes, depth + 1);
    if (!part) return std::nullopt;
    item.items.push_back(std::move(*part));
  }
  return item;
}

std::optional<Item> with_number(Kind kind, std::size_t size, std::string_view& bytes) {
  const std::optional<std::uint64_t> number = take_number(bytes, size);
  if (!number) return std::nullopt;
  return Item{.kind = kind, .number = *number};
}

std::optional<Item> take_item(std::string_view& bytes, unsigned depth) {
  if (bytes.empty() || depth > deepest) return std::nullopt;
  const auto first = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  if (first < 0x80) return Item{.kind = Kind::natural, .number = first};
  if (first < 0x90) return with_items(Kind::map, first & 15U, bytes, depth);
  if (first < 0xA0) return with_items(Kind::array, first & 15U, bytes, depth);
  if (first < 0xC0) return with_text(Kind::text, first & 31U, bytes);
  if (first >= 0xE0) return Item{.kind = Kind::negative, .number = 255U - first};
  const auto size = [&](unsigned shift) { return take_number(bytes, std::size_t{1} << shift); };
  switch (first) {
    case 0xC0:
      return Item{};
    case 0xC2:
    case 0xC3:
      return Item{.kind = Kind::boolean, .number = first & 1U};
    case 0xC4:
    case 0xC5:
    case 0xC6:
      return with_text(Kind::bytes, size(first - 0xC4U), bytes);
    case 0xCB:
      return with_number(Kind::real, 8, bytes);
    case 0xCC:
    case 0xCD:
    case 0xCE:
    case 0xCF:
      return with_number(Kind::natural, std::size_t{1} << (first - 0xCCU), bytes);
    case 0xD9:
    case 0xDA:
    case 0xDB:
      return with_text(Kind::text, size(first - 0xD9U), bytes);
    case 0xDC:
    case 0xDD:
      return with_items(Kind::array, size(first - 0xDCU + 1), bytes, depth);
    case 0xDE:
    case 0xDF:
      return with_items(Kind::map, size(first - 0xDEU + 1), bytes, depth);
    default:
      return std::nullopt;
  }
}

void put(unsigned char first, std::uint64_t number, std::size_t size, std::string& out) {
  out += static_cast<char>(first);
  for (std::size_t i = size; i-- > 0;) out += static_cast<char>(number >> (8 * i));
}

void write(const Item& item, Random& random, std::string& out) {
  switch (item.kind) {
    case Kind::null:
      out += '\xc0';
      return;
    case Kind::boolean:
      out += item.number != 0 ? '\xc3' : '\xc2';
      return;
    case Kind::natural:
    case Kind::tag: {
      if (item.number < 128 && !random.one_in(50))
        return put(static_cast<unsigned char>(item.number), 0, 0, out);
      const unsigned shift = item.number < 256         ? 0
                             : item.number < 65536     ? 1
                             : item.number >> 32U == 0 ? 2
                                                       : 3;
      return put(static_cast<unsigned char>(0xCC + shift), item.number, std::size_t{1} << shift, out);
    }
    case Kind::negative:
      if (item.number < 32) return put(static_cast<unsigned char>(255 - item.number), 0, 0, out);
      return put(0xD3, ~item.number, 8, out);
    case Kind::real:
      return put(0xCB, item.number, 8, out);
    case Kind::text:
    case Kind::bytes:
      if (item.kind == Kind::text && item.text.size() < 32)
        put(static_cast<unsigned char>(0xA0 + item.text.size()), 0, 0, out);
      else put(item.kind == Kind::text ? 0xDB : 0xC6, item.text.size(), 4, out);
      out += item.text;
      return;
    case Kind::array:
    case Kind::map:
      break;
  }
  const bool is_map = item.kind == Kind::map;
  const std::uint64_t count = item.items.size() / (is_map ? 2 : 1);
  if (random.one_in(200)) put(is_map ? 0xDF : 0xDD, random.edge(), 4, out);
  else if (count < 16) put(static_cast<unsigned char>((is_map ? 0x80U : 0x90U) | count), 0, 0, out);
  else put(is_map ? 0xDF : 0xDD, count, 4, out);
  for (const Item& part : item.items) write(part, random, out);
}

}  // namespace

std::optional<Item> take_msgpack(std::string_view& bytes) { return take_item(bytes, 0); }

std::string msgpack_of(const Item& item, Random& random) {
  std::string out;
  write(item, random, out);
  return out;
}

}  // namespace ckpt::fuzz
