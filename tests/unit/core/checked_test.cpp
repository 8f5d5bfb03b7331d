#include "ckpt/core/checked.hpp"

#include <catch2/catch.hpp>

using namespace ckpt;

TEST_CASE("sums and products that do not fit 64 bits are nothing") {
  CHECK(checked_add(UINT64_MAX - 1, 1) == UINT64_MAX);
  CHECK_FALSE(checked_add(UINT64_MAX, 1));
  CHECK(checked_multiply(1ULL << 32, (1ULL << 32) - 1) == 0xFFFFFFFF00000000);
  CHECK_FALSE(checked_multiply(1ULL << 32, 1ULL << 32));
  CHECK(checked_multiply(UINT64_MAX, 0) == 0);
}

TEST_CASE("a number is moved up to the next multiple, or left where it is one") {
  CHECK(checked_align(0, 64) == 0);
  CHECK(checked_align(1, 64) == 64);
  CHECK(checked_align(64, 64) == 64);
  CHECK(checked_align(65, 64) == 128);
  CHECK(checked_align(10, 3) == 12);
  CHECK(checked_align(UINT64_MAX - 63, 64) == UINT64_MAX - 63);
  CHECK_FALSE(checked_align(UINT64_MAX, 64));
}

TEST_CASE("a range fits when its end does not pass the whole") {
  CHECK(range_fits(0, 0, 0));
  CHECK(range_fits(3, 7, 10));
  CHECK(range_fits(10, 0, 10));
  CHECK_FALSE(range_fits(3, 8, 10));
  CHECK_FALSE(range_fits(11, 0, 10));
  CHECK_FALSE(range_fits(UINT64_MAX, 2, 10));
  CHECK_FALSE(range_fits(2, UINT64_MAX, 10));
  CHECK(range_fits(0, UINT64_MAX, UINT64_MAX));
}
