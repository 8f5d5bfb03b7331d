#include "ckpt/codec/msgpack.hpp"

#include <catch2/catch.hpp>

#include "support/hex.hpp"

using namespace ckpt;

TEST_CASE("a text without bytes is read at the very front and at the very end") {
  for (const char* bytes : {"A0", "D9 00", "DA 00 00", "C0 A0"}) {
    MsgpackReader reader(memory_bytes(test::from_hex(bytes)));
    MsgpackReader::Item item;
    while (reader.offset() < reader.size()) item = reader.next();
    CHECK(item.kind == MsgpackReader::Kind::text);
    CHECK(item.text.empty());
  }
}
