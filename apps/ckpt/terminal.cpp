#include "terminal.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "ckpt/codec/json.hpp"
#include "ckpt/core/quoted.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt {
namespace {

/// Columns that text takes: one for each code point.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// Standard error may be closed or full, and then there is nobody to tell.
void say(const std::string& text) { std::fputs(text.c_str(), stderr); }

}  // namespace

Paint::Paint(const TalkOptions& talk, std::FILE* stream) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool is_wanted = no_color == nullptr || *no_color == '\0';
  const bool is_able =
      ::isatty(fileno(stream)) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
  is_on_ = talk.color == "always" || (talk.color == "auto" && is_wanted && is_able);
}

std::string Paint::wrap(std::string_view code, std::string_view text) const {
  return is_on_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

void Talk::report(std::string_view line) const {
  if (!options_.quiet) say(fmt::format("{}\n", line));
}

void Talk::warn(std::string_view file, std::string_view text) const {
  say(fmt::format("ckpt: {}: {}{}\n", printable(file), paint_.yellow("warning: "), printable(text)));
}

void print_error(const Error& error) {
  // Names are escaped where they enter a message; this is for what slips through, and escapes nothing twice.
  if (error.file().empty()) say(fmt::format("ckpt: {}\n", printable(error.message())));
  else say(fmt::format("ckpt: {}: {}\n", printable(error.file()), printable(error.message())));
  if (!error.hint().empty()) say(fmt::format("hint: {}\n", printable(error.hint())));
}

void print_json(const Value& document) { fmt::print("{}\n", printable_json(json::dump(document, 1))); }

// A name longer than this goes past its column: one such must not widen the lines of all others.
constexpr std::size_t widest = 100;

std::string format_table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right,
                         std::string_view indent) {
  std::vector<std::size_t> widths(right.size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], std::min(width(row[i]), widest));
  std::string out;
  for (const auto& row : rows) {
    std::string line(indent);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      const std::string padding(widths[i] - std::min(width(row[i]), widths[i]), ' ');
      line += right[i] ? padding + row[i] : row[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string count(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

std::string some_names(const std::vector<std::string>& names, const Talk& talk, std::size_t at_most) {
  if (talk.is_verbose()) at_most = names.size();
  std::string out;
  for (std::size_t i = 0; i < std::min(at_most, names.size()); ++i)
    out += (i == 0 ? "" : ", ") + printable(names[i]);
  if (names.size() > at_most)
    out += fmt::format(", and {} more (--verbose lists all)", grouped(names.size() - at_most));
  return out;
}

std::string first_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 5); ++i)
    text += (i == 0 ? "" : ", ") + printable(names[i]);
  return names.size() > 5 ? text + ", …" : text;
}

}  // namespace ckpt
