#include "ckpt/stages/rule.hpp"

#include <catch2/catch.hpp>

#include "support/errors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

std::string applied(std::string_view line, std::string_view name) {
  const Rule rule = parse_rule(line);
  return rule.replacement.replace_all(name, rule.pattern).first;
}

std::pair<std::string, std::string> halves(std::string_view line) {
  RuleText text = split_rule(line);
  return {std::move(text.left), std::move(text.right)};
}

using Pair = std::pair<std::string, std::string>;

}  // namespace

TEST_CASE("a line is cut at its arrow, and blanks at either end go") {
  CHECK(halves("a => b") == Pair{"a", "b"});
  CHECK(halves("  a \t=>\t b  ") == Pair{"a", "b"});
  CHECK(halves("a=>b") == Pair{"a", "b"});
  CHECK(halves("a =>b") == Pair{"a", "b"});
  CHECK(halves("a=> b") == Pair{"a", "b"});
  CHECK(halves("a b => c d") == Pair{"a b", "c d"});
}

TEST_CASE("the arrow between blanks counts where the pattern has one of its own") {
  CHECK(halves("x=>y => z") == Pair{"x=>y", "z"});
  CHECK(halves("(?<=>)y => z") == Pair{"(?<=>)y", "z"});
  CHECK(halves("a => b => c") == Pair{"a", "b => c"});
  CHECK(halves("a => b=>c") == Pair{"a", "b=>c"});
}

TEST_CASE("an empty replacement takes away what matched") {
  CHECK(halves("^model\\. =>") == Pair{"^model\\.", ""});
  CHECK(halves("^model\\. => ") == Pair{"^model\\.", ""});
  CHECK(halves("^model\\. =>\r") == Pair{"^model\\.", ""});
  CHECK(applied("^model\\. =>", "model.fc.weight") == "fc.weight");
}

TEST_CASE("a rule without an arrow or a pattern is a usage error with the spelling as the hint") {
  for (const std::string line : {"a b", "a -> b", "a = > b", "=> b", " => b", "=>", " =>"}) {
    CAPTURE(line);
    const Error error = error_of([&] { parse_rule(line); });
    CHECK(error.kind() == ErrorKind::usage);
    CHECK(error.hint() == "write PATTERN => REPLACEMENT");
  }
}

TEST_CASE("comments and blank lines are left out, lines keep their numbers") {
  const std::vector<NumberedLine> lines = rule_lines("# first\n\n  \t\na => b\r\n\r\n#x => y\nc => d");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].number == 4);
  CHECK(lines[1].number == 7);
  CHECK(rule_lines("").empty());
  CHECK(rule_lines("a => b\n").size() == 1);
}

TEST_CASE("a file with Windows line ends and a byte order mark has the same rules") {
  const std::vector<Rule> rules = parse_rules("\xEF\xBB\xBF^a => b\r\n^c$ => d\r\n", "rules.txt");
  REQUIRE(rules.size() == 2);
  CHECK(rules[0].text == "^a => b");
  CHECK(rules[0].replacement.replace_all("a", rules[0].pattern).first == "b");
  CHECK(rules[1].replacement.replace_all("c", rules[1].pattern).first == "d");
}

TEST_CASE("an error in a rules file names the file and the line") {
  for (const std::string bad : {"no arrow", "( => x", "(a) => $2", " => x"}) {
    const Error error = error_of([&] { parse_rules("# comment\na => b\n" + bad + "\n", "rules.txt"); });
    CHECK(error.kind() == ErrorKind::usage);
    CHECK(error.file() == "rules.txt");
    CHECK(error.message().starts_with("line 3: "));
  }
}
