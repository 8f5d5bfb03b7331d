#include "ckpt/core/quoted.hpp"

#include <catch2/catch.hpp>

using namespace ckpt;

TEST_CASE("a name without blanks stands as it is, any other as a JSON string") {
  CHECK(word("model.layers.0.weight") == "model.layers.0.weight");
  CHECK(word("größe") == "größe");
  CHECK(word("a b") == R"("a b")");
  CHECK(word("") == R"("")");
  CHECK(word("=>") == R"("=>")");
  CHECK(word("#x") == R"("#x")");
  CHECK(word("a\"b\\c") == R"("a\"b\\c")");
  CHECK(word("a\nb\tc\x1b") == R"("a\nb\tc\u001b")");
  // json.dumps("a\u202eb") and json.dumps("\U000e0001") of Python.
  CHECK(word("a\u202e"
             "b") == R"("a\u202eb")");
  CHECK(word("\U000e0001") == R"("\udb40\udc01")");
}

TEST_CASE("every name comes back from its word") {
  for (const std::string& name :
       {std::string("plain"), std::string("a b"), std::string(), std::string("tab\tline\nquote\"back\\"),
        std::string("not \xff utf-8 \x80\xC3"), std::string("nul\0nul", 7), std::string("\U0001F600 x"),
        std::string("lone \xED\xA0\x80 surrogate"), std::string("a\u202e"), std::string("\U000e0001")}) {
    const std::string text = word(name) + "  rest";
    std::string_view view = text;
    CHECK(take_word(view) == name);
    CHECK(view == "rest");
  }
}

TEST_CASE("words of other hands are read too, and malformed ones are nothing") {
  const auto taken = [](std::string_view text) { return take_word(text); };
  CHECK(taken("  a  b") == "a");
  CHECK(taken(R"("\u0041\/\b")") == "A/\b");
  CHECK(taken(R"("\ud83d\ude00")") == "\U0001F600");
  CHECK(!taken(""));
  CHECK(!taken("   "));
  CHECK(!taken(R"("open)"));
  CHECK(!taken(R"("a"b)"));
  CHECK(!taken(R"("\x41")"));
  CHECK(!taken(R"("\u12")"));
  CHECK(!taken(R"("\ud83d")"));
  CHECK(!taken(R"("\ud83d\u0041")"));
  CHECK(!taken("\"a\nb\""));
  CHECK(!taken("\"\\"));
}

TEST_CASE("a JSON document is shown without what a terminal obeys, and means the same") {
  CHECK(printable_json("{\n \"größe\": [1, \"\\u001b\"]\n}") == "{\n \"größe\": [1, \"\\u001b\"]\n}");
  CHECK(printable_json("\"a\u202eb\u009bc\x7f\U000e0001\"") == R"("a\u202eb\u009bc\u007f\udb40\udc01")");
}

// What a POSIX shell makes of it: `sh -c "printf %s $WORD"`.
TEST_CASE("a word of a shell's command line is quoted where it has to be") {
  CHECK(shell_word("model.layers.0/weight-1.pt") == "model.layers.0/weight-1.pt");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("^fc$ => Linear") == "'^fc$ => Linear'");
  CHECK(shell_word("x';touch PWNED;'") == R"('x'\'';touch PWNED;'\''')");
  CHECK(shell_word("a\nb\x1b[31m") == R"('a\nb\x1b[31m')");
  for (const char c : std::string_view(" $`\"\\!#&*?()[]{}<>|;~"))
    CHECK(shell_word(std::string(1, c)).front() == '\'');
}
