#include "ckpt/formats/burnpack/scheme.hpp"

#include <catch2/catch.hpp>

#include "ckpt/core/error.hpp"
#include "support/hex.hpp"

using namespace ckpt;
using namespace ckpt::burnpack;
using test::from_hex;
using test::to_hex;

namespace {

Scheme read(const std::string& hex) {
  const std::vector<std::byte> bytes = from_hex(hex);
  cbor::Reader reader(bytes, 0);
  return read_scheme(reader);
}

// The scheme as burn 0.22 writes it.
std::string rewritten(const std::string& hex) {
  cbor::Writer writer;
  const std::optional<Scheme> scheme = parse_line(to_line(read(hex)));
  write_scheme(writer, scheme.value());
  return to_hex(writer.bytes());
}

const std::string front =
    "65\"value\" 63\"Q8S\" 65\"store\" A1 69\"PackedU32\" 00 64\"mode\" 69\"Symmetric\" ";
const std::string size_32 = "A2 67\"storage\" 85 1820 01 01 01 01 63\"len\" 01 ";

}  // namespace

TEST_CASE("a scheme survives its line of text") {
  for (const std::string& hex : {"A5" + front + "66\"tensor\" F6 65\"block\" F6",
                                 "A5" + front + "66\"tensor\" 65\"UE8M0\" 65\"block\" F6",
                                 "A5" + front + "66\"tensor\" 63\"F32\" 65\"block\" A2 64\"size\" " +
                                     size_32 + "65\"dtype\" 65\"UE4M3\""}) {
    CHECK(rewritten(hex) == to_hex(from_hex(hex)));
  }
  CHECK(to_line(read("A5" + front + "66\"tensor\" 63\"F32\" 65\"block\" A2 64\"size\" " + size_32 +
                     "65\"dtype\" 63\"F16\"")) ==
        "value=Q8S store=PackedU32(0) mode=Symmetric tensor=F32 block=F16[32]");
}

TEST_CASE("lines that no scheme is written as are none") {
  for (const char* line : {"", "value=Q8S", "value=Q9S store=Native mode=Symmetric tensor=none block=none",
                           "value=Q8S store=PackedU32 mode=Symmetric tensor=none block=none",
                           "value=Q8S store=Native mode=Symmetric tensor=F64 block=none",
                           "value=Q8S store=Native mode=Symmetric tensor=none block=F16[1,1,1,1,1,1]",
                           "value=Q8S store=Native mode=Symmetric tensor=none block=none x"}) {
    INFO(line);
    CHECK_FALSE(parse_line(line));
  }
}

// burn 0.19 to 0.22.0-pre.2; its present reader drops these two keys and so loses the blocks.
TEST_CASE("the level and param of older versions become the scales of today") {
  const std::string old = front + "65\"param\" 63\"F16\" 65\"level\" ";
  CHECK(to_line(read("A5" + old + "66\"Tensor\"")) ==
        "value=Q8S store=PackedU32(0) mode=Symmetric tensor=F16 block=none");
  CHECK(to_line(read("A5" + old + "A1 65\"Block\" " + size_32)) ==
        "value=Q8S store=PackedU32(0) mode=Symmetric tensor=none block=F16[32]");
  CHECK(to_line(
            read("A5" + old + "A1 6B\"BlockTensor\" A2 65\"block\" " + size_32 + "66\"global\" 63\"F32\"")) ==
        "value=Q8S store=PackedU32(0) mode=Symmetric tensor=F32 block=F16[32]");
  CHECK_THROWS_AS(read("A4" + front + "65\"level\" 66\"Tensor\""), Error);
}

TEST_CASE("burn 0.19 called one store U32") {
  const Scheme scheme = read("A3 65\"value\" 63\"Q8S\" 65\"store\" 63\"U32\" 64\"mode\" 69\"Symmetric\"");
  CHECK(scheme.store == "PackedU32");
  CHECK(scheme.only_in_019);
}

TEST_CASE("the least size of a quantised tensor counts values and scales") {
  Scheme scheme;
  scheme.value = "Q8S";
  CHECK(least_bytes(scheme, {4, 8}) == 36);  // one F32 for the tensor
  scheme.tensor = "F16";
  CHECK(least_bytes(scheme, {4, 8}) == 34);
  scheme.value = "Q4S";
  scheme.block = "F32";
  scheme.block_size = {32};
  scheme.tensor.clear();
  CHECK(least_bytes(scheme, {2, 64}) == 80);
  CHECK(least_bytes(scheme, {0, 64}) == 0);
  CHECK_FALSE(least_bytes(scheme, {1ULL << 62}));
}
