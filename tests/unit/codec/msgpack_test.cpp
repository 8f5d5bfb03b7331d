#include "ckpt/codec/msgpack.hpp"

#include <catch2/catch.hpp>

#include "support/errors.hpp"
#include "support/hex.hpp"

using namespace ckpt;
using Kind = MsgpackReader::Kind;

namespace {

MsgpackReader::Item item(const std::string& hex) {
  return MsgpackReader(memory_bytes(test::from_hex(hex))).next();
}

}  // namespace

TEST_CASE("a text without bytes is read at the very front and at the very end") {
  for (const char* bytes : {"A0", "D9 00", "DA 00 00", "C0 A0"}) {
    MsgpackReader reader(memory_bytes(test::from_hex(bytes)));
    MsgpackReader::Item item;
    while (reader.offset() < reader.size()) item = reader.next();
    CHECK(item.kind == MsgpackReader::Kind::text);
    CHECK(item.text.empty());
  }
}

// The table of formats in MessagePack's specification, with the least and the largest of each.
TEST_CASE("numbers of every width are read, of 0 and more as natural ones") {
  const auto natural = [](const std::string& hex) {
    const MsgpackReader::Item number = item(hex);
    CHECK(number.kind == Kind::unsigned_integer);
    return number.natural;
  };
  CHECK(natural("00") == 0);
  CHECK(natural("7F") == 127);
  CHECK(natural("CC FF") == 255);
  CHECK(natural("CD FF FE") == 65534);
  CHECK(natural("CE FF FF FF FE") == 4294967294);
  CHECK(natural("CF FF FF FF FF FF FF FF FE") == UINT64_MAX - 1);
  CHECK(natural("D0 7F") == 127);
  CHECK(natural("D1 7F FF") == 32767);
  CHECK(natural("D2 7F FF FF FF") == 2147483647);
  CHECK(natural("D3 7F FF FF FF FF FF FF FF") == INT64_MAX);
  const auto integer = [](const std::string& hex) {
    const MsgpackReader::Item number = item(hex);
    CHECK(number.kind == Kind::signed_integer);
    return number.integer;
  };
  CHECK(integer("FF") == -1);
  CHECK(integer("E0") == -32);
  CHECK(integer("D0 80") == -128);
  CHECK(integer("D1 80 00") == -32768);
  CHECK(integer("D2 80 00 00 00") == INT32_MIN);
  CHECK(integer("D3 80 00 00 00 00 00 00 00") == INT64_MIN);
  for (const char* real : {"CA 3F C0 00 00", "CB 3F F8 00 00 00 00 00 00"}) {
    CHECK(item(real).kind == Kind::real);
    CHECK(item(real).real == 1.5);
  }
}

TEST_CASE("what is no number is read in every spelling") {
  CHECK(item("C0").kind == Kind::nil);
  CHECK((item("C2").kind == Kind::boolean && !item("C2").boolean));
  CHECK((item("C3").kind == Kind::boolean && item("C3").boolean));
  for (const char* text : {"A2 \"ab\"", "D9 02 \"ab\"", "DA 00 02 \"ab\"", "DB 00 00 00 02 \"ab\""}) {
    CHECK(item(text).kind == Kind::text);
    CHECK(item(text).text == "ab");
  }
  for (const char* array : {"92 00 00", "DC 00 02 00 00", "DD 00 00 00 02 00 00"}) {
    CHECK(item(array).kind == Kind::array);
    CHECK(item(array).count == 2);
  }
  for (const char* map : {"81 A0 00", "DE 00 01 A0 00", "DF 00 00 00 01 A0 00"}) {
    CHECK(item(map).kind == Kind::map);
    CHECK(item(map).count == 1);
  }
}

TEST_CASE("binary data and extensions are stepped over, and told by their place") {
  const auto check = [](const std::string& head, Kind kind, std::uint64_t count) {
    CAPTURE(head);
    const std::string data(2 * count, '7');
    MsgpackReader reader(memory_bytes(test::from_hex("C0 " + head + data + " 05")));
    reader.next();
    const MsgpackReader::Item found = reader.next();
    CHECK(found.kind == kind);
    CHECK(found.offset == 1);
    CHECK(found.count == count);
    CHECK(found.data == reader.size() - 1 - count);
    CHECK(reader.next().natural == 5);
    CHECK_THROWS_AS(item(head + data.substr(2)), Error);  // a byte less
  };
  check("C4 03", Kind::binary, 3);
  check("C5 00 03", Kind::binary, 3);
  check("C6 00 00 00 03", Kind::binary, 3);
  // Of an extension its type is a byte more.
  check("C7 03", Kind::extension, 4);
  check("C8 00 03", Kind::extension, 4);
  check("C9 00 00 00 03", Kind::extension, 4);
  check("D4", Kind::extension, 2);
  check("D5", Kind::extension, 3);
  check("D6", Kind::extension, 5);
  check("D7", Kind::extension, 9);
  check("D8", Kind::extension, 17);
}

TEST_CASE("a text longer than a window is read whole, and so is what follows it") {
  const std::string text(100'000, 'x');
  std::vector<std::byte> bytes = test::from_hex("C0 DB 00 01 86 A0");
  const auto tail = as_bytes(text);
  bytes.insert(bytes.end(), tail.begin(), tail.end());
  bytes.push_back(std::byte{7});
  MsgpackReader reader(memory_bytes(std::move(bytes)));
  reader.next();
  CHECK(reader.next().text == text);
  CHECK(reader.next().natural == 7);
}

TEST_CASE("what MessagePack does not have is refused where it stands") {
  CHECK(test::contains(test::message_of([] { item("C1"); }), "0xc1 begins no MessagePack item"));
  CHECK(test::contains(test::message_of([] { item("A1 FF"); }), "not UTF-8"));
  CHECK(test::contains(test::message_of([] { item(""); }), "offset 0"));
  CHECK(test::contains(test::message_of([] { item("93 00 00"); }), "3 bytes more, but 2 are left"));
  CHECK(test::contains(test::message_of([] { item("82 A0 00 A0"); }), "4 bytes more, but 3 are left"));
}
