#include "ckpt/codec/json.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "ckpt/core/limits.hpp"
#include "support/errors.hpp"

using namespace ckpt;
using Catch::Contains;
using test::message_of;

TEST_CASE("a JSON document becomes a value of the kinds that it has") {
  const Value value =
      json::parse(R"( {"a": [1, -2, 18446744073709551615, 0.5, true, null], "b": {"c": "x\n\u00e9"}} )");
  REQUIRE(value.is_object());
  const Value::Array& a = *value.find("a")->as<Value::Array>();
  CHECK(a[0] == Value(1));
  CHECK(a[1] == Value(-2));
  CHECK(a[2] == Value(std::uint64_t{UINT64_MAX}));
  CHECK(a[3] == Value(0.5));
  CHECK(a[4] == Value(true));
  CHECK(a[5].is_null());
  CHECK(*value.find("b")->find("c") == Value("x\n\xC3\xA9"));
}

TEST_CASE("what is not one whole JSON document is refused") {
  for (const char* text : {"", " ", "{", "[1,]", "{\"a\":1}x", "nul", "01", "\"\\ud800\"", "\"\xC0\x80\"",
                           "\xEF\xBB\xBF{}", "18446744073709551616", "[1 2]", "'a'", "\"\t\""}) {
    INFO(text);
    CHECK_THROWS_AS(json::parse(text), Error);
  }
}

TEST_CASE("a key that stands twice in one object is refused, in small objects and in large ones") {
  CHECK_THAT(message_of([] { json::parse(R"({"a": 1, "b": {"a": 2, "a": 3}})"); }),
             Contains("\"a\" stands twice"));
  CHECK_NOTHROW(json::parse(R"({"a": {"a": 1}, "b": {"a": 1}})"));
  std::string large = "{";
  for (int i = 0; i < 1000; ++i) large += "\"k" + std::to_string(i) + "\":0,";
  CHECK_NOTHROW(json::parse(large + "\"k1000\":0}"));
  CHECK_THAT(message_of([&] { json::parse(large + "\"k500\":0}"); }), Contains("\"k500\" stands twice"));
}

TEST_CASE("nesting is allowed up to the limit and refused beyond it") {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK_NOTHROW(json::parse(nested(limits::nesting - 1)));
  CHECK_THROWS_AS(json::parse(nested(limits::nesting + 1)), Error);
  CHECK_THROWS_AS(json::parse(nested(100'000)), Error);
  CHECK_THROWS_AS(json::parse(std::string(100'000, '[')), Error);
}

// The escapes are those of serde_json, which writes safetensors headers.
TEST_CASE("text is escaped in the shortest form") {
  CHECK(json::quoted("a\"\\\b\f\n\r\t/") == R"("a\"\\\b\f\n\r\t/")");
  CHECK(json::quoted(std::string_view("\0\x1f\x7f", 3)) == "\"\\u0000\\u001f\x7f\"");
  CHECK(json::quoted("\xC3\xA9 \xF0\x9F\x99\x82") == "\"\xC3\xA9 \xF0\x9F\x99\x82\"");
}

TEST_CASE("text that is not UTF-8 stays readable") {
  CHECK(json::quoted("a\xED\xA0\x80z") == R"("a\ud800z")");
  CHECK(json::quoted("\xED\xBF\xBF") == R"("\udfff")");
  CHECK(json::quoted("a\xFFz") == "\"a\xEF\xBF\xBDz\"");
  CHECK(json::quoted("\xC3") == "\"\xEF\xBF\xBD\"");
  CHECK(json::quoted("\xC0\x80") == "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
  CHECK(json::quoted("\xF5\x80\x80\x80").size() == 2 + 4 * 3);
}

TEST_CASE("numbers are written so that they come back the same") {
  CHECK(json::dump(Value(1.0)) == "1.0");
  CHECK(json::dump(Value(0.1)) == "0.1");
  CHECK(json::dump(Value(1e-8)) == "1e-08");
  CHECK(json::dump(Value(-0.0)) == "-0.0");
  CHECK(json::dump(Value(1e300)) == "1e+300");
  CHECK(json::dump(Value(std::nan(""))) == "\"NaN\"");
  CHECK(json::dump(Value(-HUGE_VAL)) == "\"-Infinity\"");
  CHECK(json::dump(Value(std::uint64_t{UINT64_MAX})) == "18446744073709551615");
  CHECK(json::dump(Value(INT64_MIN)) == "-9223372036854775808");
  CHECK(json::dump(Value(Value::Number{"123456789012345678901234567890"})) ==
        "123456789012345678901234567890");
  for (const double number : {5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1 + 0.2, 1e22, 1e16})
    CHECK(*json::parse(json::dump(Value(number))).as<double>() == number);
}

TEST_CASE("a document is written on one line or indented") {
  Value value = Value::object();
  value.set("a", Value::array().push(1).push(Value::object())).set("b", nullptr).set("c", Value::array());
  CHECK(json::dump(value) == R"({"a":[1,{}],"b":null,"c":[]})");
  CHECK(json::dump(value, 2) == "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": null,\n  \"c\": []\n}");
  CHECK(json::parse(json::dump(value, 2)) == value);
}

// RFC 3629, section 4: which bytes may follow which.
TEST_CASE("of bytes that are no character each is replaced, of a character none") {
  const auto strays = [](std::string_view text) {
    std::size_t count = 0;
    const std::string quoted = json::quoted(text);
    for (std::size_t at = quoted.find("\xEF\xBF\xBD"); at != std::string::npos;
         at = quoted.find("\xEF\xBF\xBD", at + 3))
      ++count;
    return count;
  };
  for (const char* character : {"\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xE1\x80\x80", "\xED\x9F\xBF",
                                "\xEF\xBF\xBE", "\xF0\x90\x80\x80", "\xF1\x80\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    CHECK(strays(character) == 0);
    CHECK(json::quoted(character) == '"' + std::string(character) + '"');
  }
  CHECK(strays("\x80") == 1);
  CHECK(strays("\xC1\xBF") == 2);
  CHECK(strays("\xC2\x41") == 1);
  CHECK(strays("\xE0\x9F\xBF") == 3);
  CHECK(strays("\xE1\x80") == 2);
  CHECK(strays("\xE1\x80\x41") == 2);
  CHECK(strays("\xE1\x41\x80") == 2);
  CHECK(strays("\xF0\x8F\xBF\xBF") == 4);
  CHECK(strays("\xF1\x80\x80") == 3);
  CHECK(strays("\xF1\x80\x80\x41") == 3);
  CHECK(strays("\xF1\x41\x80\x80") == 3);
  CHECK(strays("\xF1\x80\x41\x80") == 3);
  CHECK(strays("\xF4\x90\x80\x80") == 4);
  CHECK(strays("\xF5\x80\x80\x80") == 4);
}
