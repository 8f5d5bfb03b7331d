#include "ckpt/codec/inflate.hpp"

#include <zlib.h>

#include <algorithm>
#include <span>
#include <vector>

#include "ckpt/core/crc32.hpp"
#include "ckpt/core/error.hpp"

namespace ckpt {
namespace {

constexpr std::size_t buffer_size = 256U << 10;

/// A zlib stream that ends itself.
class Inflater {
 public:
  Inflater() {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) fail(ErrorKind::io, "zlib cannot start");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  void feed(std::span<std::byte> bytes) {
    stream_.next_in = reinterpret_cast<Bytef*>(bytes.data());
    stream_.avail_in = static_cast<uInt>(bytes.size());
  }
  bool is_hungry() const noexcept { return stream_.avail_in == 0; }
  bool is_done() const noexcept { return done_; }

  /// Fills the front of `out`; returns the bytes that were produced.
  std::size_t produce(std::span<std::byte> out) {
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      fail(ErrorKind::corrupt, "the deflated data is damaged: {}",
           stream_.msg != nullptr ? stream_.msg : "bad block");
    done_ = status == Z_STREAM_END;
    return out.size() - stream_.avail_out;
  }

 private:
  z_stream stream_{};
  bool done_ = false;
};

}  // namespace

std::uint32_t inflate_raw(const ByteSource& source, std::uint64_t size, Spool& out) {
  std::vector<std::byte> input(buffer_size);
  std::vector<std::byte> output(buffer_size);
  Inflater inflater;
  std::uint64_t read = 0;
  std::uint64_t made = 0;
  std::uint32_t crc = 0;
  while (!inflater.is_done()) {
    if (inflater.is_hungry() && read < source.size()) {
      const std::span<std::byte> chunk =
          std::span(input).first(std::min<std::uint64_t>(input.size(), source.size() - read));
      source.read_at(read, chunk);
      read += chunk.size();
      inflater.feed(chunk);
    }
    const std::size_t got = inflater.produce(output);
    if (got > size - made)
      fail(ErrorKind::corrupt,
           "the deflated data unfolds to more than the {} bytes that the directory states", size);
    const std::span<const std::byte> fresh = std::span(output).first(got);
    crc = crc32(crc, fresh);
    out.write(fresh);
    made += got;
    if (got == 0 && !inflater.is_done() && inflater.is_hungry() && read == source.size())
      fail(ErrorKind::corrupt, "the deflated data ends early, after {} of {} bytes", made, size);
  }
  if (made != size)
    fail(ErrorKind::corrupt, "the deflated data unfolds to {} bytes, the directory states {}", made, size);
  return crc;
}

}  // namespace ckpt
