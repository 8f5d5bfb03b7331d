#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ckpt {

/// Names as lists of numbered segments, so that thousands of rules can be tried on thousands of names.
using SegmentedName = std::vector<std::size_t>;

class Segments {
 public:
  std::size_t id(std::string_view text);
  SegmentedName split(std::string_view name);
  std::string join(const SegmentedName& name) const;

  const std::string& text(std::size_t id) const { return *all_[id].text; }
  /// The same for segments that differ in their digits only: `layer1` and `layer22`.
  std::size_t shape(std::size_t id) const { return all_[id].shape; }
  /// The segment of that shape with these runs of digits.
  std::size_t with_numbers(std::size_t id, const std::vector<std::string>& numbers);
  const std::vector<std::string>& numbers(std::size_t id) const { return all_[id].numbers; }

 private:
  struct Segment {
    const std::string* text = nullptr;
    std::size_t shape = 0;
    std::vector<std::string> numbers;
    std::vector<std::string> literals;  // around the numbers
  };
  std::unordered_map<std::string, std::size_t> ids_;
  std::unordered_map<std::string, std::size_t> shapes_;
  std::vector<Segment> all_;
};

/// One segment of a rule: itself, or any of its shape.
struct SegmentPattern {
  std::size_t id = 0;
  bool is_any_number = false;
  bool operator==(const SegmentPattern&) const = default;
};
using PatternList = std::vector<SegmentPattern>;

/// A rule as segments: `left` stays, `from` becomes `to`, `right` stays.
struct NameRule {
  struct Alternative {
    PatternList from, to;  ///< the numbers of `to` are those of `from`, in order
  };
  bool is_inside = false;  ///< `left` may begin at any segment, the last that fits; else at the first
  PatternList left;
  std::vector<Alternative> alternatives;  ///< at least one; several differ in one word that is kept
  PatternList right;
  bool is_end = false;  ///< nothing follows `right`; else something does

  /// The renamed name; nothing where the rule does not match.
  std::optional<SegmentedName> apply(const SegmentedName& name, Segments& segments) const;
  /// `PATTERN => REPLACEMENT`.
  std::string text(const Segments& segments) const;
};

/// Rules that differ in one word only, which both sides keep (`q_proj => wq`, `k_proj => wk`), as one;
/// nothing where they do not.
std::optional<NameRule> merged(const NameRule& a, const NameRule& b, Segments& segments);

}  // namespace ckpt
