#include "ckpt/core/text.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

TEST_CASE("ordinary text of any language is shown as it is") {
  for (const std::string_view text : {"", "layers.0.weight", "größe", "重み", "вес", "😀", "a\\b"})
    CHECK(printable(text) == text);
}

TEST_CASE("control characters and escape sequences are shown, not sent") {
  CHECK(printable("a\nb\tc\rd") == "a\\nb\\tc\\rd");
  CHECK(printable("\x1b[31mred\x07\x7f") == "\\x1b[31mred\\x07\\x7f");
  CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
  CHECK(printable("\xC2\x9B") == "\\u009b");  // CSI of eight bits
  CHECK(printable("\xC2\x85") == "\\u0085");
  CHECK(printable("\xC2\xA0").size() == 2);  // no-break space
}

TEST_CASE("what turns the direction of text or cannot be seen is shown by its number") {
  CHECK(printable("\u202E\u202A\u2066\u2069") == "\\u202e\\u202a\\u2066\\u2069");
  CHECK(printable("\u061C\u200E\u200F") == "\\u061c\\u200e\\u200f");
  CHECK(printable("\u200B\u2060\uFEFF\u2028\u2029") == "\\u200b\\u2060\\ufeff\\u2028\\u2029");
  CHECK(printable("\U000E0041") == "\\U000e0041");  // an invisible tag
}

TEST_CASE("bytes that are not UTF-8 are shown by their value, one by one") {
  CHECK(printable("a\xff.b") == "a\\xff.b");
  CHECK(printable("\xC3") == "\\xc3");
  CHECK(printable("\xC0\x80") == "\\xc0\\x80");
  CHECK(printable("\xED\xA0\x80") == "\\xed\\xa0\\x80");
  CHECK(printable("\xE9\x87x") == "\\xe9\\x87x");
}

TEST_CASE("showing twice changes nothing more") {
  Random random(5);
  for (int i = 0; i < 2000; ++i) {
    const std::vector<std::byte> bytes = random.bytes(random.number(0, 12));
    const std::string once = printable(as_text(bytes));
    CHECK(printable(once) == once);
    CHECK(is_utf8(once));
    CHECK(
        std::ranges::none_of(once, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }));
  }
}

TEST_CASE("UTF-8 is well formed as the Unicode standard's table 3-7 has it") {
  for (const std::string_view good : {"", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
                                      "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"})
    CHECK(is_utf8(good));
  for (const std::string_view bad :
       {"\x80", "\xC0\xAF", "\xC1\xBF", "\xC2", "\xC2\x7F", "\xE0\x9F\xBF", "\xE0\xA0", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "a\xE2\x82", "\xE2\x28\xA1"})
    CHECK_FALSE(is_utf8(bad));
  CHECK_FALSE(is_utf8("\xED\xA0\x80"));
  CHECK(is_utf8("\xED\xA0\x80", Surrogates::allowed));
  CHECK(is_utf8("\xED\xBF\xBF", Surrogates::allowed));
  CHECK_FALSE(is_utf8("\xC0\xAF", Surrogates::allowed));
}

TEST_CASE("sizes are written in powers of 1024") {
  CHECK(human_size(0) == "0 B");
  CHECK(human_size(792) == "792 B");
  CHECK(human_size(1023) == "1023 B");
  CHECK(human_size(1024) == "1.00 KiB");
  CHECK(human_size(1536) == "1.50 KiB");
  CHECK(human_size(10 * 1024) == "10.0 KiB");
  CHECK(human_size(4ULL << 30) == "4.00 GiB");
  CHECK(human_size(UINT64_MAX) == "16.0 EiB");
}

TEST_CASE("runs of digits count as numbers") {
  CHECK(natural_less("layers.2", "layers.10"));
  CHECK_FALSE(natural_less("layers.10", "layers.2"));
  CHECK(natural_less("a9", "a10b"));
  CHECK(natural_less("a", "a0"));
  CHECK(natural_less("a.1.z", "a.01.zz"));
  CHECK(natural_less("01", "1"));
  CHECK_FALSE(natural_less("1", "01"));
  CHECK_FALSE(natural_less("x", "x"));
  CHECK(natural_less("99999999999999999999998", "99999999999999999999999"));
  CHECK(natural_less("a", "\xC3\xA9"));  // by unsigned bytes
}

TEST_CASE("the order is one: irreflexive, asymmetric and transitive, ties only between equals") {
  Random random(9);
  std::vector<std::string> names;
  for (int i = 0; i < 60; ++i) {
    std::string name;
    for (std::uint64_t n = random.number(0, 5); n > 0; --n)
      name += random.one_of<char>({'0', '1', '9', 'a', '.'});
    names.push_back(name);
  }
  for (const std::string& a : names)
    for (const std::string& b : names) {
      if (a == b) CHECK_FALSE(natural_less(a, b));
      else CHECK(natural_less(a, b) != natural_less(b, a));
      for (const std::string& c : names)
        if (natural_less(a, b) && natural_less(b, c) && !natural_less(a, c))
          FAIL(a << " < " << b << " < " << c);
    }
}
