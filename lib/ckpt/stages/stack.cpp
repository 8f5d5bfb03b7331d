#include "ckpt/stages/stack.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/ranges.h>

#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/stages/kinds.hpp"
#include "ckpt/stages/names.hpp"
#include "ckpt/stages/remap.hpp"

namespace ckpt {
namespace {

// More parts than any model has; the shapes of a hostile file may say anything.
constexpr std::uint64_t most_parts = 1U << 20U;

[[noreturn]] void refuse(const Checkpoint& checkpoint, std::string what, std::string hint = {}) {
  Error error(ErrorKind::refused, std::move(what));
  error.in_file(checkpoint.file);
  if (!hint.empty()) error.with_hint(std::move(hint));
  throw error;
}

std::string tensors_text(std::size_t number) {
  return number == 1 ? "1 tensor" : fmt::format("{} tensors", number);
}

/// The tensors that become one, by their index.
using Members = std::map<std::uint64_t, std::size_t>;

void require_complete(const Checkpoint& checkpoint, const std::string& name, const Members& members) {
  constexpr std::size_t shown = 10;
  std::vector<std::uint64_t> missing;
  std::uint64_t next = 0;
  for (const auto& [index, tensor] : members) {
    for (; next < index && missing.size() < shown; ++next) missing.push_back(next);
    next = index + 1;
  }
  if (!missing.empty())
    refuse(checkpoint,
           fmt::format("--stack: {} lacks index {}{} of 0 to {}", printable(name), fmt::join(missing, ", "),
                       missing.size() == shown ? ", …" : "", members.rbegin()->first),
           "a stack with a hole would give every later part another index");
}

/// The tensor with a first dimension of 1.
Tensor with_first_dimension(Tensor tensor) {
  tensor.shape.insert(tensor.shape.begin(), 1);
  if (tensor.view.strides) tensor.view.strides->insert(tensor.view.strides->begin(), 0);
  return tensor;
}

Tensor without_first_dimension(Tensor tensor) {
  tensor.shape.erase(tensor.shape.begin());
  if (tensor.view.strides) tensor.view.strides->erase(tensor.view.strides->begin());
  return tensor;
}

/// Whether what was noted of a stack is true of each of its parts.
bool holds_for_parts(const Tensor& stack) {
  const ModuleKind* kind = find_kind(stack.recorded_kind);
  return stack.shape.size() == 3 && kind != nullptr && is_matrix_kind(*kind);
}

/// Notes of a stack what is noted of all its parts. Throws `refused` where that would be lost: the way back
/// has to know whether the layout transposed the parts.
void note_kinds(Checkpoint& checkpoint, const std::vector<Edit>& stacks) {
  constexpr std::string_view transposed = "Linear";
  const std::unordered_map<std::string, std::string> kinds = recorded_kinds(checkpoint);
  std::unordered_set<std::string> noted;
  std::string text;
  for (const Edit& stack : stacks) {
    const auto kind_of = [&](std::string_view name) {
      const auto found = kinds.find(std::string(module_path(name)));
      return found == kinds.end() ? std::string() : found->second;
    };
    const std::string kind = kind_of(stack.from.front());
    for (const std::string& name : stack.from)
      if (const std::string other = kind_of(name);
          other != kind && (other == transposed || kind == transposed))
        refuse(checkpoint,
               fmt::format("--stack: {} is {}, but {} is {}", printable(stack.from.front()),
                           kind.empty() ? "of no known kind" : kind + "'s", printable(name),
                           other.empty() ? "of no known kind" : other + "'s"),
               "stack what is laid out alike");
    const bool is_of_all = std::ranges::all_of(stack.from, [&](const std::string& name) {
      return kind_of(name) == kind && leaf_name(name) == leaf_name(stack.name);
    });
    if (kind == transposed && !is_of_all)
      refuse(checkpoint,
             fmt::format(
                 "--stack: as {} nothing would tell that its parts are those of {}s, which the layouts keep "
                 "the other way round",
                 printable(stack.name), kind),
             fmt::format("let its name end as theirs do: {}",
                         printable(join_path(stack.name, leaf_name(stack.from.front())))));
    if (!kind.empty() && is_of_all && kind_of(stack.name).empty() &&
        noted.insert(std::string(module_path(stack.name))).second)
      text += fmt::format("{} => {}\n", module_path(stack.name), kind);
  }
  if (!text.empty()) checkpoint.metadata[std::string(kinds_key)] += text;
}

/// Where a tensor of the result comes from, for an error.
std::string made_by(std::string_view option, const Rule& rule, std::string_view from) {
  return fmt::format("{} by {} '{}'", printable(from), option, printable(rule.text));
}

Rule parse_with_hint(std::string_view line, std::string_view option, std::string_view example) {
  try {
    return parse_rule(line);
  } catch (Error& error) {
    throw error.in(std::string(option)).with_hint(fmt::format("as in {} '{}'", option, example));
  }
}

}  // namespace

Rule parse_stack_rule(std::string_view line) {
  constexpr std::string_view example = "experts\\.(\\d+)\\.w1 => experts.w1";
  Rule rule = parse_with_hint(line, "--stack", example);
  if (rule.pattern.group_count() == 0)
    throw Error(ErrorKind::usage, fmt::format("--stack: `{}` has no group for the index", printable(line)))
        .with_hint(fmt::format("as in --stack '{}'", example));
  return rule;
}

Rule parse_unstack_rule(std::string_view line) {
  constexpr std::string_view example = "experts\\.w1 => experts.#.w1";
  Rule rule = parse_with_hint(line, "--unstack", example);
  if (split_rule(line).right.find('#') == std::string::npos)
    throw Error(ErrorKind::usage, fmt::format("--unstack: `{}` has no # for the index", printable(line)))
        .with_hint(fmt::format("as in --unstack '{}'", example));
  return rule;
}

Edited stack(Checkpoint checkpoint, const Rule& rule) {
  EditReport report;
  std::vector<std::optional<std::string>> goal(checkpoint.tensors.size());
  std::unordered_map<std::string, Members> groups;
  for (std::size_t i = 0; i < checkpoint.tensors.size(); ++i) {
    const std::string& name = checkpoint.tensors[i].name;
    const std::optional<Regex::Match> match = rule.pattern.find(name);
    if (!match) continue;
    std::uint64_t index = 0;
    const auto group = match->at(1);
    const char* begin = group ? name.data() + group->first : nullptr;
    const char* end = group ? name.data() + group->second : nullptr;
    const auto [stop, error] = std::from_chars(begin, end, index);
    if (!group || error != std::errc() || stop != end)
      refuse(checkpoint,
             fmt::format("--stack: group 1 of `{}` is no index in {}", printable(rule.text), printable(name)),
             "write (\\d+) where the index stands");
    goal[i] = rule.replacement.replace_all(name, rule.pattern).first;
    const auto [other, is_new] = groups[*goal[i]].emplace(index, i);
    if (!is_new)
      refuse(checkpoint,
             fmt::format("--stack: index {} of {} would be both {} and {}", index, printable(*goal[i]),
                         printable(checkpoint.tensors[other->second].name), printable(name)));
  }
  if (groups.empty())
    refuse(checkpoint, fmt::format("--stack '{}' matched no tensor", printable(rule.text)),
           "names are matched as the result has them");
  std::vector<Tensor> result;
  std::vector<std::string> origins;  // of each
  for (std::size_t i = 0; i < checkpoint.tensors.size(); ++i) {
    if (!goal[i]) {
      result.push_back(checkpoint.tensors[i]);
      origins.push_back(printable(result.back().name));
      continue;
    }
    const auto found = groups.find(*goal[i]);
    if (found == groups.end()) continue;  // made where its first part stood
    const Members members = std::move(found->second);
    groups.erase(found);
    require_complete(checkpoint, *goal[i], members);
    Edit edit{*goal[i], {}, fmt::format("stacked from {}", members.size())};
    std::vector<Tensor> pieces;
    for (const auto& [index, at] : members) {
      const Tensor& part = checkpoint.tensors[at];
      const Tensor& first = checkpoint.tensors[members.begin()->second];
      if (part.shape != first.shape || part.dtype != first.dtype)
        refuse(checkpoint, fmt::format("--stack: {} is {} {}, but {} is {} {}", printable(first.name),
                                       name(first.dtype), to_string(first.shape), printable(part.name),
                                       name(part.dtype), to_string(part.shape)));
      if (!part.pieces.empty())
        refuse(checkpoint, fmt::format("--stack: {} is itself stacked", printable(part.name)));
      edit.from.push_back(part.name);
      pieces.push_back(with_first_dimension(part));
    }
    report.merged += pieces.size() - 1;
    Tensor whole = joined(*goal[i], std::move(pieces));
    forget_module(whole);
    result.push_back(std::move(whole));
    origins.push_back(made_by("--stack", rule, edit.from.front()));
    report.edits.push_back(std::move(edit));
  }
  checkpoint.tensors = std::move(result);
  note_kinds(checkpoint, report.edits);
  require_unique_names(checkpoint, [&](std::size_t i) { return origins[i]; });
  report.summary = fmt::format("stacked: {} into {}", tensors_text(report.merged + report.edits.size()),
                               report.edits.size());
  return {std::move(checkpoint), std::move(report)};
}

Edited unstack(Checkpoint checkpoint, const Rule& rule) {
  EditReport report;
  std::vector<Tensor> result;
  std::vector<std::string> origins;  // of each
  std::size_t stacks = 0;
  for (const Tensor& tensor : checkpoint.tensors) {
    if (!rule.pattern.matches(tensor.name)) {
      result.push_back(tensor);
      origins.push_back(printable(tensor.name));
      continue;
    }
    if (tensor.shape.empty() || !tensor.pieces.empty() || element_size(tensor.view.stored) == 0 ||
        info(tensor.dtype).kind == DTypeClass::quantized ||
        tensor.shape.front() > most_parts - report.edits.size())
      refuse(checkpoint, fmt::format("--unstack: tensor {} {} {} cannot be cut into parts",
                                     printable(tensor.name), name(tensor.dtype), to_string(tensor.shape)));
    const std::string pattern = rule.replacement.replace_all(tensor.name, rule.pattern).first;
    const std::size_t mark = pattern.find('#');
    const std::uint64_t parts = tensor.shape.front();
    if (parts == 0)
      refuse(checkpoint, fmt::format("--unstack: tensor {} {} has no parts", printable(tensor.name),
                                     to_string(tensor.shape)));
    ++stacks;
    for (std::uint64_t i = 0; i < parts; ++i) {
      Tensor part = without_first_dimension(rows(tensor, i, 1));
      part.name = pattern.substr(0, mark) + std::to_string(i) + pattern.substr(mark + 1);
      part.param_id.reset();
      part.module_class.clear();
      if (!holds_for_parts(tensor)) part.recorded_kind.clear();
      report.edits.push_back({part.name, {tensor.name}, fmt::format("part {} of {}", i, parts)});
      result.push_back(std::move(part));
      origins.push_back(made_by("--unstack", rule, tensor.name));
    }
    report.split += parts - 1;
  }
  if (stacks == 0)
    refuse(checkpoint, fmt::format("--unstack '{}' matched no tensor", printable(rule.text)),
           "names are matched after --rename");
  checkpoint.tensors = std::move(result);
  require_unique_names(checkpoint, [&](std::size_t i) { return origins[i]; });
  report.summary = fmt::format("unstacked: {} into {}", tensors_text(stacks), report.edits.size());
  return {std::move(checkpoint), std::move(report)};
}

}  // namespace ckpt
