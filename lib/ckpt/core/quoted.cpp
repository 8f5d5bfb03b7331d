#include "ckpt/core/quoted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "ckpt/core/text.hpp"
#include "ckpt/core/utf8.hpp"

namespace ckpt {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

void skip_blanks(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
}

/// Bytes of the UTF-8 character at the front, 1 where there is none.
std::size_t character_size(std::string_view text) {
  for (std::size_t size = 1; size <= std::min<std::size_t>(4, text.size()); ++size)
    if (is_utf8(text.substr(0, size))) return size;
  return 1;
}

/// The name without its invisible characters is still plain UTF-8: they are escaped by their code.
std::string unicode_escape(std::string_view character) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  std::uint32_t code = at(0);
  if (character.size() > 1) {
    code = at(0) & (0xFFU >> (character.size() + 1));
    for (std::size_t i = 1; i < character.size(); ++i) code = code << 6U | (at(i) & 0x3FU);
  }
  if (code < 0x10000) return fmt::format("\\u{:04x}", code);
  code -= 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (code >> 10U), 0xDC00 + (code & 0x3FFU));
}

std::optional<std::uint32_t> take_code_unit(std::string_view& text) {
  std::uint32_t code = 0;
  if (text.size() < 4) return std::nullopt;
  const std::string_view digits = text.substr(0, 4);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  text.remove_prefix(digits.size());
  return code;
}

/// After `\u`. A low surrogate alone is a byte that was no UTF-8.
bool take_unicode(std::string_view& text, std::string& out) {
  const std::optional<std::uint32_t> first = take_code_unit(text);
  if (!first) return false;
  if (*first >= 0xDC80 && *first <= 0xDCFF) {
    out += static_cast<char>(*first - 0xDC00);
    return true;
  }
  if (*first < 0xD800 || *first > 0xDFFF) {
    append_utf8(out, *first);
    return true;
  }
  if (*first > 0xDBFF || !text.starts_with("\\u")) return false;
  text.remove_prefix(2);
  const std::optional<std::uint32_t> second = take_code_unit(text);
  if (!second || *second < 0xDC00 || *second > 0xDFFF) return false;
  append_utf8(out, 0x10000 + ((*first - 0xD800) << 10U) + (*second - 0xDC00));
  return true;
}

std::optional<std::string> take_string(std::string_view& text) {
  text.remove_prefix(1);
  std::string out;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c == '"') return out;
    if (static_cast<unsigned char>(c) < 0x20) return std::nullopt;
    if (c != '\\') {
      out += c;
      continue;
    }
    if (text.empty()) return std::nullopt;
    const char escape = text.front();
    text.remove_prefix(1);
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    if (const std::size_t i = letters.find(escape); i != std::string_view::npos) out += meanings[i];
    else if (escape != 'u' || !take_unicode(text, out)) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::string word(std::string_view name) {
  const bool is_plain = !name.empty() && name.find_first_of(" \"\\#") == std::string_view::npos &&
                        name != "=>" && printable(name) == name;
  if (is_plain) return std::string(name);
  std::string out = "\"";
  for (std::size_t i = 0; i < name.size();) {
    const std::string_view character = name.substr(i, character_size(name.substr(i)));
    i += character.size();
    if (character == "\"" || character == "\\") (out += '\\') += character;
    else if (character == "\n") out += "\\n";
    else if (character == "\t") out += "\\t";
    else if (!is_utf8(character))
      out += fmt::format("\\udc{:02x}", static_cast<unsigned char>(character.front()));
    else if (printable(character) == character) out += character;
    else out += unicode_escape(character);
  }
  return out + "\"";
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view plain = "_-./:,%+@";
  std::string shown = printable(text);
  const bool is_plain = !shown.empty() && std::ranges::all_of(shown, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           plain.find(c) != std::string_view::npos;
  });
  if (is_plain) return shown;
  std::string out = "'";
  for (const char c : shown) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string printable_json(std::string_view document) {
  std::string out;
  out.reserve(document.size());
  for (std::size_t i = 0; i < document.size();) {
    const auto first = static_cast<unsigned char>(document[i]);
    if (first < 0x7F) {
      out += document[i++];
      continue;
    }
    const std::string_view character = document.substr(i, character_size(document.substr(i)));
    if (printable(character) == character) out += character;
    else out += unicode_escape(character);
    i += character.size();
  }
  return out;
}

std::optional<std::string> take_word(std::string_view& text) {
  skip_blanks(text);
  if (text.empty()) return std::nullopt;
  std::optional<std::string> out;
  if (text.front() == '"') {
    out = take_string(text);
    // What follows a string is apart from it.
    if (!text.empty() && !is_blank(text.front())) return std::nullopt;
  } else {
    const auto end = std::ranges::find_if(text, is_blank);
    out = std::string(text.begin(), end);
    text.remove_prefix(out->size());
  }
  skip_blanks(text);
  return out;
}

}  // namespace ckpt
