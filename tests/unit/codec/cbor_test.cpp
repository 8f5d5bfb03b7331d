#include "ckpt/codec/cbor.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>

#include "ckpt/core/bytes.hpp"
#include "support/errors.hpp"
#include "support/hex.hpp"

using namespace ckpt;
using Catch::Contains;
using cbor::Kind;
using cbor::Reader;
using cbor::Writer;
using test::from_hex;
using test::message_of;
using test::to_hex;

namespace {

std::string written(double value) {
  Writer writer;
  writer.floating(value);
  return to_hex(writer.bytes());
}

double from_bits(std::uint64_t bits) { return std::bit_cast<double>(bits); }

template <typename Read> auto reading(const std::string& hex, Read read) {
  const std::vector<std::byte> bytes = from_hex(hex);
  Reader reader(bytes, 100);
  return read(reader);
}

std::string nested(const std::string& head, std::size_t depth, const std::string& innermost) {
  std::string hex;
  for (std::size_t i = 0; i < depth; ++i) hex += head;
  return hex + innermost;
}

}  // namespace

// What ciborium wrote for burn's scalars.
TEST_CASE("a float is written in the shortest form that gives its 64 bits back") {
  CHECK(written(0.0) == "F90000");
  CHECK(written(-0.0) == "F98000");
  CHECK(written(1.0) == "F93C00");
  CHECK(written(0.5) == "F93800");
  CHECK(written(65504) == "F97BFF");
  CHECK(written(std::ldexp(1.0, -24)) == "F90001");
  CHECK(written(HUGE_VAL) == "F97C00");
  CHECK(written(from_bits(0x7FF8000000000000)) == "F97E00");
  CHECK(written(from_bits(0xFFF8000000000000)) == "F9FE00");
  CHECK(written(from_bits(0x7FF8000000000001)) == "FB7FF8000000000001");
  CHECK(written(65505) == "FA477FE100");
  CHECK(written(static_cast<double>(0.001F)) == "FA3A83126F");
  CHECK(written(0.001) == "FB3F50624DD2F1A9FC");
  CHECK(written(1.0 / 3) == "FB3FD5555555555555");
}

TEST_CASE("a float that a narrower format holds only inexactly is not narrowed") {
  CHECK(written(std::ldexp(1.0, -25)) == "FA33000000");
  CHECK(written(std::ldexp(1.0, -149)) == "FA00000001");
  CHECK(written(std::ldexp(1.0, -150)) == "FB3690000000000000");
  CHECK(written(5e-324) == "FB0000000000000001");
  CHECK(written(65536) == "FA47800000");
  CHECK(written(1e300).substr(0, 2) == "FB");
  // A signalling NaN would come back quiet from a narrower format.
  CHECK(written(from_bits(0x7FF4000000000000)) == "FB7FF4000000000000");
}

TEST_CASE("every half and its neighbours come back with the same bits") {
  for (unsigned half = 0; half < 0x10000; ++half) {
    const bool signalling = (half & 0x7C00U) == 0x7C00U && (half & 0x3FFU) != 0 && (half & 0x200U) == 0;
    if (signalling) continue;
    Writer writer;
    const std::vector<std::byte> bytes{std::byte{0xF9}, static_cast<std::byte>(half >> 8U),
                                       static_cast<std::byte>(half)};
    writer.floating(Reader(bytes, 0).floating("a half"));
    if (writer.bytes() != bytes) FAIL("half " << half << " becomes " << to_hex(writer.bytes()));
  }
  for (std::uint64_t bits :
       {0x7FF8000000000001ULL, 0xFFFFFFFFFFFFFFFFULL, 0x7FF0000000000001ULL, 0x3F50624DD2F1A9FCULL}) {
    Writer writer;
    writer.floating(from_bits(bits));
    CHECK(std::bit_cast<std::uint64_t>(Reader(writer.bytes(), 0).floating("a float")) == bits);
  }
}

TEST_CASE("integers are written with the shortest head") {
  const auto whole = [](std::uint64_t value) {
    Writer writer;
    writer.whole(value);
    return to_hex(writer.bytes());
  };
  CHECK(whole(23) == "17");
  CHECK(whole(24) == "1818");
  CHECK(whole(256) == "190100");
  CHECK(whole(65536) == "1A00010000");
  CHECK(whole(UINT64_MAX) == "1BFFFFFFFFFFFFFFFF");
  Writer writer;
  writer.integer(-25);
  writer.integer(INT64_MIN);
  writer.integer(7);
  CHECK(to_hex(writer.bytes()) == "38183B7FFFFFFFFFFFFFFF07");
}

TEST_CASE("integers are read in every width and refused beyond theirs") {
  const auto whole = [](const std::string& hex) {
    return reading(hex, [](Reader& r) { return r.whole("n"); });
  };
  const auto integer = [](const std::string& hex) {
    return reading(hex, [](Reader& r) { return r.integer("n"); });
  };
  CHECK(whole("1B0000000000000007") == 7);
  CHECK(whole("C2 42 0107") == 263);                       // a small bignum
  CHECK(whole("C2 49 00FFFFFFFFFFFFFFFF") == UINT64_MAX);  // with a leading zero
  CHECK_THAT(message_of([&] { whole("C2 49 010000000000000000"); }), Contains("beyond 64 bits"));
  CHECK_THROWS_AS(whole("20"), Error);
  CHECK_THROWS_AS(whole("F93C00"), Error);
  CHECK(integer("3B7FFFFFFFFFFFFFFF") == INT64_MIN);
  CHECK_THROWS_AS(integer("3B8000000000000000"), Error);
  CHECK_THROWS_AS(integer("1B8000000000000000"), Error);
}

TEST_CASE("text is read whole or in pieces, but must be UTF-8") {
  const auto text = [](const std::string& hex) {
    return reading(hex, [](Reader& r) { return r.text("a name"); });
  };
  CHECK(text("63\"abc\"") == "abc");
  CHECK(text("7F 61\"a\" 62\"bc\" FF") == "abc");
  CHECK(text("D9D9F7 C1 61\"a\"") == "a");
  CHECK_THAT(message_of([&] { text("61 FF"); }), Contains("a name is not UTF-8") && Contains("offset 100"));
  CHECK_THROWS_AS(text("7F 41\"a\" FF"), Error);
  CHECK_THROWS_AS(text("7F 61\"a\""), Error);
  CHECK_THROWS_AS(text("41\"a\""), Error);
  CHECK_THROWS_AS(reading("7F 61\"a\" FF", [](Reader& r) { return std::string(r.identifier("a field")); }),
                  Error);
}

TEST_CASE("arrays and maps are read with a stated count and with an end") {
  for (const char* hex : {"83 01 02 03", "9F 01 02 03 FF", "98 03 01 02 03"}) {
    const std::uint64_t sum = reading(hex, [](Reader& reader) {
      std::uint64_t total = 0;
      for (Reader::Entries all = reader.array("numbers"); all.next();) total += reader.whole("a number");
      CHECK(reader.left() == 0);
      return total;
    });
    CHECK(sum == 6);
  }
  CHECK_THAT(message_of([] { reading("A0", [](Reader& r) { return r.array("numbers").expected(); }); }),
             Contains("numbers is a map, not an array"));
}

TEST_CASE("a count beyond the bytes that are left is refused at its head") {
  for (const char* hex :
       {"9B0000008000000000", "BBFFFFFFFFFFFFFFFF", "9A40000000", "8401 02 03", "A2 01 02 03"}) {
    INFO(hex);
    const auto skip = [&] { reading(hex, [](Reader& r) { return r.skip(), 0; }); };
    CHECK_THAT(message_of(skip), Contains("entries"));
  }
  for (const char* hex : {"7B7FFFFFFFFFFFFFFF 61", "5A00000002 01", "19 01", "FB 00"})
    CHECK_THAT(message_of([&] { reading(hex, [](Reader& r) { return r.skip(), 0; }); }),
               Contains("goes on beyond"));
}

TEST_CASE("nesting ends at 128 levels, whatever it is made of") {
  const auto skip = [](const std::string& hex) {
    return reading(hex, [](Reader& r) { return r.skip(), r.left(); });
  };
  CHECK(skip(nested("81", 128, "00")) == 0);
  CHECK_THROWS_AS(skip(nested("81", 129, "00")), Error);
  CHECK(skip(nested("9F", 128, nested("FF", 128, ""))) == 0);
  CHECK_THROWS_AS(skip(nested("9F", 129, nested("FF", 129, ""))), Error);
  CHECK_THROWS_AS(skip(nested("A100", 129, "00")), Error);
  CHECK_THROWS_AS(skip(nested("C1", 129, "00")), Error);
  CHECK_THAT(message_of([&] { skip(nested("81", 100'000, "00")); }), Contains("128 levels"));
  CHECK_THROWS_AS(reading(nested("C1", 100'000, "00"), [](Reader& r) { return r.whole("n"); }), Error);
  // Levels that were left do not count.
  CHECK(skip("98C8" + nested("8100", 200, "")) == 0);
}

TEST_CASE("heads that CBOR reserves are refused where they stand") {
  for (const char* hex : {"1C", "3D", "FC", "DF", "FF"}) {
    INFO(hex);
    CHECK_THAT(message_of([&] { reading(hex, [](Reader& r) { return r.skip(), 0; }); }),
               Contains("offset 100"));
  }
  CHECK_THROWS_AS(reading("", [](Reader& r) { return r.skip(), 0; }), Error);
}

TEST_CASE("a null is stepped over, anything else stays") {
  CHECK(reading("F6 01", [](Reader& r) { return r.null() && r.whole("n") == 1; }));
  CHECK(reading("01", [](Reader& r) { return !r.null() && r.peek() == Kind::whole && r.whole("n") == 1; }));
  CHECK(reading("F7", [](Reader& r) { return !r.null() && r.peek() == Kind::undefined; }));
  CHECK(reading("F5", [](Reader& r) { return r.boolean("b"); }));
}

TEST_CASE("what another kind of item is than what is due is said in words") {
  const auto due = [](const std::string& hex, const auto& act) {
    return message_of([&] { reading(hex, [&](Reader& r) { return act(r), 0; }); });
  };
  const auto whole = [](Reader& r) { r.whole("it"); };
  CHECK_THAT(due("20", whole),
             Contains("CBOR at offset 100: it is a negative integer, not an unsigned integer"));
  CHECK_THAT(due("40", whole), Contains("it is a byte string"));
  CHECK_THAT(due("60", whole), Contains("it is a text"));
  CHECK_THAT(due("80", whole), Contains("it is an array"));
  CHECK_THAT(due("A0", whole), Contains("it is a map"));
  CHECK_THAT(due("F4", whole), Contains("it is true or false"));
  CHECK_THAT(due("F6", whole), Contains("it is null"));
  CHECK_THAT(due("F7", whole), Contains("it is undefined"));
  CHECK_THAT(due("F93C00", whole), Contains("it is a float"));
  CHECK_THAT(due("FF", whole), Contains("it is the end of a container"));
  CHECK_THAT(due("60", [](Reader& r) { r.integer("it"); }), Contains("it is a text, not an integer"));
  CHECK_THAT(due("01", [](Reader& r) { r.floating("it"); }),
             Contains("it is an unsigned integer, not a float"));
  CHECK_THAT(due("01", [](Reader& r) { r.boolean("it"); }), Contains("not true or false"));
  CHECK_THAT(due("01", [](Reader& r) { r.bytes("it"); }), Contains("not a byte string"));
  CHECK_THAT(due("01", [](Reader& r) { r.identifier("it"); }), Contains("not a text"));
  CHECK_THAT(due("5F 41\"a\" FF", [](Reader& r) { r.bytes("it"); }), Contains("it is in pieces"));
  CHECK_THAT(due("7F 61\"a\" FF", [](Reader& r) { r.identifier("it"); }), Contains("it is a text in pieces"));
  CHECK_THAT(due("7F 41\"a\" FF", [](Reader& r) { r.text("it"); }),
             Contains("offset 101: it is a byte string, not a piece of a text"));
  CHECK_THAT(due("7F 7F FF FF", [](Reader& r) { r.text("it"); }), Contains("offset 101"));
  CHECK_THAT(due("7F 41\"a\" FF", [](Reader& r) { r.skip(); }),
             Contains("a piece is a byte string, not a text"));
  CHECK_THAT(due("5F 5F FF FF", [](Reader& r) { r.skip(); }),
             Contains("offset 101: a piece is a byte string"));
  CHECK_THAT(due("FF", [](Reader& r) { r.skip(); }),
             Contains("the end is the end of a container, not a value"));
  CHECK_THAT(due("FC", [](Reader& r) { r.skip(); }), Contains("the byte 0xfc begins no item"));
}

TEST_CASE("texts and bytes in pieces are stepped over") {
  CHECK(reading("5F 41\"a\" 42\"bc\" FF 01", [](Reader& r) { return r.skip(), r.whole("n"); }) == 1);
  CHECK(reading("7F 61\"a\" 62\"bc\" FF 01", [](Reader& r) { return r.skip(), r.whole("n"); }) == 1);
  CHECK(reading("43\"abc\"", [](Reader& r) { return as_text(r.bytes("b")) == "abc"; }));
}
