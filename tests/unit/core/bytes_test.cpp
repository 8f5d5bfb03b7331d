#include "ckpt/core/bytes.hpp"

#include <catch2/catch.hpp>

#include <cstring>

#include "support/errors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

/// A stream of which only `there` bytes come, and which remembers how far it was asked.
class Stream final : public ByteSource {
 public:
  explicit Stream(std::uint64_t there) : there_(there) {}
  std::uint64_t size() const noexcept override { return UINT64_MAX; }
  bool is_open_ended() const noexcept override { return true; }
  mutable std::uint64_t largest_read = 0;

 private:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    largest_read = std::max<std::uint64_t>(largest_read, out.size());
    if (offset + out.size() > there_) fail(ErrorKind::corrupt, "the stream ends");
    std::memset(out.data(), 'x', out.size());
  }
  std::uint64_t there_;
};

std::string text(const ByteSource& source, std::uint64_t offset, std::uint64_t size) {
  return std::string(as_text(read_range(source, offset, size)));
}

}  // namespace

TEST_CASE("bytes are read at any offset, and a read that leaves them reads nothing") {
  const Bytes bytes = memory_bytes("0123456789");
  CHECK(text(*bytes, 2, 3) == "234");
  CHECK(text(*bytes, 10, 0).empty());
  std::vector<std::byte> out(3, std::byte{'?'});
  const Error error = error_of([&] { bytes->read_at(8, out); });
  CHECK(error.kind() == ErrorKind::corrupt);
  CHECK(contains(error.message(), "3 bytes are wanted at offset 8"));
  CHECK(as_text(out) == "???");
  CHECK(error_of([&] { bytes->read_at(UINT64_MAX, out); }).kind() == ErrorKind::corrupt);
  CHECK_NOTHROW(bytes->read_at(10, {}));
}

TEST_CASE("a slice is a window, and so is a slice of a slice") {
  const Bytes outer = slice(memory_bytes("0123456789"), 2, 6);
  const Bytes inner = slice(outer, 1, 3);
  CHECK(outer->size() == 6);
  CHECK(text(*outer, 0, 6) == "234567");
  CHECK(text(*inner, 0, 3) == "345");
  CHECK(error_of([&] { read_range(*inner, 2, 2); }).kind() == ErrorKind::corrupt);
  CHECK(error_of([&] { slice(outer, 6, 1); }).kind() == ErrorKind::corrupt);
  CHECK(error_of([&] { slice(outer, 1, UINT64_MAX); }).kind() == ErrorKind::corrupt);
  CHECK(slice(outer, 6, 0)->size() == 0);
  CHECK_FALSE(inner->file_range());
}

TEST_CASE("a range that is not there is refused before memory is taken") {
  CHECK(error_of([] { read_range(*memory_bytes("x"), 0, 1ULL << 62); }).kind() == ErrorKind::corrupt);
}

TEST_CASE("a stream is read in steps, so that memory follows what is there") {
  const Stream stream(3U << 20);
  CHECK(read_range(stream, 5, 2'500'000) == std::vector<std::byte>(2'500'000, std::byte{'x'}));
  CHECK(stream.largest_read == 1U << 20);
  CHECK(error_of([&] { read_range(stream, 0, 1ULL << 60); }).kind() == ErrorKind::corrupt);
  CHECK(stream.largest_read == 1U << 20);
}

TEST_CASE("bytes and text are the same memory") {
  const std::string_view text_of_zeros("a\0b", 3);
  CHECK(as_text(as_bytes(text_of_zeros)) == text_of_zeros);
  CHECK(as_bytes(text_of_zeros).size() == 3);
}
