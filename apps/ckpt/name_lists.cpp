#include "name_lists.hpp"

#include <algorithm>
#include <unordered_map>

#include "ckpt/core/quoted.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/io/file.hpp"
#include "ckpt/stages/modules.hpp"
#include "ckpt/stages/rule.hpp"
#include "pipeline.hpp"

namespace ckpt {
namespace {

bool is_lock_file(const std::string& path) {
  if (path == "-") return false;
  const Bytes bytes = open_input(path)->bytes();
  constexpr std::uint64_t enough = 32;
  if (!bytes) return false;
  const std::vector<std::byte> head = read_range(*bytes, 0, std::min(bytes->size(), enough));
  return is_lock(as_text(head));
}

}  // namespace

std::vector<NamedShape> named_shapes(const Checkpoint& checkpoint) {
  std::vector<NamedShape> names;
  names.reserve(checkpoint.tensors.size());
  for (const Tensor& tensor : checkpoint.tensors) names.push_back({tensor.name, tensor.dtype, tensor.shape});
  return names;
}

std::optional<Lock> read_lock(const std::string& path) {
  if (!is_lock_file(path)) return std::nullopt;
  try {
    return parse_lock(read_text(path), [](std::string_view kind) {
      const ModuleKind* found = find_kind(kind);
      return found != nullptr && found->name != "none";
    });
  } catch (Error& error) {
    throw error.in_file(path);
  }
}

ApplyRules rule_applier() {
  return [](const std::vector<std::string>& texts, std::vector<std::string> names) {
    std::vector<Rule> rules;
    for (const std::string& text : texts) rules.push_back(parse_rule(text));
    for (std::string& name : names)
      for (const Rule& rule : rules) name = rule.replacement.replace_all(name, rule.pattern).first;
    return names;
  };
}

NameTarget read_name_target(const std::string& path, const Checkpoint& source, const Talk& talk) {
  Prepared target;
  target.checkpoint = load_like(path);
  const Convention there = convention_of(target.checkpoint);
  const Convention here = convention_of(source);
  const Direction back = default_direction(there, here);
  if (back == Direction::none) return {.names = named_shapes(target.checkpoint)};
  std::vector<NamedShape> plain = named_shapes(target.checkpoint);
  try {
    adapt_names(target, back);
    if (const std::vector<std::string>& guessed = target.layout.guessed; !guessed.empty())
      talk.warn(path, fmt::format("the kind of {} is undecided, and guessed for names only: {}",
                                  count(guessed.size(), "module"), first_names(guessed)));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::refused) throw;
    talk.warn(path, fmt::format("its names are taken as they are: {}", error.message()));
    return {.names = std::move(plain)};
  }
  talk.report(fmt::format("adapter: {} on {}, as convert turns it back after the rules", direction_name(back),
                          printable(path)));
  return {.names = named_shapes(target.checkpoint), .adapter = default_direction(here, there)};
}

std::string name_map_text(const NameMap& map, std::string_view source) {
  std::string text = fmt::format("# names of {}\n", printable(source));
  for (const auto& [from, to] : map) text += fmt::format("{} => {}\n", word(from), word(to));
  return text;
}

NameMap parse_name_map(std::string_view text, std::string_view file) {
  NameMap map;
  std::unordered_map<std::string, std::size_t> seen;
  for (const NumberedLine& line : rule_lines(text)) {
    std::string_view rest = line.text;
    const std::optional<std::string> from = take_word(rest);
    const std::optional<std::string> arrow = take_word(rest);
    const std::optional<std::string> to = take_word(rest);
    const auto fault = [&](std::string what) {
      return Error(ErrorKind::usage, fmt::format("line {}: {}", line.number, what)).in_file(file);
    };
    if (!from || arrow != "=>" || !to || !rest.empty())
      throw fault(fmt::format("`{}` is not OLD => NEW", printable(line.text)))
          .with_hint("names with blanks are JSON strings; rules go to --remap");
    if (const auto [other, is_new] = seen.emplace(*from, line.number); !is_new)
      throw fault(fmt::format("{} stands in line {} already", printable(*from), other->second));
    map.emplace_back(*from, *to);
  }
  return map;
}

NameMap inverted(NameMap map, std::string_view file) {
  std::unordered_map<std::string, std::string> seen;
  for (auto& [from, to] : map) {
    std::swap(from, to);
    if (const auto [other, is_new] = seen.emplace(from, to); !is_new)
      throw Error(ErrorKind::usage, fmt::format("has no inverse: {} and {} both become {}",
                                                printable(other->second), printable(to), printable(from)))
          .in_file(file);
  }
  return map;
}

}  // namespace ckpt
