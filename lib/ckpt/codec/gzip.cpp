#include "ckpt/codec/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "ckpt/core/error.hpp"
#include "ckpt/core/spool.hpp"

namespace ckpt {
namespace {

class Inflater {
 public:
  Inflater() {
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (::inflateInit2(&stream_, gzip_only) != Z_OK) fail(ErrorKind::io, "zlib cannot begin: out of memory");
  }
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

Bytef* as_zlib(std::byte* bytes) { return reinterpret_cast<Bytef*>(bytes); }

}  // namespace

bool is_gzip(std::span<const std::byte> head) {
  return head.size() >= 2 && head[0] == std::byte{0x1F} && head[1] == std::byte{0x8B};
}

std::vector<std::byte> gunzip_head(std::span<const std::byte> head, std::size_t size) {
  std::vector<std::byte> input(head.begin(), head.end());
  std::vector<std::byte> out(size);
  Inflater inflater;
  z_stream& stream = inflater.stream();
  stream.next_in = as_zlib(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = as_zlib(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int code = ::inflate(&stream, Z_SYNC_FLUSH);
  if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) return {};
  out.resize(stream.total_out);
  return out;
}

Bytes gunzip(const ByteSource& source) {
  Spool spool;
  Inflater inflater;
  z_stream& stream = inflater.stream();
  std::vector<std::byte> input(256U << 10);
  std::vector<std::byte> output(256U << 10);
  int code = Z_OK;
  std::uint64_t at = 0;
  while (code != Z_STREAM_END) {
    const std::span<std::byte> part =
        std::span(input).first(std::min<std::uint64_t>(input.size(), source.size() - at));
    if (part.empty()) fail(ErrorKind::corrupt, "the gzip stream is cut short at byte {}", at);
    source.read_at(at, part);
    at += part.size();
    stream.next_in = as_zlib(part.data());
    stream.avail_in = static_cast<uInt>(part.size());
    do {
      stream.next_out = as_zlib(output.data());
      stream.avail_out = static_cast<uInt>(output.size());
      code = ::inflate(&stream, Z_NO_FLUSH);
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        fail(ErrorKind::corrupt, "the gzip stream is damaged before byte {}: {}", at,
             stream.msg != nullptr ? stream.msg : "bad data");
      spool.write(std::span(output).first(output.size() - stream.avail_out));
    } while (code == Z_OK && stream.avail_out == 0);
  }
  const std::uint64_t end = at - stream.avail_in;
  if (end != source.size())
    fail(ErrorKind::corrupt, "the gzip stream ends at byte {}, and {} bytes follow it", end,
         source.size() - end);
  return spool.finish();
}

}  // namespace ckpt
