#include "ckpt/core/param_id.hpp"

#include <cctype>
#include <charconv>

namespace ckpt {
namespace {

constexpr std::string_view alphabet = "0123456789abcdefghijklmnopqrstuv";
constexpr std::size_t length = 13;  // 64 bits and one more, which is zero, in fives

std::uint64_t swapped(std::uint64_t value) { return __builtin_bswap64(value); }

}  // namespace

std::string param_id_text(std::uint64_t id) {
  const std::uint64_t bits = swapped(id);  // the first byte of the number is its highest now
  std::string out(length, '0');
  for (std::size_t i = 0; i + 1 < length; ++i) out[i] = alphabet[(bits >> (59 - 5 * i)) & 31U];
  out.back() = alphabet[(bits << 1U) & 31U];
  return out;
}

std::optional<std::uint64_t> parse_param_id(std::string_view text) {
  if (text.size() != length) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
  }
  return decode_param_id(text);
}

std::optional<std::uint64_t> decode_param_id(std::string_view text) {
  if (text.empty() || text.size() > length) return std::nullopt;
  std::uint64_t id = 0;
  unsigned pending = 0;       // bits of the next byte that have come
  unsigned pending_bits = 0;  // how many
  unsigned bytes = 0;
  for (const char c : text) {
    const std::size_t digit = alphabet.find(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    if (digit == std::string_view::npos) return std::nullopt;
    pending = pending << 5U | static_cast<unsigned>(digit);
    pending_bits += 5;
    if (pending_bits < 8) continue;
    pending_bits -= 8;
    id |= static_cast<std::uint64_t>(pending >> pending_bits & 0xFFU) << (8 * bytes++);
  }
  const bool has_stray_bits = pending_bits >= 5 || (pending & ((1U << pending_bits) - 1)) != 0;
  if (has_stray_bits) return std::nullopt;
  return id;
}

}  // namespace ckpt
