#include "ckpt/report/name_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ckpt/report/names.hpp"

namespace ckpt {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool matches(const SegmentPattern& pattern, std::size_t segment, const Segments& segments) {
  return pattern.id == segment ||
         (pattern.is_any_number && segments.shape(pattern.id) == segments.shape(segment));
}

bool match(const PatternList& patterns, const SegmentedName& name, std::size_t at, const Segments& segments) {
  for (std::size_t i = 0; i < patterns.size(); ++i)
    if (!matches(patterns[i], name[at + i], segments)) return false;
  return true;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\.^$|()[]{}*+?").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string escaped_replacement(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '$' ? "$$" : std::string(1, c);
  return out;
}

/// A segment with `\d+`, or `(\d+)`, where its digits are.
std::string number_pattern(std::string_view segment, std::string_view number) {
  std::string out;
  for (std::size_t i = 0; i < segment.size();) {
    std::size_t end = i;
    while (end < segment.size() && is_digit(segment[end])) ++end;
    if (end > i) out += number;
    else out += escaped(segment.substr(i, (end = i + 1) - i));
    i = end;
  }
  return out;
}

std::string pattern_of(const PatternList& list, const Segments& segments, std::string_view number) {
  std::string out;
  for (const SegmentPattern& p : list) {
    if (!out.empty()) out += "\\.";
    out += p.is_any_number ? number_pattern(segments.text(p.id), number) : escaped(segments.text(p.id));
  }
  return out;
}

std::string text_of(const PatternList& list, const Segments& segments) {
  std::string out;
  for (std::size_t i = 0; i < list.size(); ++i) out += (i > 0 ? "." : "") + segments.text(list[i].id);
  return out;
}

bool has_any_number(const PatternList& list) {
  return std::ranges::any_of(list, &SegmentPattern::is_any_number);
}

/// A text that both sides of a rule hold, and what stands around it.
struct Kept {
  std::string before_from, after_from, before_to, after_to;
  std::string word;
  bool has_same_frame(const Kept& other) const {
    return before_from == other.before_from && after_from == other.after_from &&
           before_to == other.before_to && after_to == other.after_to;
  }
};

/// The longest common part; nothing where there is none.
std::optional<Kept> kept_word(const std::string& from, const std::string& to) {
  std::size_t best = 0, in_from = 0, in_to = 0;
  for (std::size_t i = 0; i < from.size(); ++i)
    for (std::size_t j = 0; j < to.size(); ++j) {
      std::size_t n = 0;
      while (i + n < from.size() && j + n < to.size() && from[i + n] == to[j + n]) ++n;
      if (n > best) best = n, in_from = i, in_to = j;
    }
  if (best == 0) return std::nullopt;
  return Kept{from.substr(0, in_from), from.substr(in_from + best), to.substr(0, in_to),
              to.substr(in_to + best), from.substr(in_from, best)};
}

}  // namespace

std::size_t Segments::id(std::string_view text) {
  const auto [found, is_new] = ids_.emplace(std::string(text), all_.size());
  if (!is_new) return found->second;
  Segment segment{.text = &found->first, .shape = 0, .numbers = {}, .literals = {{}}};
  std::string shape;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end > i) {
      segment.numbers.emplace_back(text.substr(i, end - i));
      segment.literals.emplace_back();
      shape += '\1';
      i = end;
    } else {
      shape += text[i];
      segment.literals.back() += text[i++];
    }
  }
  segment.shape = shapes_.emplace(std::move(shape), shapes_.size()).first->second;
  all_.push_back(std::move(segment));
  return found->second;
}

SegmentedName Segments::split(std::string_view name) {
  SegmentedName out;
  for (const std::string_view segment : split_segments(name)) out.push_back(id(segment));
  return out;
}

std::string Segments::join(const SegmentedName& name) const {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) out += (i > 0 ? "." : "") + text(name[i]);
  return out;
}

std::size_t Segments::with_numbers(std::size_t of, const std::vector<std::string>& numbers) {
  std::string out = all_[of].literals.front();
  for (std::size_t i = 0; i < numbers.size(); ++i) out += numbers[i] + all_[of].literals[i + 1];
  return id(out);
}

std::optional<SegmentedName> NameRule::apply(const SegmentedName& name, Segments& segments) const {
  const std::size_t outside = left.size() + right.size() + (is_end ? 0 : 1);
  std::optional<SegmentedName> result;
  const std::size_t last = is_inside ? name.size() : 0;
  for (std::size_t begin = last + 1; begin-- > 0;)
    for (const Alternative& alternative : alternatives) {
      const std::size_t size = outside + alternative.from.size();
      if (begin + size > name.size() || (is_end && begin + size != name.size())) continue;
      const std::size_t at = begin + left.size();
      const std::size_t after = at + alternative.from.size();
      if (!match(left, name, begin, segments) || !match(alternative.from, name, at, segments) ||
          !match(right, name, after, segments))
        continue;
      std::vector<std::string> numbers;
      for (std::size_t i = 0; i < alternative.from.size(); ++i)
        if (alternative.from[i].is_any_number)
          std::ranges::copy(segments.numbers(name[at + i]), std::back_inserter(numbers));
      SegmentedName out(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(at));
      auto next = numbers.begin();
      for (const SegmentPattern& p : alternative.to) {
        if (!p.is_any_number) {
          out.push_back(p.id);
          continue;
        }
        const auto end = next + static_cast<std::ptrdiff_t>(segments.numbers(p.id).size());
        out.push_back(segments.with_numbers(p.id, {next, end}));
        next = end;
      }
      out.insert(out.end(), name.begin() + static_cast<std::ptrdiff_t>(after), name.end());
      return out;
    }
  return result;
}

std::string NameRule::text(const Segments& segments) const {
  std::vector<std::string> before, after;  // parts between dots
  std::string pattern = "^";
  std::size_t groups = 0;
  // What stays on the left: a group where its text varies.
  if (is_inside || has_any_number(left)) {
    const std::string inner = pattern_of(left, segments, "\\d+");
    if (left.empty()) pattern += "(.*\\.)?";
    else before.push_back(is_inside ? "((?:.*\\.)?" + inner + ")" : "(" + inner + ")");
    ++groups;
    if (!left.empty()) after.emplace_back("${1}");
  } else if (!left.empty()) {
    before.push_back(pattern_of(left, segments, ""));
    after.push_back(escaped_replacement(text_of(left, segments)));
  }
  const std::string lead = is_inside && left.empty() ? "${1}" : "";

  const Alternative& first = alternatives.front();
  if (alternatives.size() == 1) {
    if (!first.from.empty()) before.push_back(pattern_of(first.from, segments, "(\\d+)"));
    for (const SegmentPattern& p : first.to) {
      if (!p.is_any_number) {
        after.push_back(escaped_replacement(segments.text(p.id)));
        continue;
      }
      std::string part;
      const std::string& text = segments.text(p.id);
      for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i;
        while (end < text.size() && is_digit(text[end])) ++end;
        if (end > i) part += fmt::format("${{{}}}", ++groups);
        else part += escaped_replacement(std::string_view(text).substr(i, (end = i + 1) - i));
        i = end;
      }
      after.push_back(std::move(part));
    }
  } else {
    std::string words;
    std::optional<Kept> frame;
    for (const Alternative& alternative : alternatives) {
      frame = kept_word(text_of(alternative.from, segments), text_of(alternative.to, segments));
      words += (words.empty() ? "" : "|") + escaped(frame->word);
    }
    before.push_back(escaped(frame->before_from) + "(" + words + ")" + escaped(frame->after_from));
    after.push_back(escaped_replacement(frame->before_to) + fmt::format("${{{}}}", ++groups) +
                    escaped_replacement(frame->after_to));
  }
  if (!right.empty()) {
    const bool varies = has_any_number(right);
    before.push_back(varies ? "(" + pattern_of(right, segments, "\\d+") + ")"
                            : pattern_of(right, segments, ""));
    after.push_back(varies ? fmt::format("${{{}}}", ++groups)
                           : escaped_replacement(text_of(right, segments)));
  }
  std::string replacement = lead;
  for (std::size_t i = 0; i < before.size(); ++i) pattern += (i > 0 ? "\\." : "") + before[i];
  for (std::size_t i = 0; i < after.size(); ++i) replacement += (i > 0 ? "." : "") + after[i];
  pattern += is_end ? "$" : "\\.";
  if (!is_end && !after.empty()) replacement += ".";
  return pattern + " => " + replacement;
}

std::optional<NameRule> merged(const NameRule& a, const NameRule& b, Segments& segments) {
  // A segment that is put before another that stays is a word that is kept: `wte` is `transformer.wte`.
  const auto widened = [](NameRule rule) {
    if (rule.alternatives.size() == 1 && rule.alternatives.front().from.empty() && rule.right.size() == 1 &&
        !rule.right.front().is_any_number) {
      rule.alternatives.front().from = rule.right;
      rule.alternatives.front().to.push_back(rule.right.front());
      rule.right.clear();
    }
    return rule;
  };
  NameRule x = widened(a);
  const NameRule y = widened(b);
  if (x.is_inside != y.is_inside || x.left != y.left || x.right != y.right || x.is_end != y.is_end)
    return std::nullopt;
  std::optional<Kept> frame;
  for (const NameRule* rule : {&std::as_const(x), &y})
    for (const NameRule::Alternative& alternative : rule->alternatives) {
      if (has_any_number(alternative.from) || has_any_number(alternative.to)) return std::nullopt;
      const auto kept = kept_word(text_of(alternative.from, segments), text_of(alternative.to, segments));
      if (!kept || (frame && !frame->has_same_frame(*kept))) return std::nullopt;
      frame = kept;
    }
  x.alternatives.insert(x.alternatives.end(), y.alternatives.begin(), y.alternatives.end());
  return x;
}

}  // namespace ckpt
