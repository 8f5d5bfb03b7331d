#include "ckpt/codec/pickle_writer.hpp"

#include <catch2/catch.hpp>

#include "ckpt/core/error.hpp"
#include "ckpt/kernels/checksum.hpp"

using namespace ckpt;

namespace {

/// The opcodes between the frame of protocol 2 and the final dot, as hexadecimal digits.
template <typename Act> std::string written(const Act& act) {
  PickleWriter writer;
  act(writer);
  const std::string all = hex(std::move(writer).finish());
  REQUIRE(all.starts_with("8002"));
  REQUIRE(all.ends_with("2e"));
  return all.substr(4, all.size() - 6);
}

std::string integer(std::uint64_t value) {
  return written([&](PickleWriter& w) { w.integer(value); });
}

}  // namespace

// The expected opcodes are those of Python's pickletools; `pickle.dumps(value, 2)` writes the same integers.
TEST_CASE("integers are written in the shortest opcode that keeps them positive") {
  CHECK(integer(0) == "4b00");
  CHECK(integer(255) == "4bff");
  CHECK(integer(256) == "4d0001");
  CHECK(integer(65535) == "4dffff");
  CHECK(integer(65536) == "4a00000100");
  CHECK(integer(INT32_MAX) == "4affffff7f");
  CHECK(integer(1ULL << 31) == "8a050000008000");
  CHECK(integer(UINT32_MAX) == "8a05ffffffff00");
  CHECK(integer((1ULL << 39) - 1) == "8a05ffffffff7f");
  CHECK(integer(1ULL << 39) == "8a06000000008000");
  CHECK(integer(INT64_MAX) == "8a08ffffffffffffff7f");
  CHECK(integer(1ULL << 63) == "8a09000000000000008000");
  CHECK(integer(UINT64_MAX) == "8a09ffffffffffffffff00");
}

TEST_CASE("integers beyond 64 bits are written in two's complement, with a byte for the sign") {
  const auto number = [](std::string_view decimals) {
    return written([&](PickleWriter& w) { w.long_integer(decimals); });
  };
  // int.to_bytes(10, "little", signed=True) of 2**70 and its negative; of 0 and -1 in two bytes.
  CHECK(number("1180591620717411303424") == "8a0a00000000000000004000");
  CHECK(number("-1180591620717411303424") == "8a0a0000000000000000c0ff");
  CHECK(number("0") == "8a020000");
  CHECK(number("-1") == "8a02ffff");
  CHECK_THROWS_AS(number("1.5"), Error);
  CHECK_THROWS_AS(number("-"), Error);
  CHECK_THROWS_AS(number(std::string(700, '9')), Error);
}

TEST_CASE("text, numbers, truth and containers are written as protocol 2 has them") {
  CHECK(written([](PickleWriter& w) { w.text("é"); }) == "5802000000c3a9");
  CHECK(written([](PickleWriter& w) { w.real(1.5); }) == "473ff8000000000000");
  CHECK(written([](PickleWriter& w) { w.boolean(true), w.boolean(false), w.none(); }) == "88894e");
}

// pickle.dumps((torch.Size, torch.Size), 2) names the class once, puts it into the memo and gets it from
// there.
TEST_CASE("a global is spelled out once") {
  CHECK(written([](PickleWriter& w) { w.global("torch", "Size"); }) == "63746f7263680a53697a650a7100");
  CHECK(written([](PickleWriter& w) {
          w.global("torch", "Size");
          w.global("torch", "device");
          w.global("torch", "Size");
        }) ==
        "63746f7263680a53697a650a7100"
        "63746f7263680a6465766963650a7101"
        "6800");
}

TEST_CASE("beyond 256 globals the memo has opcodes with four bytes") {
  const std::string all = written([](PickleWriter& w) {
    for (int round = 0; round < 2; ++round)
      for (int i = 0; i <= 256; ++i) w.global("m", std::to_string(i));
  });
  CHECK(all.find("636d0a3235350a71ff"
                 "636d0a3235360a7200010000"
                 "6800"
                 "6801") != std::string::npos);
  CHECK(
      all.ends_with("68ff"
                    "6a00010000"));
}

TEST_CASE("tuples of up to three integers have opcodes of their own") {
  const auto tuple = [](std::vector<std::uint64_t> values) {
    return written([&](PickleWriter& w) { w.integers(values); });
  };
  CHECK(tuple({}) == "29");
  CHECK(tuple({1}) == "4b0185");
  CHECK(tuple({1, 2}) == "4b014b0286");
  CHECK(tuple({1, 2, 3}) == "4b014b024b0387");
  CHECK(tuple({1, 2, 3, 4}) == "284b014b024b034b0474");
}

TEST_CASE("negative integers are written in eight bytes") {
  // Python reads both as it would read what it writes itself: pickletools.dis says LONG1 -1 and LONG1 -2^63.
  CHECK(written([](PickleWriter& w) { w.negative_integer(-1); }) == "8a08ffffffffffffffff");
  CHECK(written([](PickleWriter& w) { w.negative_integer(INT64_MIN); }) == "8a080000000000000080");
}
