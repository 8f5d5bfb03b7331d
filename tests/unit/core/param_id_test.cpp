#include "ckpt/core/param_id.hpp"

#include <catch2/catch.hpp>

using namespace ckpt;

// The pairs are what burn's own ParamId displays.
TEST_CASE("a param id is shown as burn shows it") {
  CHECK(param_id_text(14101554053607715927U) == "avq43klip2pc6");
  CHECK(param_id_text(14755144371902836595U) == "edntuk51pn2co");
  CHECK(param_id_text(3222552515581354512U) == "22h48qbgpqs2o");
}

TEST_CASE("a param id is read in burn's characters and in decimal") {
  CHECK(parse_param_id("avq43klip2pc6") == 14101554053607715927U);
  CHECK(parse_param_id("edntuk51pn2co") == 14755144371902836595U);
  CHECK(parse_param_id("22h48qbgpqs2o") == 3222552515581354512U);
  CHECK(parse_param_id("14101554053607715927") == 14101554053607715927U);
  CHECK(parse_param_id("0") == 0U);
  CHECK(parse_param_id("18446744073709551615") == UINT64_MAX);
}

TEST_CASE("every param id survives its text") {
  for (unsigned shift = 0; shift < 64; ++shift) {
    const std::uint64_t id = 0x9E3779B97F4A7C15ULL << shift | shift;
    CHECK(parse_param_id(param_id_text(id)) == id);
  }
  CHECK(parse_param_id(param_id_text(0)) == 0U);
  CHECK(parse_param_id(param_id_text(UINT64_MAX)) == UINT64_MAX);
  CHECK(parse_param_id("AVQ43KLIP2PC6") == 14101554053607715927U);  // burn takes upper case as well
}

TEST_CASE("what no param id is shown as is no param id") {
  CHECK_FALSE(parse_param_id(""));
  CHECK_FALSE(parse_param_id("18446744073709551616"));
  CHECK_FALSE(parse_param_id("avq43klip2pc7"));  // the last character carries four bits only
  CHECK_FALSE(parse_param_id("avq43klip2pcz"));
  CHECK_FALSE(parse_param_id("-1"));
  CHECK_FALSE(parse_param_id("7 "));
}
