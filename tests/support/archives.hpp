#pragma once

#include <zlib.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/pickles.hpp"

namespace ckpt::support {

struct ZipEntry {
  std::string name;
  std::string data;
  bool deflate = false;
};

inline std::uint32_t crc32_of(std::string_view data) {
  return static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size())));
}

inline std::string deflated(std::string_view data) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib");
  std::string out(deflateBound(&stream, data.size()), '\0');
  std::string in(data);
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// A ZIP archive by APPNOTE. As PyTorch does it: sizes and checksum in the directory only, and an extra
/// field in the local header that the directory lacks.
inline std::string zip(const std::vector<ZipEntry>& entries) {
  std::string out;
  std::string directory;
  for (const ZipEntry& entry : entries) {
    const std::string stored = entry.deflate ? deflated(entry.data) : entry.data;
    const std::string method = le(entry.deflate ? 8 : 0, 2);
    const std::string extra = "FB" + le(3, 2) + "ZZZ";
    const std::size_t offset = out.size();
    out += "PK\x03\x04" + le(0, 2) + le(0x0808, 2) + method + le(0, 4 + 12) + le(entry.name.size(), 2) +
           le(extra.size(), 2) + entry.name + extra + stored;
    directory += "PK\x01\x02" + le(0, 4) + le(0x0808, 2) + method + le(0, 4) + le(crc32_of(entry.data), 4) +
                 le(stored.size(), 4) + le(entry.data.size(), 4) + le(entry.name.size(), 2) +
                 le(0, 2 + 2 + 2 + 2 + 4) + le(offset, 4) + entry.name;
  }
  const std::size_t offset = out.size();
  return out + directory + "PK\x05\x06" + le(0, 4) + le(entries.size(), 2) + le(entries.size(), 2) +
         le(directory.size(), 4) + le(offset, 4) + le(0, 2);
}

struct TarEntry {
  std::string name;
  std::string data;
  char type = '0';
};

/// One header block of a ustar archive.
inline std::string tar_header(const TarEntry& entry) {
  const auto octal = [](std::uint64_t value, std::size_t width) {
    std::string digits;
    for (std::size_t i = 0; i < width - 1; ++i, value >>= 3U)
      digits.insert(digits.begin(), static_cast<char>('0' + (value & 7U)));
    return digits + '\0';
  };
  std::string block(512, '\0');
  block.replace(0, entry.name.size(), entry.name);
  block.replace(124, 12, octal(entry.data.size(), 12));
  block.replace(148, 8, "        ");
  block[156] = entry.type;
  block.replace(257, 8,
                std::string("ustar\0"
                            "00",
                            8));
  std::uint64_t sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  block.replace(148, 7, octal(sum, 7));
  return block;
}

inline std::string tar(const std::vector<TarEntry>& entries) {
  std::string out;
  for (const TarEntry& entry : entries) {
    out += tar_header(entry) + entry.data;
    out.resize((out.size() + 511) / 512 * 512);
  }
  return out + std::string(1024, '\0');
}

}  // namespace ckpt::support
