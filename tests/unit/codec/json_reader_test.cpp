#include "ckpt/codec/json_reader.hpp"

#include <catch2/catch.hpp>

#include "ckpt/codec/msgpack.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "support/errors.hpp"

using namespace ckpt;
using test::message_of;
using Kind = JsonReader::Kind;

namespace {

JsonReader::Item item(const std::string& text) { return JsonReader(memory_bytes(text)).next(); }

/// Everything of a document in the order it comes, with a mark for each end.
std::string walked(JsonReader& reader) {
  const JsonReader::Item item = reader.next();
  std::string out;
  switch (item.kind) {
    case Kind::map:
      for (std::uint64_t i = 0; reader.more(item, i); ++i) {
        out += reader.key().text + "=";
        out += walked(reader);
      }
      return "{" + out + "}";
    case Kind::array:
      for (std::uint64_t i = 0; reader.more(item, i); ++i) out += walked(reader);
      return "[" + out + "]";
    case Kind::text:
      return item.text + ";";
    case Kind::signed_integer:
      return std::to_string(item.integer) + ";";
    default:
      return "?;";
  }
}

std::string walked(const std::string& text) {
  JsonReader reader(memory_bytes(text));
  std::string out = walked(reader);
  CHECK(reader.offset() == reader.size());
  return out;
}

}  // namespace

TEST_CASE("JSON is read in its order, whatever space is between") {
  CHECK(walked("[]") == "[]");
  CHECK(walked(" { } ") == "{}");
  CHECK(walked(R"({"a":[1,2],"b":{"c":"d"}})") == "{a=[1;2;]b={c=d;}}");
  CHECK(walked(" \n{ \"a\" :\t[ 1 ,\r2 ] , \"b\" : { } }\n") == "{a=[1;2;]b={}}");
}

TEST_CASE("a JSON reader goes back to an item that it has read") {
  JsonReader reader(memory_bytes(R"([ [1,2], 3])"));
  const JsonReader::Item top = reader.next();
  REQUIRE(reader.more(top, 0));
  const JsonReader::Item list = reader.next();
  CHECK(list.offset == 2);
  for (int times = 0; times < 2; ++times) {
    reader.seek(list.offset);
    CHECK(reader.next().kind == Kind::array);
    CHECK(reader.more(list, 0));
    CHECK(reader.next().integer == 1);
  }
}

TEST_CASE("whole numbers of JSON are integers while they fit 64 bits, others are reals") {
  CHECK(item("0").kind == Kind::signed_integer);
  CHECK(item("-0").integer == 0);
  CHECK(item("9223372036854775807").integer == INT64_MAX);
  CHECK(item("-9223372036854775808").integer == INT64_MIN);
  CHECK(item("9223372036854775808").kind == Kind::unsigned_integer);
  CHECK(item("18446744073709551615").natural == UINT64_MAX);
  for (const auto& [text, value] : {std::pair{"1.5", 1.5},
                                    {"-0.0", -0.0},
                                    {"1e2", 100.0},
                                    {"1E+2", 100.0},
                                    {"25e-1", 2.5},
                                    {"0.1", 0.1},
                                    {"5e-324", 4.9406564584124654e-324},
                                    {"1e-400", 0.0},
                                    {"1.7976931348623157e308", 1.7976931348623157e308}}) {
    CAPTURE(text);
    CHECK(item(text).kind == Kind::real);
    CHECK(item(text).real == value);
  }
}

TEST_CASE("numbers that JSON does not have are refused") {
  for (const char* text : {"-", "01", "-01", "1.", "1.e5", "-.5", "1e", "1e+", "1-2", "1.2.3", "0x1", "1e309",
                           "18446744073709551616", "-9223372036854775809"}) {
    CAPTURE(text);
    JsonReader reader(memory_bytes("[" + std::string(text) + "]"));
    const JsonReader::Item list = reader.next();
    const std::string message = message_of([&] {
      for (std::uint64_t i = 0; reader.more(list, i); ++i) reader.next();
    });
    CHECK_THAT(message, Catch::Contains("not valid JSON"));
    CHECK_THAT(message, Catch::StartsWith("offset "));
  }
}

TEST_CASE("strings of JSON are unescaped, and refused when they are malformed") {
  CHECK(item(R"("")").text.empty());
  CHECK(item(R"("a\"b\\")").text == "a\"b\\");
  CHECK(item(R"("\u00e9\ud83d\ude00\n")").text == "\u00e9\U0001F600\n");
  CHECK(item("\"\u00e9\"").text == "\u00e9");
  for (const char* text : {"\"", "\"a", "\"\\\"", "\"\\x\"", "\"\\ud83d\"", "\"\x01\"", "\"\n\"", "\"\xff\"",
                           "\"\xed\xa0\x80\""}) {
    CAPTURE(text);
    CHECK_THAT(message_of([&] { item(text); }), Catch::StartsWith("offset 0: not valid JSON"));
  }
}

TEST_CASE("what is no JSON is refused where it is seen") {
  for (const char* text : {"",
                           " ",
                           ",",
                           "]",
                           "tru",
                           "nulls",
                           "True",
                           "NaN",
                           "+1",
                           ".5",
                           "'a'",
                           "[",
                           "[1",
                           "[1 2]",
                           "[1,]",
                           "[,1]",
                           "[1}",
                           "{",
                           "{1:2}",
                           "{\"a\"}",
                           "{\"a\" 1}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{\"a\":1]",
                           "{,}",
                           "{\"a\":1 \"b\":2}",
                           "[\xef\xbb\xbf]"}) {
    CAPTURE(text);
    CHECK_THAT(message_of([&] {
                 JsonReader reader(memory_bytes(text));
                 walked(reader);
               }),
               Catch::Contains("not valid JSON"));
  }
}

TEST_CASE("a text of a record has a limit, in either encoding") {
  const std::string longest(limits::record_text, 'x');
  JsonReader json(memory_bytes('"' + longest + '"'));
  CHECK(json.next().text.size() == limits::record_text);
  CHECK_THAT(message_of([&] { JsonReader(memory_bytes('"' + longest + "x\"")).next(); }),
             Catch::Contains("a text of more than 16777216 bytes"));
  // str 32, with its length in four bytes
  MsgpackReader msgpack(memory_bytes(std::string("\xDB\x01\x00\x00\x00", 5) + longest));
  CHECK(msgpack.next().text.size() == limits::record_text);
  CHECK_THAT(message_of([&] {
               MsgpackReader(memory_bytes(std::string("\xDB\x01\x00\x00\x01", 5) + longest + "x")).next();
             }),
             Catch::Contains("a text of 16777217 bytes; 16777216 are the limit"));
}
