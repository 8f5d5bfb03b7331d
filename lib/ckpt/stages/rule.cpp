#include "ckpt/stages/rule.hpp"

#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

}  // namespace

RuleText split_rule(std::string_view line) {
  // An arrow between blanks separates; without one, the first arrow at all (`a=>b`).
  std::size_t arrow = line.find(" =>");
  while (arrow != std::string_view::npos && arrow + 3 < line.size() && line[arrow + 3] != ' ' &&
         line[arrow + 3] != '\r')
    arrow = line.find(" =>", arrow + 1);
  std::size_t left_end = arrow;
  if (arrow == std::string_view::npos) {
    left_end = line.find("=>");
    if (left_end == std::string_view::npos)
      throw Error(ErrorKind::usage, fmt::format("`{}` has no arrow", printable(line)))
          .with_hint("write PATTERN => REPLACEMENT");
    arrow = left_end - 1;
  }
  return {std::string(trimmed(line.substr(0, left_end))), std::string(trimmed(line.substr(arrow + 3)))};
}

Rule parse_rule(std::string_view line) {
  const RuleText halves = split_rule(line);
  if (halves.left.empty())
    throw Error(ErrorKind::usage, fmt::format("the rule `{}` has no pattern", printable(line)))
        .with_hint("write PATTERN => REPLACEMENT");
  Regex pattern(halves.left);
  Replacement replacement(halves.right, pattern);
  return {halves.left + " => " + halves.right, std::move(pattern), std::move(replacement)};
}

std::vector<NumberedLine> rule_lines(std::string_view text) {
  std::vector<NumberedLine> lines;
  std::size_t number = 0;
  // Editors of Windows put a byte order mark before the first line.
  if (constexpr std::string_view mark = "\xEF\xBB\xBF"; text.starts_with(mark))
    text.remove_prefix(mark.size());
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    ++number;
    if (!trimmed(line).empty() && !line.starts_with('#')) lines.push_back({number, std::string(line)});
    at = end + 1;
  }
  return lines;
}

std::vector<Rule> parse_rules(std::string_view text, std::string_view file) {
  std::vector<Rule> rules;
  for (const NumberedLine& line : rule_lines(text)) {
    try {
      rules.push_back(parse_rule(line.text));
    } catch (Error& error) {
      throw error.in(fmt::format("line {}", line.number)).in_file(file);
    }
  }
  return rules;
}

}  // namespace ckpt
