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

std::optional<Item> take_item(std::string_view& bytes, unsigned depth) {
  if (bytes.empty() || depth > deepest) return std::nullopt;
  const auto first = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  const unsigned major = first >> 5U;
  const unsigned info = first & 31U;
  const bool is_open = info == 31;
  if (info > 27 && !is_open) return std::nullopt;
  std::uint64_t number = info;
  if (info >= 24 && !is_open) {
    const std::optional<std::uint64_t> wide = take_number(bytes, std::size_t{1} << (info - 24));
    if (!wide) return std::nullopt;
    number = *wide;
  }
  constexpr Kind kinds[]{Kind::natural, Kind::negative, Kind::bytes, Kind::text,
                         Kind::array,   Kind::map,      Kind::tag};
  if (major == 7) {
    if (is_open) return std::nullopt;  // the end of an open item, in a place of its own
    if (info == 20 || info == 21) return Item{.kind = Kind::boolean, .number = info - 20};
    if (info < 25) return Item{};
    if (info == 27) return Item{.kind = Kind::real, .number = number};
    return Item{.kind = Kind::real};
  }
  Item item{.kind = kinds[major], .number = number, .is_open = is_open};
  const auto is_end = [&] { return bytes.empty() || static_cast<unsigned char>(bytes.front()) == 0xFF; };
  if (item.kind == Kind::text || item.kind == Kind::bytes) {
    if (!is_open) {
      if (number > bytes.size()) return std::nullopt;
      item.text = bytes.substr(0, number);
      bytes.remove_prefix(number);
      return item;
    }
    while (!is_end()) {
      const std::optional<Item> part = take_item(bytes, depth + 1);
      if (!part) return std::nullopt;
      item.text += part->text;
    }
  } else if (item.kind == Kind::array || item.kind == Kind::map || item.kind == Kind::tag) {
    std::uint64_t count = item.kind == Kind::tag ? 1 : item.kind == Kind::map ? number * 2 : number;
    if (is_open) count = UINT64_MAX;
    for (std::uint64_t i = 0; i < count && !(is_open && is_end()); ++i) {
      std::optional<Item> part = take_item(bytes, depth + 1);
      if (!part) return std::nullopt;
      item.items.push_back(std::move(*part));
    }
  } else {
    return item;
  }
  if (is_open) {
    if (bytes.empty()) return std::nullopt;
    bytes.remove_prefix(1);
  }
  return item;
}

void put_number(std::uint64_t number, std::size_t size, std::string& out) {
  for (std::size_t i = size; i-- > 0;) out += static_cast<char>(number >> (8 * i));
}

void put_head(unsigned major, std::uint64_t number, Random& random, std::string& out) {
  unsigned width = number < 24 ? 0 : number < 256 ? 1 : number < 65536 ? 2 : number >> 32U == 0 ? 3 : 4;
  if (random.one_in(100)) width = std::max(width, static_cast<unsigned>(random.below(5)));
  out += static_cast<char>(major << 5U | (width == 0 ? static_cast<unsigned>(number) : 23 + width));
  if (width > 0) put_number(number, std::size_t{1} << (width - 1), out);
}

void write(const Item& item, Random& random, std::string& out) {
  switch (item.kind) {
    case Kind::null:
      out += random.one_in(4) ? '\xf7' : '\xf6';
      return;
    case Kind::boolean:
      out += item.number != 0 ? '\xf5' : '\xf4';
      return;
    case Kind::natural:
      return put_head(0, item.number, random, out);
    case Kind::negative:
      return put_head(1, item.number, random, out);
    case Kind::real: {
      const std::size_t width = random.one_in(4) ? 1 + random.below(3) : 3;
      out += static_cast<char>(0xF8 + width);
      return put_number(item.number >> (64 - (8U << width)), std::size_t{1} << width, out);
    }
    case Kind::text:
    case Kind::bytes: {
      const unsigned major = item.kind == Kind::text ? 3 : 2;
      if (!item.is_open) {
        put_head(major, item.text.size(), random, out);
        out += item.text;
        return;
      }
      const std::size_t half = item.text.size() / 2;
      out += static_cast<char>(major << 5U | 31U);
      for (const std::string& part : {item.text.substr(0, half), item.text.substr(half)}) {
        put_head(major, part.size(), random, out);
        out += part;
      }
      out += '\xff';
      return;
    }
    case Kind::tag:
    case Kind::array:
    case Kind::map:
      break;
  }
  const bool is_map = item.kind == Kind::map;
  const unsigned major = item.kind == Kind::tag ? 6 : is_map ? 5 : 4;
  std::uint64_t count = item.kind == Kind::tag ? item.number : item.items.size() / (is_map ? 2 : 1);
  if (random.one_in(200)) count = random.edge();
  if (item.is_open && item.kind != Kind::tag) out += static_cast<char>(major << 5U | 31U);
  else put_head(major, count, random, out);
  for (const Item& part : item.items) write(part, random, out);
  if (item.is_open && item.kind != Kind::tag) out += '\xff';
}

}  // namespace

std::optional<Item> take_cbor(std::string_view& bytes) { return take_item(bytes, 0); }

std::string cbor_of(const Item& item, Random& random) {
  std::string out;
  write(item, random, out);
  return out;
}

}  // namespace ckpt::fuzz
