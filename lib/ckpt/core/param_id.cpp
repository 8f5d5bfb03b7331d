#include "ckpt/core/param_id.hpp"

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
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < length; ++i) {
    const std::size_t digit = alphabet.find(text[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    if (i + 1 < length) bits = bits << 5U | digit;
    else if (digit % 2 != 0) return std::nullopt;
    else bits = bits << 4U | digit >> 1U;
  }
  return swapped(bits);
}

}  // namespace ckpt
