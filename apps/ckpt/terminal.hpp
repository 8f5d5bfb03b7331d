#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/core/error.hpp"
#include "ckpt/core/value.hpp"
#include "options.hpp"

namespace ckpt {

/// Colours of a stream, or nothing where it is no terminal or nobody wants them.
class Paint {
 public:
  Paint(const TalkOptions& talk, std::FILE* stream);
  std::string bold(std::string_view text) const { return wrap("1", text); }
  std::string dim(std::string_view text) const { return wrap("2", text); }
  std::string red(std::string_view text) const { return wrap("31", text); }
  std::string green(std::string_view text) const { return wrap("32", text); }
  std::string yellow(std::string_view text) const { return wrap("33", text); }

 private:
  std::string wrap(std::string_view code, std::string_view text) const;
  bool is_on_ = false;
};

/// What is said on standard error while a command works.
class Talk {
 public:
  explicit Talk(const TalkOptions& options) : options_(options), paint_(options, stderr) {}

  /// What was done: left out by --quiet.
  void report(std::string_view line) const;
  /// What may be wrong.
  void warn(std::string_view file, std::string_view text) const;
  bool is_verbose() const noexcept { return options_.verbose; }
  bool is_quiet() const noexcept { return options_.quiet; }
  const Paint& paint() const noexcept { return paint_; }

 private:
  TalkOptions options_;
  Paint paint_;
};

/// One line `ckpt: FILE: …` and, where there is one, a line `hint: …`, on standard error.
void print_error(const Error& error);

/// A document on standard output, fit for a terminal and for any reader of JSON.
void print_json(const Value& document);

/// Columns with two blanks between them; `right` says which are numbers. Nothing is cut. Holds no more of its
/// rows than their text.
class Table {
 public:
  explicit Table(std::vector<bool> right, std::string_view indent = "");
  /// The next cell; a row ends with its last column.
  Table& add(std::string_view cell);
  /// A row of which columns at the end may be missing.
  void add_row(const std::vector<std::string>& row);
  std::string text() const;
  /// The text on standard output, a part at a time.
  void print() const;

 private:
  struct Cell {
    std::size_t end = 0;  // in `text_`
    std::size_t width = 0;
  };

  /// Puts the line of a row, given by its first cell, behind `out`.
  void append_line(std::size_t first, std::string& out) const;

  std::vector<bool> right_;
  std::string indent_;
  std::vector<std::size_t> widths_;  // of the columns
  std::string text_;                 // of all cells
  std::vector<Cell> cells_;          // row by row
};

/// The same of rows that are there already.
std::string format_table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right,
                         std::string_view indent = "");

/// `1 tensor`, `2 tensors`; thousands are set apart: `12,345 tensors`.
std::string count(std::uint64_t number, std::string_view noun);
std::string grouped(std::uint64_t number);
/// `99.5 %`: never more than there is.
std::string percent(double share);

/// Up to `at_most` names, printable, and how many more there are; all of them when verbose.
std::string some_names(const std::vector<std::string>& names, const Talk& talk, std::size_t at_most = 10);

/// The first five names, printable, and an ellipsis where there are more.
std::string first_names(const std::vector<std::string>& names);

}  // namespace ckpt
