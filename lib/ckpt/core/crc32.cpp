#include "ckpt/core/crc32.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <vector>

namespace ckpt {
namespace {

constexpr std::uint64_t piece = 256U << 10;

}  // namespace

std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes) {
  // An empty span may have no address, for which the library answers with the CRC of nothing.
  return bytes.empty() ? crc : libdeflate_crc32(crc, bytes.data(), bytes.size());
}

std::uint32_t crc32_of(const ByteSource& source) {
  std::vector<std::byte> buffer(std::min(piece, source.size()));
  std::uint32_t crc = 0;
  for (std::uint64_t at = 0; at < source.size();) {
    const std::span<std::byte> part =
        std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), source.size() - at));
    source.read_at(at, part);
    crc = crc32(crc, part);
    at += part.size();
  }
  return crc;
}

}  // namespace ckpt
