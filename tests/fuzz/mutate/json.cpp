#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "mutate/tree.hpp"

namespace ckpt::fuzz {
namespace {

using Kind = Item::Kind;
constexpr unsigned deepest = 200;

void skip_blanks(std::string_view& bytes) {
  bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
}

bool take(std::string_view& bytes, std::string_view word) {
  if (!bytes.starts_with(word)) return false;
  bytes.remove_prefix(word.size());
  return true;
}

/// The text between quotes as it stands there, escapes and all.
std::optional<std::string> take_quoted(std::string_view& bytes) {
  if (!take(bytes, "\"")) return std::nullopt;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '\\') ++i;
    else if (bytes[i] == '"') {
      std::string text(bytes.substr(0, i));
      bytes.remove_prefix(i + 1);
      return text;
    }
  }
  return std::nullopt;
}

Item take_number(std::string_view& bytes) {
  std::string text(bytes.substr(0, bytes.find_first_not_of("+-.0123456789eE")));
  bytes.remove_prefix(text.size());
  Item item{.kind = Kind::natural, .text = text};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), item.number);
  if (error == std::errc() && end == text.data() + text.size()) item.text.clear();
  return item;
}

std::optional<Item> take_item(std::string_view& bytes, unsigned depth) {
  skip_blanks(bytes);
  if (bytes.empty() || depth > deepest) return std::nullopt;
  if (take(bytes, "null")) return Item{};
  if (take(bytes, "true")) return Item{.kind = Kind::boolean, .number = 1};
  if (take(bytes, "false")) return Item{.kind = Kind::boolean};
  if (bytes.front() == '"') {
    std::optional<std::string> text = take_quoted(bytes);
    if (!text) return std::nullopt;
    return Item{.kind = Kind::text, .text = std::move(*text)};
  }
  if (bytes.front() != '{' && bytes.front() != '[') {
    Item number = take_number(bytes);
    if (number.text.empty() && number.number == 0 && !bytes.empty() && bytes.front() > '9')
      return std::nullopt;
    return number;
  }
  Item item{.kind = bytes.front() == '{' ? Kind::map : Kind::array};
  const std::string_view end = item.kind == Kind::map ? "}" : "]";
  bytes.remove_prefix(1);
  for (skip_blanks(bytes); !take(bytes, end); skip_blanks(bytes)) {
    if (!item.items.empty() && !take(bytes, ",")) return std::nullopt;
    if (item.kind == Kind::map) {
      skip_blanks(bytes);
      std::optional<std::string> key = take_quoted(bytes);
      skip_blanks(bytes);
      if (!key || !take(bytes, ":")) return std::nullopt;
      item.items.push_back({.kind = Kind::text, .text = std::move(*key)});
    }
    std::optional<Item> part = take_item(bytes, depth + 1);
    if (!part) return std::nullopt;
    item.items.push_back(std::move(*part));
  }
  return item;
}

constexpr std::array<std::string_view, 14> odd_numbers{
    "-0",
    "1e400",
    "-1e400",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775808",
    "1.5",
    "1e2",
    "00",
    "-9223372036854775809",
    "0.1e-400",
    "1E+2",
    "1.",
    "123456789012345678901234567890123456789012345678901234567890"};

/// What stands between quotes is kept as it is, but for what would end it.
void write_text(const std::string& text, Random& random, std::string& out) {
  out += '"';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size()) out += c, out += text[++i];
    else if (c == '"' || c == '\\') out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < 0x20 && !random.one_in(50))
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else out += c;
  }
  if (random.one_in(200)) out += random.one_in(2) ? "\\ud800" : "\\u0000";
  out += '"';
}

void write(const Item& item, Random& random, std::string& out) {
  switch (item.kind) {
    case Kind::null:
      out += "null";
      return;
    case Kind::boolean:
      out += item.number != 0 ? "true" : "false";
      return;
    case Kind::natural:
    case Kind::tag:
      if (random.one_in(200)) out += random.pick(odd_numbers);
      else out += item.text.empty() ? fmt::format("{}", item.number) : item.text;
      return;
    case Kind::negative:
      out += fmt::format("-{}", item.number);
      return;
    case Kind::real:
      out += fmt::format("{}.{}e{}", item.number % 1000, item.number >> 40U,
                         static_cast<int>(item.number % 1000) - 400);
      return;
    case Kind::text:
    case Kind::bytes:
      return write_text(item.text, random, out);
    case Kind::array:
    case Kind::map:
      break;
  }
  const bool is_map = item.kind == Kind::map;
  out += is_map ? '{' : '[';
  for (std::size_t i = 0; i < item.items.size(); ++i) {
    if (i > 0) out += is_map && i % 2 == 1 ? ":" : ",";
    const bool is_key = is_map && i % 2 == 0;
    if (is_key && item.items[i].kind != Kind::text) write_text("key", random, out);
    else write(item.items[i], random, out);
  }
  if (is_map && item.items.size() % 2 == 1) out += ":0";
  out += is_map ? '}' : ']';
}

}  // namespace

std::optional<Item> take_json(std::string_view& bytes) { return take_item(bytes, 0); }

std::string json_of(const Item& item, Random& random) {
  std::string out;
  write(item, random, out);
  return out;
}

}  // namespace ckpt::fuzz
