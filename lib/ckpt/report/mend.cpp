#include "ckpt/report/mend.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

namespace ckpt {
namespace {

std::vector<std::string_view> segments(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t dot = std::min(name.find('.', at), name.size());
    parts.push_back(name.substr(at, dot - at));
    at = dot + 1;
  }
  return parts;
}

bool fits(const Shape& a, const Shape& b) {
  if (a == b) return true;
  Shape sorted_a = a;
  Shape sorted_b = b;
  std::ranges::sort(sorted_a);
  std::ranges::sort(sorted_b);
  return sorted_a == sorted_b;
}

/// How many segments two names share from either end.
std::size_t in_common(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  const std::size_t shorter = std::min(a.size(), b.size());
  std::size_t front = 0;
  while (front < shorter && a[front] == b[front]) ++front;
  std::size_t back = 0;
  while (back < shorter - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  return front + back;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\.^$|()[]{}*+?#").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// A rename of whole leading segments: `from` (with its last dot, or empty) becomes `to`.
struct PrefixRule {
  std::string from, to;
  bool operator<(const PrefixRule& other) const {
    return std::tie(from, to) < std::tie(other.from, other.to);
  }
};

/// The rule that carries `from` to `to` by their leading segments, the shared end left out.
std::optional<PrefixRule> prefix_rule(std::string_view from, std::string_view to) {
  const std::vector<std::string_view> a = segments(from);
  const std::vector<std::string_view> b = segments(to);
  std::size_t back = 0;
  while (back < a.size() && back < b.size() && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  if (back == 0) return std::nullopt;
  std::size_t end_length = back - 1;  // the dots between
  for (std::size_t i = 0; i < back; ++i) end_length += a[a.size() - 1 - i].size();
  return PrefixRule{std::string(from.substr(0, from.size() - end_length)),
                    std::string(to.substr(0, to.size() - end_length))};
}

}  // namespace

std::map<std::string, std::string> did_you_mean(const std::vector<NamedShape>& missing,
                                                const std::vector<NamedShape>& unused) {
  std::map<std::string, std::string> result;
  for (const NamedShape& wanted : missing) {
    const std::vector<std::string_view> parts = segments(wanted.name);
    std::size_t best = 0;
    for (const NamedShape& candidate : unused) {
      if (!fits(candidate.shape, wanted.shape)) continue;
      const std::size_t common = in_common(parts, segments(candidate.name));
      if (common <= best) continue;
      best = common;
      result[wanted.name] = candidate.name;
    }
  }
  return result;
}

std::optional<MendingRule> best_rule(const std::vector<NamedShape>& missing,
                                     const std::vector<NamedShape>& unused) {
  std::unordered_map<std::string_view, const Shape*> wanted;
  for (const NamedShape& tensor : missing) wanted.emplace(tensor.name, &tensor.shape);
  std::set<PrefixRule> candidates;
  for (const auto& [to, from] : did_you_mean(missing, unused))
    if (std::optional<PrefixRule> rule = prefix_rule(from, to)) candidates.insert(std::move(*rule));
  std::optional<MendingRule> best;
  for (const PrefixRule& rule : candidates) {
    std::size_t explains = 0;
    for (const NamedShape& tensor : unused) {
      if (!tensor.name.starts_with(rule.from)) continue;
      const auto target = wanted.find(rule.to + tensor.name.substr(rule.from.size()));
      if (target != wanted.end() && fits(*target->second, tensor.shape)) ++explains;
    }
    if (explains == 0 || (best && best->explains >= explains)) continue;
    std::string to;
    for (const char c : rule.to) to += c == '$' ? std::string("$$") : std::string(1, c);
    best = MendingRule{"^" + escaped(rule.from) + " => " + to, explains};
  }
  return best;
}

}  // namespace ckpt
