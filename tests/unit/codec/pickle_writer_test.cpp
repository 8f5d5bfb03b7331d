#include "ckpt/codec/pickle_writer.hpp"

#include <catch2/catch.hpp>

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

TEST_CASE("text, numbers, truth and containers are written as protocol 2 has them") {
  CHECK(written([](PickleWriter& w) { w.text("é"); }) == "5802000000c3a9");
  CHECK(written([](PickleWriter& w) { w.real(1.5); }) == "473ff8000000000000");
  CHECK(written([](PickleWriter& w) { w.boolean(true), w.boolean(false), w.none(); }) == "88894e");
  CHECK(written([](PickleWriter& w) { w.global("torch", "Size"); }) == "63746f7263680a53697a650a");
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
