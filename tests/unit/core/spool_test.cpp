#include "ckpt/core/spool.hpp"

#include <catch2/catch.hpp>

#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

TEST_CASE("a little stays in memory") {
  Spool spool;
  spool.write(as_bytes("one "));
  spool.write({});
  spool.write(as_bytes("two"));
  CHECK(spool.size() == 7);
  const Bytes bytes = spool.finish();
  CHECK(as_text(read_range(*bytes, 0, bytes->size())) == "one two");
  CHECK_FALSE(bytes->file_range());
}

TEST_CASE("much goes to a temporary file, and is read at any offset") {
  Random random(11);
  const std::vector<std::byte> chunk = random.bytes((5U << 20) + 7);
  Spool spool;
  for (int i = 0; i < 4; ++i) spool.write(chunk);
  const Bytes bytes = spool.finish();
  REQUIRE(bytes->size() == 4 * chunk.size());
  CHECK(bytes->file_range());
  for (std::uint64_t i = 0; i < 4; ++i) CHECK(read_range(*bytes, i * chunk.size(), chunk.size()) == chunk);
  CHECK(read_range(*bytes, 3, 5) == std::vector<std::byte>(chunk.begin() + 3, chunk.begin() + 8));
  CHECK(error_of([&] { read_range(*bytes, bytes->size(), 1); }).kind() == ErrorKind::corrupt);
}

TEST_CASE("a spool is empty again after it was finished") {
  Spool spool;
  spool.write(std::vector<std::byte>(17U << 20));
  const Bytes first = spool.finish();
  CHECK(spool.size() == 0);
  spool.write(as_bytes("second"));
  const Bytes second = spool.finish();
  CHECK(first->size() == 17U << 20);
  CHECK(as_text(read_range(*second, 0, second->size())) == "second");
  CHECK(spool.finish()->size() == 0);
}
