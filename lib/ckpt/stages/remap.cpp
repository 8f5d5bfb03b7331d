#include "ckpt/stages/remap.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt {
namespace {

/// The name that the rules make of `name`; `fired` gets the rules that matched.
std::string apply(std::string name, const std::vector<Rule>& rules, std::vector<std::size_t>& fired) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    auto [renamed, count] = rules[i].replacement.replace_all(name, rules[i].pattern);
    if (count == 0) continue;
    fired.push_back(i);
    name = std::move(renamed);
  }
  return name;
}

std::string describe(const Renaming& renaming, const std::vector<Rule>& rules) {
  std::string text = printable(renaming.from);
  for (std::size_t i = 0; i < renaming.fired.size(); ++i)
    text += fmt::format("{}`{}`", i == 0 ? " by " : ", ", printable(rules[renaming.fired[i]].text));
  return text;
}

}  // namespace

void require_unique_names(const Checkpoint& checkpoint,
                          const std::function<std::string(std::size_t)>& came_from) {
  std::unordered_map<std::string_view, std::size_t> seen;
  seen.reserve(checkpoint.tensors.size());
  for (std::size_t i = 0; i < checkpoint.tensors.size(); ++i) {
    const auto [other, is_new] = seen.emplace(checkpoint.tensors[i].name, i);
    if (!is_new)
      throw Error(ErrorKind::refused,
                  fmt::format("two tensors become {}: {} and {}", printable(checkpoint.tensors[i].name),
                              came_from(other->second), came_from(i)))
          .in_file(checkpoint.file)
          .with_hint("narrow a rule, or drop one of the two with --exclude");
  }
}

Remapped remap(Checkpoint checkpoint, const std::vector<Rule>& rules) {
  RemapReport report;
  report.hits.resize(rules.size());
  report.names.reserve(checkpoint.tensors.size());
  for (Tensor& tensor : checkpoint.tensors) {
    Renaming renaming{.from = tensor.name, .to = {}, .fired = {}};
    renaming.to = apply(tensor.name, rules, renaming.fired);
    for (const std::size_t rule : renaming.fired) ++report.hits[rule];
    if (renaming.to.empty() && !renaming.from.empty())
      throw Error(ErrorKind::refused, fmt::format("nothing is left of {}", describe(renaming, rules)))
          .in_file(checkpoint.file)
          .with_hint("narrow the rule, or drop the tensor with --exclude");
    tensor.name = renaming.to;
    std::vector<std::size_t> again;
    if (!renaming.fired.empty() && apply(renaming.to, rules, again) != renaming.to)
      report.unstable.push_back(renaming.to);
    report.names.push_back(std::move(renaming));
  }
  std::vector<std::size_t> ignored;
  for (Refused& refused : checkpoint.refused) refused.name = apply(refused.name, rules, ignored);
  require_unique_names(checkpoint, [&](std::size_t i) { return describe(report.names[i], rules); });
  return {std::move(checkpoint), std::move(report)};
}

std::string strip_wrappers(std::string_view name) {
  constexpr std::array<std::string_view, 2> wrappers{"module", "_orig_mod"};
  std::string out;
  while (true) {
    const std::size_t dot = name.find('.');
    const std::string_view segment = name.substr(0, dot);
    // The last segment is the tensor itself.
    const bool is_wrapper =
        dot != std::string_view::npos && std::ranges::find(wrappers, segment) != wrappers.end();
    if (!is_wrapper) out += name.substr(0, dot == std::string_view::npos ? dot : dot + 1);
    if (dot == std::string_view::npos) return out;
    name.remove_prefix(dot + 1);
  }
}

Checkpoint strip_wrappers(Checkpoint checkpoint, std::uint64_t& stripped) {
  std::vector<std::string> before;
  before.reserve(checkpoint.tensors.size());
  for (Tensor& tensor : checkpoint.tensors) {
    before.push_back(tensor.name);
    tensor.name = strip_wrappers(tensor.name);
    if (tensor.name != before.back()) ++stripped;
  }
  for (Refused& refused : checkpoint.refused) refused.name = strip_wrappers(refused.name);
  require_unique_names(checkpoint,
                       [&](std::size_t i) { return printable(before[i]) + " by --strip-wrappers"; });
  return checkpoint;
}

}  // namespace ckpt
