#include "ckpt/codec/json_reader.hpp"

#include <charconv>
#include <cmath>
#include <string_view>

#include "ckpt/codec/json.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt {
namespace {

constexpr int end_of_text = -1;

[[noreturn]] void fail_at(std::uint64_t offset, std::string_view what) {
  fail(ErrorKind::corrupt, "offset {}: not valid JSON: {}", offset, what);
}

/// What `json::parse` makes of one plain value: the judge of all that is not plain at first sight.
Value parse_at(std::uint64_t offset, std::string_view token) {
  try {
    return json::parse(token);
  } catch (Error& error) {
    throw error.in(fmt::format("offset {}", offset));
  }
}

bool is_digit(int c) { return c >= '0' && c <= '9'; }

/// No zeros in front, and a digit on either side of the point: what JSON asks for beyond `from_chars`.
bool is_strict(std::string_view number) {
  if (number.starts_with('-')) number.remove_prefix(1);
  if (number.empty() || !is_digit(number[0])) return false;
  if (number[0] == '0' && number.size() > 1 && is_digit(number[1])) return false;
  const std::size_t point = number.find('.');
  return point == std::string_view::npos || (point + 1 < number.size() && is_digit(number[point + 1]));
}

template <typename Number> bool parse_whole(std::string_view token, Number& number) {
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
  return error == std::errc{} && end == token.data() + token.size();
}

}  // namespace

int JsonReader::peek() {
  const std::span<const std::byte> left = ahead(1);
  return left.empty() ? end_of_text : std::to_integer<int>(left[0]);
}

template <typename Accepts> void JsonReader::take_while(Accepts accepts) {
  token_.clear();
  for (int c = peek(); c != end_of_text && accepts(c); c = peek()) {
    token_ += static_cast<char>(c);
    ++at_;
  }
}

void JsonReader::skip_space() {
  for (int c = peek(); c == ' ' || c == '\n' || c == '\r' || c == '\t'; c = peek()) ++at_;
}

void JsonReader::step() {
  ++at_;
  skip_space();
}

JsonReader::Item JsonReader::next() {
  Item item;
  item.offset = at_;
  const int c = peek();
  if (c == '{' || c == '[') {
    item.kind = c == '{' ? Kind::map : Kind::array;
    step();
    return item;
  }
  if (c == '"') {
    item.kind = Kind::text;
    item.text = string();
  } else if (c == '-' || is_digit(c)) {
    number(item);
  } else {
    word(item);
  }
  skip_space();
  return item;
}

bool JsonReader::more(const Item& container, std::uint64_t read) {
  const bool is_map = container.kind == Kind::map;
  const int c = peek();
  if (c == (is_map ? '}' : ']')) {
    step();
    return false;
  }
  if (read == 0) return true;
  if (c != ',') fail_at(at_, is_map ? "a comma or } is due" : "a comma or ] is due");
  step();
  return true;
}

JsonReader::Item JsonReader::key() {
  if (peek() != '"') fail_at(at_, "a key is due");
  Item key = next();
  if (peek() != ':') fail_at(at_, "a colon is due");
  step();
  return key;
}

std::string JsonReader::string() {
  const std::uint64_t start = at_++;
  bool is_escaped = false;  // the character that comes
  bool is_plain = true;
  take_while([&](int c) {
    if (c == '"' && !is_escaped) return false;
    if (token_.size() == limits::record_text)
      fail_at(start, fmt::format("a text of more than {} bytes", limits::record_text));
    is_escaped = c == '\\' && !is_escaped;
    is_plain = is_plain && c != '\\' && c >= ' ';
    return true;
  });
  if (peek() == end_of_text) fail_at(start, "a string without an end");
  ++at_;
  if (is_plain && is_utf8(token_)) return token_;
  return *parse_at(start, '"' + token_ + '"').as<std::string>();
}

void JsonReader::number(Item& item) {
  bool is_whole = true;
  take_while([&](int c) {
    const bool is_of_reals = c == '.' || c == 'e' || c == 'E' || c == '+';
    is_whole = is_whole && !is_of_reals;
    return is_of_reals || c == '-' || is_digit(c);
  });
  if (is_strict(token_)) {
    item.kind = Kind::signed_integer;
    if (is_whole && parse_whole(token_, item.integer)) return;
    item.kind = Kind::unsigned_integer;
    if (is_whole && parse_whole(token_, item.natural)) return;
    item.kind = Kind::real;
    if (!is_whole && parse_whole(token_, item.real) && std::isfinite(item.real)) return;
  }
  const Value value = parse_at(item.offset, token_);  // which is one that is all but zero, or an error
  item.real = *value.as<double>();
}

void JsonReader::word(Item& item) {
  take_while([](int c) { return c >= 'a' && c <= 'z'; });
  if (token_ == "true" || token_ == "false") {
    item.kind = Kind::boolean;
    item.boolean = token_ == "true";
  } else if (token_ != "null") {
    fail_at(item.offset, "a value is due");
  }
}

}  // namespace ckpt
