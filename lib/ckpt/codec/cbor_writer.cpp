#include <cbor.h>

#include <array>
#include <bit>

#include "ckpt/codec/cbor.hpp"
#include "ckpt/codec/cbor_float.hpp"
#include "ckpt/core/bytes.hpp"

namespace ckpt::cbor {
namespace {

constexpr std::size_t longest_head = 9;

// One head by one of libcbor's encoders, which all take (value, buffer, size) and return the length.
template <typename Encode, typename... Value>
void append_head(std::vector<std::byte>& out, Encode encode, Value... value) {
  std::array<unsigned char, longest_head> head{};
  const std::size_t size = encode(value..., head.data(), head.size());
  const auto bytes = std::as_bytes(std::span(head).first(size));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_big_endian(std::vector<std::byte>& out, unsigned char head, std::uint64_t bits, unsigned size) {
  out.push_back(static_cast<std::byte>(head));
  for (unsigned i = size; i-- > 0;) out.push_back(static_cast<std::byte>(bits >> (8 * i)));
}

}  // namespace

void Writer::whole(std::uint64_t value) { append_head(bytes_, cbor_encode_uint, value); }

void Writer::integer(std::int64_t value) {
  // -1 - n is written as n, which is the complement of its bits.
  if (value < 0) append_head(bytes_, cbor_encode_negint, ~static_cast<std::uint64_t>(value));
  else whole(static_cast<std::uint64_t>(value));
}

void Writer::floating(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  if (const std::optional<std::uint16_t> half = half_of_double_bits(bits))
    append_big_endian(bytes_, 0xF9, *half, 2);
  else if (const std::optional<std::uint32_t> single = single_of_double_bits(bits))
    append_big_endian(bytes_, 0xFA, *single, 4);
  else append_big_endian(bytes_, 0xFB, bits, 8);
}

void Writer::boolean(bool value) { append_head(bytes_, cbor_encode_bool, value); }

void Writer::null() { append_head(bytes_, cbor_encode_null); }

void Writer::text(std::string_view value) {
  append_head(bytes_, cbor_encode_string_start, value.size());
  const std::span<const std::byte> bytes = as_bytes(value);
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void Writer::array(std::uint64_t count) { append_head(bytes_, cbor_encode_array_start, count); }

void Writer::map(std::uint64_t count) { append_head(bytes_, cbor_encode_map_start, count); }

}  // namespace ckpt::cbor
