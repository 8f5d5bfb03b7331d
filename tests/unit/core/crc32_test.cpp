#include "ckpt/core/crc32.hpp"

#include <catch2/catch.hpp>

#include "ckpt/core/bytes.hpp"

using namespace ckpt;

TEST_CASE("CRC-32 is the one of ZIP, and is continued over parts") {
  CHECK(crc32(0, as_bytes("123456789")) == 0xCBF43926);
  CHECK(crc32(crc32(0, as_bytes("1234")), as_bytes("56789")) == 0xCBF43926);
  CHECK(crc32(0, {}) == 0);
  CHECK(crc32(0xE8B7BE43, {}) == 0xE8B7BE43);
  CHECK(crc32(0, as_bytes("a")) == 0xE8B7BE43);
  CHECK(crc32_of(*memory_bytes("123456789")) == 0xCBF43926);
}
