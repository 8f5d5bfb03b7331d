#pragma once

#include <cstdint>
#include <string>

namespace ckpt {

/// Appends a code point below 0x110000 as UTF-8. One of a surrogate is written as any other.
inline void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0U | code >> 6U), put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0U | code >> 12U), put(0x80U | (code >> 6U & 0x3FU)), put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | code >> 18U), put(0x80U | (code >> 12U & 0x3FU));
    put(0x80U | (code >> 6U & 0x3FU)), put(0x80U | (code & 0x3FU));
  }
}

}  // namespace ckpt
