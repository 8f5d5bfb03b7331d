#include "ckpt/codec/pickle_writer.hpp"

#include <bit>

#include "ckpt/core/bytes.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt {

PickleWriter::PickleWriter() {
  put('\x80');
  put('\x02');
}

void PickleWriter::put_bytes(std::string_view bytes) {
  const std::span<const std::byte> raw = as_bytes(bytes);
  bytes_.insert(bytes_.end(), raw.begin(), raw.end());
}

void PickleWriter::put_little(std::uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void PickleWriter::global(std::string_view module, std::string_view name) {
  std::string lines(module);
  lines.append("\n").append(name).append("\n");
  const auto [known, is_new] = globals_.try_emplace(lines, static_cast<std::uint32_t>(globals_.size()));
  const std::uint32_t number = known->second;
  const bool is_short = number <= 0xFF;
  if (is_new) {
    put('c');
    put_bytes(lines);
    put(is_short ? 'q' : 'r');
  } else {
    put(is_short ? 'h' : 'j');
  }
  put_little(number, is_short ? 1 : 4);
}

void PickleWriter::text(std::string_view value) {
  if (value.size() > UINT32_MAX)
    fail(ErrorKind::refused, "a text of {} bytes is too long for a pickle", value.size());
  put('X');
  put_little(value.size(), 4);
  put_bytes(value);
}

void PickleWriter::integer(std::uint64_t value) {
  if (value <= 0xFF) {
    put('K');
    put_little(value, 1);
  } else if (value <= 0xFFFF) {
    put('M');
    put_little(value, 2);
  } else if (value <= INT32_MAX) {
    put('J');
    put_little(value, 4);
  } else {
    // LONG1 is signed: a ninth byte keeps the highest bit from being the sign.
    const unsigned size = static_cast<unsigned>(std::bit_width(value)) / 8 + 1;
    put('\x8a');
    put_little(size, 1);
    put_little(value, size < 8 ? size : 8);
    if (size > 8) put_little(0, size - 8);
  }
}

void PickleWriter::negative_integer(std::int64_t value) {
  put('\x8a');
  put_little(8, 1);
  put_little(static_cast<std::uint64_t>(value), 8);
}

void PickleWriter::long_integer(std::string_view decimals) {
  const bool is_negative = decimals.starts_with('-');
  const std::string_view digits = decimals.substr(is_negative ? 1 : 0);
  constexpr std::size_t most_bytes = 255;  // of LONG1
  std::vector<std::byte> bytes(1);         // little-endian
  for (const char digit : digits) {
    unsigned carry = static_cast<unsigned>(digit) - '0';
    if (carry > 9 || bytes.size() > most_bytes) break;
    for (std::byte& byte : bytes) {
      carry += std::to_integer<unsigned>(byte) * 10;
      byte = static_cast<std::byte>(carry & 0xFFU);
      carry >>= 8U;
    }
    if (carry != 0) bytes.push_back(static_cast<std::byte>(carry));
  }
  bytes.push_back({});  // for the sign
  if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos || bytes.size() > most_bytes)
    fail(ErrorKind::refused, "{} is no whole number that PyTorch reads", printable(decimals));
  if (is_negative) {
    unsigned carry = 1;
    for (std::byte& byte : bytes) {
      carry += std::to_integer<unsigned>(~byte);
      byte = static_cast<std::byte>(carry & 0xFFU);
      carry >>= 8U;
    }
  }
  put('\x8a');
  put_little(bytes.size(), 1);
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void PickleWriter::real(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  put('G');
  for (unsigned i = 8; i-- > 0;) bytes_.push_back(static_cast<std::byte>(bits >> (8 * i)));  // big-endian
}

void PickleWriter::integers(std::span<const std::uint64_t> values) {
  if (values.empty()) return empty_tuple();
  if (values.size() > 3) mark();
  for (const std::uint64_t value : values) integer(value);
  constexpr char by_size[] = {'\x85', '\x86', '\x87'};
  put(values.size() > 3 ? 't' : by_size[values.size() - 1]);
}

std::vector<std::byte> PickleWriter::finish() && {
  put('.');
  return std::move(bytes_);
}

}  // namespace ckpt
