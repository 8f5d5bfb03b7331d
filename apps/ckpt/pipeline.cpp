#include "pipeline.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/format.hpp"
#include "ckpt/io/file.hpp"
#include "ckpt/stages/filter.hpp"
#include "ckpt/stages/root.hpp"

namespace ckpt {
namespace {

/// Whether a checkpoint that begins so can be listed without its end: its header comes first.
bool is_listed_from_its_head(std::span<const std::byte> head) {
  for (const Format& format : format_table())
    if (format.recognise(head, UINT64_MAX)) return format.is_header_first;
  return false;
}

}  // namespace

Checkpoint load(const std::string& path) {
  const std::unique_ptr<Input> input =
      path == "-" ? open_standard_input(is_listed_from_its_head) : open_input(path);
  return read_checkpoint(*input);
}

Prepared prepare(const std::string& path, const StageOptions::Parsed& options) {
  Prepared prepared;
  Checkpoint checkpoint = load(path);
  prepared.read = checkpoint.tensors.size();
  checkpoint = select_root(std::move(checkpoint), options.top_level_key, prepared.dropped);
  checkpoint = filter(std::move(checkpoint), options.filters, prepared.dropped);
  std::vector<std::string> names;
  for (const Tensor& tensor : checkpoint.tensors) names.push_back(tensor.name);
  if (options.strip_wrappers) checkpoint = strip_wrappers(std::move(checkpoint), prepared.unwrapped);
  Remapped remapped = remap(std::move(checkpoint), options.rules);
  prepared.checkpoint = std::move(remapped.checkpoint);
  prepared.remap = std::move(remapped.report);
  // Reports tell the name in the file, not the one without wrappers.
  for (std::size_t i = 0; i < names.size(); ++i) prepared.remap.names[i].from = std::move(names[i]);

  for (std::size_t i = 0; i < options.rules.size(); ++i) {
    if (prepared.remap.hits[i] > 0) continue;
    const std::string text = fmt::format("the rule `{}` matched no name", printable(options.rules[i].text));
    if (options.strict_rules)
      throw Error(ErrorKind::usage, text)
          .in_file(path)
          .with_hint(fmt::format("names are listed by: ckpt inspect {}", path));
    prepared.warnings.push_back(text);
  }
  if (!prepared.remap.unstable.empty())
    prepared.warnings.push_back(fmt::format(
        "applied twice, the rules would change {} again, {} first: anchor them with ^",
        count(prepared.remap.unstable.size(), "name"), printable(prepared.remap.unstable.front())));
  return prepared;
}

void adapt(Prepared& prepared, Direction direction, const std::vector<KindRule>& kinds) {
  LaidOut laid_out = lay_out(std::move(prepared.checkpoint), direction, kinds);
  prepared.checkpoint = std::move(laid_out.checkpoint);
  prepared.layout = std::move(laid_out.report);
  std::vector<std::string> by_name;
  for (const KindDecision& decision : prepared.layout.decisions)
    if (decision.strength == Strength::name)
      by_name.push_back(fmt::format("{} ({})", decision.path.empty() ? "." : printable(decision.path),
                                    decision.kind->name));
  if (by_name.empty()) return;
  const std::size_t shown = std::min<std::size_t>(by_name.size(), 5);
  prepared.warnings.push_back(
      fmt::format("the kind of {} rests on its name alone: {}{}; --explain shows all, --module settles them",
                  count(by_name.size(), "module"),
                  fmt::join(by_name.begin(), by_name.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                  by_name.size() > shown ? ", …" : ""));
}

Convention convention_of(const Checkpoint& checkpoint) {
  const Format* format = find_format(checkpoint.format);
  return format != nullptr ? format->convention : Convention::either;
}

Direction default_direction(Convention from, Convention to) {
  if (from == Convention::pytorch && to == Convention::burn) return Direction::pytorch_to_burn;
  if (from == Convention::burn && to == Convention::pytorch) return Direction::burn_to_pytorch;
  return Direction::none;
}

void print_oddities(const Checkpoint& checkpoint, const Talk& talk) {
  for (const std::string& text : checkpoint.hidden) talk.warn(checkpoint.file, printable(text));
  for (const std::string& note : checkpoint.notes) talk.warn(checkpoint.file, printable(note));
}

void print_warnings(const Prepared& prepared, const Talk& talk) {
  print_oddities(prepared.checkpoint, talk);
  for (const std::string& warning : prepared.warnings) talk.warn(prepared.checkpoint.file, warning);
}

void require_deliverable(const Checkpoint& checkpoint) {
  if (checkpoint.refused.empty()) return;
  std::vector<std::string> names;
  for (const Refused& refused : checkpoint.refused)
    if (names.size() < 5)
      names.push_back(fmt::format("{} ({})", printable(refused.name), printable(refused.what)));
  throw Error(ErrorKind::refused,
              fmt::format("{} cannot be converted: {}{}", count(checkpoint.refused.size(), "tensor"),
                          fmt::join(names, ", "), checkpoint.refused.size() > names.size() ? ", …" : ""))
      .in_file(checkpoint.file)
      .with_hint("leave them out with --exclude, or choose others with --include");
}

Value rules_json(const RemapReport& report, const std::vector<Rule>& rules) {
  Value all = Value::array();
  for (std::size_t i = 0; i < rules.size(); ++i)
    all.push(Value::object().set("rule", rules[i].text).set("hits", report.hits[i]));
  return all;
}

Value strings_json(const std::vector<std::string>& strings) {
  Value all = Value::array();
  for (const std::string& text : strings) all.push(text);
  return all;
}

}  // namespace ckpt
