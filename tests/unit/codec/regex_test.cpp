#include "ckpt/codec/regex.hpp"

#include <catch2/catch.hpp>

#include <chrono>

#include "ckpt/core/limits.hpp"
#include "support/errors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

std::string replaced(std::string pattern, std::string_view replacement, std::string_view subject) {
  const Regex regex(std::move(pattern));
  return Replacement(replacement, regex).replace_all(subject, regex).first;
}

std::size_t hits(std::string pattern, std::string_view subject) {
  const Regex regex(std::move(pattern));
  return Replacement("-", regex).replace_all(subject, regex).second;
}

}  // namespace

TEST_CASE("a replacement means what it means in Rust's regex crate") {
  CHECK(replaced("layer(\\d)", "$1", "layer3") == "3");
  CHECK(replaced("layer(\\d)", "${1}", "layer3") == "3");
  CHECK(replaced("layer(?P<n>\\d)", "${n}", "layer3") == "3");
  CHECK(replaced("layer(?<n>\\d)", "$n", "layer3") == "3");
  CHECK(replaced("layer(\\d)", "$1.", "layer3") == "3.");
  CHECK(replaced("layer(\\d)", "$1-", "layer3") == "3-");
  CHECK(replaced("layer(\\d)", "${1}_x", "layer3") == "3_x");
  CHECK(replaced("layer(\\d)", "$$1", "layer3") == "$1");
  CHECK(replaced("layer(\\d)", "$$$1", "layer3") == "$3");
  CHECK(replaced("layer(\\d)", "a$", "layer3") == "a$");
  CHECK(replaced("layer(\\d)", "$ $1", "layer3") == "$ 3");
  CHECK(replaced("layer(\\d)", "$&", "layer3") == "$&");
  CHECK(replaced("layer(\\d)", "<$0>", "layer3") == "<layer3>");
  CHECK(replaced("layer(\\d)", "\\1\\n", "layer3") == "\\1\\n");
  CHECK(replaced("layer(\\d)", "${1", "layer3") == "${1");
  CHECK(replaced("layer(\\d)", "", "a.layer3.b") == "a..b");
  CHECK(replaced("(a)(x)?", "[$2]", "a") == "[]");  // a group that took no part
  CHECK(replaced("(..)(..)", "$2$1", "abcd") == "cdab");
}

TEST_CASE("a name without braces is the longest run of letters, digits and underscores") {
  CHECK(replaced("(?<n_w>a)", "$n_w.", "a") == "a.");
  CHECK(replaced("(?<n>a)", "${n}_w", "a") == "a_w");
  CHECK(error_of([] { replaced("(?<n>a)", "$n_w", "a"); }).kind() == ErrorKind::usage);
}

TEST_CASE("the group that was not meant is an error, and the hint has the braces") {
  for (const std::string trap : {"$1_x", "$1x", "a$1_x.$1"}) {
    const Error error = error_of([&] { replaced("(a)", trap, "a"); });
    CHECK(error.kind() == ErrorKind::usage);
    CHECK(contains(error.message(), "no group `1"));
    CHECK(contains(error.hint(), "${1}"));
  }
  CHECK(error_of([] { replaced("(a)", "$1_x", "a"); }).hint() == "write ${1}_x for group 1 followed by `_x`");
}

TEST_CASE("unknown groups are errors, numbered or named, braced or not") {
  for (const std::string unknown :
       {"$9", "${9}", "$name", "${name}", "${1.x}", "${}", "$99999999999999999999"}) {
    CAPTURE(unknown);
    const Error error = error_of([&] { replaced("(a)", unknown, "a"); });
    CHECK(error.kind() == ErrorKind::usage);
    CHECK(contains(error.hint(), "it has 1 group;"));
  }
  CHECK(contains(error_of([] { replaced("a", "$1", "a"); }).hint(), "it has 0 groups;"));
}

TEST_CASE("every match is replaced, and counted") {
  CHECK(replaced("conv", "c", "conv.conv1.xconv") == "c.c1.xc");
  CHECK(hits("conv", "conv.conv1.xconv") == 3);
  CHECK(hits("^conv", "conv.conv1") == 1);
  CHECK(hits("none", "conv") == 0);
  CHECK(replaced("none", "x", "conv") == "conv");
}

TEST_CASE("empty matches are replaced as in Rust: not directly after a match") {
  CHECK(replaced("b*", "-", "abc") == "-a-c-");
  CHECK(replaced("x*", "-", "abc") == "-a-b-c-");
  CHECK(replaced("", "-", "ab") == "-a-b-");
  CHECK(replaced("^", "m.", "fc.weight") == "m.fc.weight");
  CHECK(replaced("$", ".x", "fc.weight") == "fc.weight.x");
  CHECK(replaced("a|", "-", "aab") == "--b-");
  CHECK(replaced("|a", "-", "aa") == "-a-a-");
  CHECK(replaced("x*", "-", "") == "-");
}

TEST_CASE("empty matches do not fall into the middle of a character") {
  CHECK(replaced("x*", "-", "é漢") == "-é-漢-");
  CHECK(replaced(".", "x", "é漢😀") == "xxx");
}

TEST_CASE("classes know Unicode, and the dollar is the very end only") {
  CHECK(hits("^\\w+$", "über") == 1);
  CHECK(hits("(?i)Ü", "ü") == 1);
  CHECK(hits("\\d", "٣") == 1);
  CHECK(hits("a$", "a\n") == 0);
  CHECK(hits("a.b", "a\nb") == 0);
  CHECK(hits("a.b", "a\rb") == 1);
}

TEST_CASE("names that are not UTF-8 are matched around the bytes that are not") {
  const std::string name = "a\xff.weight";
  CHECK(replaced("weight$", "w", name) == "a\xff.w");
  CHECK(replaced("^a", "b", name) == "b\xff.weight");
  CHECK(hits("a.\\.", name) == 0);
  CHECK(replaced("x*", "-", "\xff") == "-\xff-");
  CHECK(replaced("x*", "-", "\xc3") == "-\xc3-");
}

TEST_CASE("\\K keeps what is before it, for every match") {
  CHECK(replaced("a\\K", "-", "aaa") == "a-a-a-");
  CHECK(replaced("layers\\.\\K\\d", "N", "layers.3.x") == "layers.N.x");
  // Where it makes a match end before it begins, there is nothing to replace.
  CHECK(error_of([] { Regex("(?=ab\\K)").find("ab"); }).kind() == ErrorKind::usage);
}

TEST_CASE("a match does not see text before the search, but knows that it is there") {
  const Regex regex("\\bb");
  CHECK(regex.find("ab b", 0)->front() == std::pair<std::size_t, std::size_t>{3, 4});
  CHECK_FALSE(Regex("^b").find("ab", 1));
}

TEST_CASE("a bad pattern is a usage error that says where") {
  const Error error = error_of([] { Regex("a(b"); });
  CHECK(error.kind() == ErrorKind::usage);
  CHECK(contains(error.message(), "`a(b`"));
  CHECK(contains(error.message(), "column 4"));
  CHECK(error_of([] { Regex("\\C"); }).kind() == ErrorKind::usage);
  CHECK(error_of([] { Regex("\xff"); }).kind() == ErrorKind::usage);
  CHECK(error_of([] { Regex("[b-a]\x1b"); }).message().find('\x1b') == std::string::npos);
}

TEST_CASE("a pattern that explodes ends in an error, quickly") {
  const std::string letters(5000, 'a');
  const auto begin = std::chrono::steady_clock::now();
  const Error error = error_of([&] { Regex("^(a+)+$").find(letters + "b"); });
  CHECK(error.kind() == ErrorKind::usage);
  CHECK(contains(error.hint(), "without nested repetition"));
  CHECK(error_of([&] { Regex("(x+x+)+[yz]").find(std::string(5000, 'x')); }).kind() == ErrorKind::usage);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2));
}

TEST_CASE("a name that grows with every rule ends in an error, quickly") {
  const Regex any(".");
  const Replacement more("${0}" + std::string(40, 'x'), any);
  std::string name = "weight";
  const Error error = error_of([&] {
    for (int i = 0; i < 10; ++i) name = more.replace_all(name, any).first;
  });
  CHECK(error.kind() == ErrorKind::usage);
  CHECK(contains(error.message(), "makes a name of more than"));
  CHECK(name.size() == 6 * 41 * 41);
}

TEST_CASE("a name that is too long for patterns is an error, since matching may take its square") {
  const std::string name(limits::name_bytes, '1');
  CHECK_FALSE(Regex("1+x").matches(name));
  const Error error = error_of([&] { Regex("1+x").matches(name + "1"); });
  CHECK(error.kind() == ErrorKind::unsupported);
  CHECK(contains(error.message(), "16385 bytes is too long"));
}

TEST_CASE("groups are numbered and named") {
  const Regex regex("(a)(?<name>b)?");
  CHECK(regex.group_count() == 2);
  CHECK(regex.group_number("name") == 2);
  CHECK_FALSE(regex.group_number("other"));
  const Regex::Match match = *regex.find("xa");
  REQUIRE(match.size() == 3);
  CHECK(match[0] == std::pair<std::size_t, std::size_t>{1, 2});
  CHECK(match[1] == std::pair<std::size_t, std::size_t>{1, 2});
  CHECK_FALSE(match[2]);
}
