#include "ckpt/codec/gzip.hpp"

#include <catch2/catch.hpp>

#include "support/archives.hpp"
#include "support/errors.hpp"

using namespace ckpt;
using Catch::Contains;
using support::le;
using test::message_of;

namespace {

/// RFC 1952: ten bytes, the deflated data, its CRC-32 and its size.
std::string gzipped(std::string_view data) {
  return std::string("\x1F\x8B\x08\0\0\0\0\0\0\xFF", 10) + support::deflated(data) +
         le(support::crc32_of(data), 4) + le(data.size(), 4);
}

std::string unfolded(std::string_view file) {
  const Bytes bytes = gunzip(*memory_bytes(file));
  return std::string(as_text(read_range(*bytes, 0, bytes->size())));
}

/// Bytes that cannot be made much smaller.
std::string noise(std::size_t size) {
  std::string out;
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < size; ++i) {
    state = state * 1664525U + 1013904223U;
    out += static_cast<char>(state >> 24U);
  }
  return out;
}

}  // namespace

TEST_CASE("a gzip stream is unfolded whole, also one that is larger than the buffers, either side") {
  for (const std::string& data :
       {std::string(), std::string("hello"), std::string(1'000'000, 'q'), noise(700'000)})
    CHECK(unfolded(gzipped(data)) == data);
}

TEST_CASE("the front of a gzip stream is unfolded as far as it goes") {
  const std::string file = gzipped("hello, " + std::string(1000, 'q'));
  const auto text = [](std::span<const std::byte> head, std::size_t size) {
    return std::string(as_text(gunzip_head(head, size)));
  };
  CHECK(is_gzip(as_bytes(file)));
  CHECK_FALSE(is_gzip(as_bytes(file).first(1)));
  CHECK_FALSE(is_gzip(as_bytes(std::string_view("\x1F\x8C"))));
  CHECK(text(as_bytes(file), 5) == "hello");
  CHECK(text(as_bytes(file), 2000).size() == 1007);
  CHECK(text(as_bytes(file).first(10), 5).empty());
  CHECK(text(as_bytes(std::string_view("\x1F\x8B\x07 and no more")), 5).empty());
}

TEST_CASE("a gzip stream that is cut, damaged or goes on is refused with its place") {
  const std::string file = gzipped("hello");
  for (std::size_t size = 0; size < file.size(); ++size)
    CHECK_THAT(message_of([&] { unfolded(file.substr(0, size)); }),
               Contains("cut short at byte " + std::to_string(size)));
  CHECK_THAT(message_of([&] { unfolded(file + "more"); }),
             Contains("ends at byte " + std::to_string(file.size()) + ", and 4 bytes follow it"));
  std::string bad = file;
  bad[bad.size() - 8] = static_cast<char>(bad[bad.size() - 8] ^ 1);
  CHECK_THAT(message_of([&] { unfolded(bad); }), Contains("damaged") && Contains("incorrect data check"));
  bad = file;
  bad[10] = '\x07';  // a block of type 3, which deflate does not have
  CHECK_THAT(message_of([&] { unfolded(bad); }), Contains("invalid block type"));
}
