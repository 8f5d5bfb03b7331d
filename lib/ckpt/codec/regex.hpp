#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ckpt {

/// A compiled regular expression: PCRE2 with Unicode classes, `$` only at the very end, newline LF, and
/// bounds on time and memory, so that a hostile pattern ends in an error. Not anchored.
class Regex {
 public:
  /// Where one match and its groups lie in the subject: pairs [begin, end); group 0 is the match.
  /// A group that took no part has none.
  using Match = std::vector<std::optional<std::pair<std::size_t, std::size_t>>>;

  /// Throws `usage` with the column of the fault.
  explicit Regex(std::string pattern);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;

  const std::string& pattern() const noexcept { return pattern_; }
  /// Number of the last group.
  std::size_t group_count() const noexcept { return group_count_; }
  std::optional<std::size_t> group_number(std::string_view name) const;

  /// The first match at or after `from`. Throws `usage` when the pattern needs more steps or memory
  /// than its bounds, and `unsupported` when the subject is longer than `limits::name_bytes`.
  std::optional<Match> find(std::string_view subject, std::size_t from = 0) const;
  bool matches(std::string_view subject) const { return find(subject).has_value(); }

 private:
  struct Code;
  std::string pattern_;
  std::size_t group_count_ = 0;
  std::unique_ptr<Code> code_;
};

/// The replacement half of a rule, with the meaning of Rust's `regex` crate: `$1`, `${1}`, `$name`,
/// `${name}`; a name without braces is the longest run of `[0-9A-Za-z_]`; `$$` is a dollar; a dollar
/// that begins none of these stands for itself.
class Replacement {
 public:
  /// Throws `usage` for a group that `regex` does not have (Rust would put nothing in its place), with
  /// the braced spelling as the hint where that was meant.
  Replacement(std::string_view text, const Regex& regex);

  /// `subject` with every match of `regex` replaced, and how many there were. An empty match directly
  /// after a match is skipped, as in Rust. Throws `usage` when replacing makes more than
  /// `limits::name_bytes`.
  std::pair<std::string, std::size_t> replace_all(std::string_view subject, const Regex& regex) const;

 private:
  struct Part {
    std::string literal;
    std::optional<std::size_t> group;
  };
  std::vector<Part> parts_;
};

}  // namespace ckpt
