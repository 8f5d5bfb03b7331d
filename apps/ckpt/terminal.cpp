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

Table& Table::add(std::string_view cell) {
  std::size_t& column = widths_[cells_.size() % widths_.size()];
  text_ += cell;
  cells_.push_back({text_.size(), width(cell)});
  column = std::max(column, std::min(cells_.back().width, widest));
  return *this;
}

void Table::add_row(const std::vector<std::string>& row) {
  for (std::size_t i = 0; i < right_.size(); ++i) add(i < row.size() ? std::string_view(row[i]) : "");
}

void Table::append_line(std::size_t first, std::string& out) const {
  const std::size_t line = out.size();
  std::size_t begin = first == 0 ? 0 : cells_[first - 1].end;
  out += indent_;
  for (std::size_t i = 0; i < right_.size(); ++i) {
    const Cell& cell = cells_[first + i];
    const std::size_t padding = widths_[i] - std::min(cell.width, widths_[i]);
    if (i > 0) out += "  ";
    if (right_[i]) out.append(padding, ' ');
    out.append(text_, begin, cell.end - begin);
    if (!right_[i]) out.append(padding, ' ');
    begin = cell.end;
  }
  out.resize(std::max(line, out.find_last_not_of(' ') + 1));
  out += '\n';
}

std::string Table::text() const {
  std::string out;
  for (std::size_t first = 0; first < cells_.size(); first += right_.size()) append_line(first, out);
  return out;
}

void Table::print() const {
  constexpr std::size_t part = 64U << 10U;
  std::string out;
  for (std::size_t first = 0; first < cells_.size(); first += right_.size()) {
    append_line(first, out);
    if (out.size() < part) continue;
    fmt::print("{}", out);
    out.clear();
  }
  fmt::print("{}", out);
}

std::string format_table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right,
                         std::string_view indent) {
  Table table(right, indent);
  for (const auto& row : rows) table.add_row(row);
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
