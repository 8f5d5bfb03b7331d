#pragma once

#include <cctype>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt::test {

/// The bytes that `text` spells: pairs of hexadecimal digits, and text in quotes for itself.
inline std::vector<std::byte> from_hex(std::string_view text) {
  std::vector<std::byte> out;
  const auto digit = [](char c) {
    const int lower = std::tolower(static_cast<unsigned char>(c));
    return static_cast<unsigned>(lower >= 'a' ? lower - 'a' + 10 : lower - '0');
  };
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      ++i;
    } else if (text[i] == '"') {
      for (++i; text.at(i) != '"'; ++i) out.push_back(static_cast<std::byte>(text[i]));
      ++i;
    } else {
      out.push_back(static_cast<std::byte>(digit(text[i]) << 4U | digit(text.at(i + 1))));
      i += 2;
    }
  }
  return out;
}

inline std::string to_hex(std::span<const std::byte> bytes) {
  std::string out;
  for (const std::byte byte : bytes) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    out += digits[std::to_integer<unsigned>(byte) >> 4U];
    out += digits[std::to_integer<unsigned>(byte) & 15U];
  }
  return out;
}

}  // namespace ckpt::test
