#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ckpt/codec/regex.hpp"

namespace ckpt {

/// `PATTERN => REPLACEMENT`: a line of a rules file or of `--rename`.
struct Rule {
  std::string text;  ///< as written, for messages
  Regex pattern;
  Replacement replacement;
};

/// The two halves of a line around its arrow, blanks at either end gone. Throws `usage` without one.
struct RuleText {
  std::string left;
  std::string right;
};
RuleText split_rule(std::string_view line);

/// Throws `usage`: no arrow, a bad pattern, an unknown group.
Rule parse_rule(std::string_view line);

/// The lines of a file that are neither blank nor begin with `#`, each with its number.
struct NumberedLine {
  std::size_t number = 0;
  std::string text;
};
std::vector<NumberedLine> rule_lines(std::string_view text);

/// Every rule of a rules file; errors name `file` and the line.
std::vector<Rule> parse_rules(std::string_view text, std::string_view file);

}  // namespace ckpt
