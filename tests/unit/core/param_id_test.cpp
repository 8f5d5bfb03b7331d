#include "ckpt/core/param_id.hpp"

#include <catch2/catch.hpp>

#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

TEST_CASE("an id is written as the base32hex digits of its little-endian bytes") {
  // Python: base64.b32hexencode(id.to_bytes(8, "little")).decode().rstrip("=").lower()
  CHECK(param_id_text(0) == "0000000000000");
  CHECK(param_id_text(1) == "0400000000000");
  CHECK(param_id_text(0x0123456789ABCDEF) == "tv6qn2b78khg2");
  CHECK(param_id_text(UINT64_MAX) == "vvvvvvvvvvvvu");
}

TEST_CASE("an id is read back from its text and from decimal digits, and from nothing else") {
  Random random(2);
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t id = random.number(0, UINT64_MAX - 1);
    CHECK(parse_param_id(param_id_text(id)) == id);
  }
  CHECK(parse_param_id("12345") == 12345);
  CHECK(parse_param_id("18446744073709551615") == UINT64_MAX);
  for (const std::string_view bad :
       {"", "x", "-1", "18446744073709551616", "000000000000w", "0000000000001", "00000000000000", "12 "}) {
    CAPTURE(bad);
    if (bad.size() == 14) CHECK(parse_param_id(bad) == 0);  // decimal, with zeros in front
    else CHECK_FALSE(parse_param_id(bad));
  }
}
