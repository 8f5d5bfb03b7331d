#include "ckpt/codec/pickle_text.hpp"

#include <charconv>
#include <cstdint>

#include "ckpt/core/utf8.hpp"

namespace ckpt::pickle {
namespace {

std::optional<std::uint32_t> hex(std::string_view text, std::size_t at, std::size_t digits) {
  if (text.size() - at < digits) return std::nullopt;
  std::uint32_t value = 0;
  const char* const begin = text.data() + at;
  const auto [end, error] = std::from_chars(begin, begin + digits, value, 16);
  if (error != std::errc{} || end != begin + digits) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::string> decode_raw_unicode(std::string_view line) {
  std::string out;
  out.reserve(line.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char kind = line[i] == '\\' && i + 1 < line.size() ? line[i + 1] : '\0';
    if (kind != 'u' && kind != 'U') {
      append_utf8(out, static_cast<unsigned char>(line[i]));
      // A backslash before anything else stands for itself and shields a second backslash.
      if (kind == '\\') append_utf8(out, '\\'), ++i;
      continue;
    }
    const std::size_t digits = kind == 'u' ? 4 : 8;
    const std::optional<std::uint32_t> c = hex(line, i + 2, digits);
    if (!c || *c > 0x10FFFF) return std::nullopt;
    append_utf8(out, *c);
    i += 1 + digits;
  }
  return out;
}

std::optional<std::string> decode_quoted(std::string_view line) {
  if (line.size() < 2 || line.front() != line.back() || (line.front() != '\'' && line.front() != '"'))
    return std::nullopt;
  line = line.substr(1, line.size() - 2);
  std::string out;
  out.reserve(line.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      out += line[i];
      continue;
    }
    if (++i == line.size()) return std::nullopt;
    switch (line[i]) {
      case '\\':
      case '\'':
      case '"':
        out += line[i];
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'a':
        out += '\a';
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'v':
        out += '\v';
        break;
      case 'x': {
        const std::optional<std::uint32_t> c = hex(line, i + 1, 2);
        if (!c) return std::nullopt;
        out += static_cast<char>(static_cast<unsigned char>(*c));
        i += 2;
        break;
      }
      default: {
        if (line[i] < '0' || line[i] > '7') {
          out += '\\', out += line[i];
          break;
        }
        unsigned value = 0;
        std::size_t digits = 0;
        while (digits < 3 && i < line.size() && line[i] >= '0' && line[i] <= '7')
          value = value * 8 + static_cast<unsigned>(line[i] - '0'), ++i, ++digits;
        out += static_cast<char>(static_cast<unsigned char>(value));
        --i;
      }
    }
  }
  return out;
}

std::optional<std::string> encode_latin1(std::string_view utf8) {
  std::string out;
  out.reserve(utf8.size());
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto lead = static_cast<unsigned char>(utf8[i]);
    if (lead < 0x80U) {
      out += utf8[i];
      continue;
    }
    if ((lead != 0xC2U && lead != 0xC3U) || i + 1 == utf8.size()) return std::nullopt;
    const auto next = static_cast<unsigned char>(utf8[++i]);
    if ((next & 0xC0U) != 0x80U) return std::nullopt;
    out += static_cast<char>(static_cast<unsigned char>((lead & 3U) << 6U | (next & 0x3FU)));
  }
  return out;
}

}  // namespace ckpt::pickle
