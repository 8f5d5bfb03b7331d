#include "terminal.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

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

Table::Table(std::vector<bool> right, std::string_view indent)
    : right_(std::move(right)), indent_(indent), widths_(right_.size()) {}

void Table::add(const std::vector<std::string>& row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    widths_[i] = std::max(widths_[i], std::min(width(row[i]), widest));
    cells_ += row[i];
    ends_.push_back(cells_.size());
  }
  rows_.push_back(ends_.size());
}

std::string Table::text() const {
  std::string out;
  std::size_t cell = 0;
  std::size_t begin = 0;
  for (const std::size_t row_end : rows_) {
    out += indent_;
    for (std::size_t i = 0; cell < row_end; ++i, ++cell) {
      const std::string_view text = std::string_view(cells_).substr(begin, ends_[cell] - begin);
      begin = ends_[cell];
      const std::size_t padding = widths_[i] - std::min(width(text), widths_[i]);
      if (i > 0) out += "  ";
      if (right_[i]) out.append(padding, ' ') += text;
      else (out += text).append(padding, ' ');
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

std::string format_table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right,
                         std::string_view indent) {
  Table table(right, indent);
  for (const auto& row : rows) table.add(row);
  return table.text();
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string percent(double share) { return fmt::format("{:.1f} %", std::floor(share * 1000) / 10); }

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
