#include "pipeline.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ckpt/core/error.hpp"
#include "ckpt/core/places.hpp"
#include "ckpt/core/quoted.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/format.hpp"
#include "ckpt/io/file.hpp"
#include "ckpt/kernels/cast.hpp"
#include "ckpt/report/infer.hpp"
#include "ckpt/report/names.hpp"
#include "ckpt/stages/cast.hpp"
#include "ckpt/stages/filter.hpp"
#include "ckpt/stages/renumber.hpp"
#include "ckpt/stages/root.hpp"
#include "ckpt/stages/ties.hpp"
#include "name_lists.hpp"

namespace ckpt {
Checkpoint load(const std::string& path, bool is_listed) {
  // A pipe that begins like nothing that is known may never end.
  const auto is_enough = [&](std::span<const std::byte> head) {
    try {
      return recognise_head("", head, UINT64_MAX).is_header_first && is_listed;
    } catch (Error& error) {
      throw error.in_file("standard input");
    }
  };
  const std::unique_ptr<Input> input = path == "-" ? open_standard_input(is_enough) : open_input(path);
  return read_checkpoint(*input);
}

Checkpoint filter_some(Checkpoint checkpoint, const Filters& filters, std::vector<std::string>& dropped) {
  const auto is_empty = [&] { return checkpoint.tensors.empty() && checkpoint.refused.empty(); };
  const bool was_empty = is_empty();
  checkpoint = filter(std::move(checkpoint), filters, dropped);
  if (is_empty() && !was_empty)
    throw Error(ErrorKind::refused, "no tensor is left: --include and --exclude drop every one")
        .in_file(checkpoint.file)
        .with_hint("names are listed by: ckpt inspect " + shell_word(checkpoint.file));
  return checkpoint;
}

Prepared prepare(const std::string& path, const StageOptions::Parsed& options) {
  return prepare(load(path), options);
}

void keep_source(Prepared& prepared) {
  if (prepared.source) return;
  auto source = std::make_shared<Checkpoint>();
  source->file = prepared.checkpoint.file;
  source->tensors.reserve(prepared.checkpoint.tensors.size());
  for (Tensor& tensor : prepared.checkpoint.tensors) {
    tensor.origin = static_cast<std::uint32_t>(source->tensors.size());
    source->tensors.push_back({.name = tensor.name,
                               .dtype = tensor.dtype,
                               .shape = tensor.shape,
                               .module_class = tensor.module_class,
                               .recorded_kind = tensor.recorded_kind});
  }
  prepared.source = std::move(source);
}

Prepared prepare(Checkpoint checkpoint, const StageOptions::Parsed& options) {
  Prepared prepared;
  const std::string path = checkpoint.file;
  checkpoint = take_recorded_kinds(std::move(checkpoint));
  prepared.read = checkpoint.tensors.size();
  if (checkpoint.tensors.empty() && checkpoint.refused.empty() && checkpoint.scalars.empty())
    prepared.warnings.emplace_back("there are no tensors in it");
  checkpoint = select_root(std::move(checkpoint), options.top_level_key, prepared.dropped);
  prepared.checkpoint = std::move(checkpoint);
  if (options.changes_names()) keep_source(prepared);
  checkpoint = filter_some(std::move(prepared.checkpoint), options.filters, prepared.dropped);
  std::vector<std::string> names;
  for (const Tensor& tensor : checkpoint.tensors) names.push_back(tensor.name);
  if (options.strip_wrappers) checkpoint = strip_wrappers(std::move(checkpoint), prepared.unwrapped);
  Remapped remapped = remap(std::move(checkpoint), options.rules);
  prepared.checkpoint = std::move(remapped.checkpoint);
  prepared.remap = std::move(remapped.report);
  if (options.renumber) {
    Remapped renumbered = renumber(std::move(prepared.checkpoint));
    prepared.checkpoint = std::move(renumbered.checkpoint);
    for (std::size_t i = 0; i < renumbered.report.names.size(); ++i)
      prepared.remap.names[i].to = std::move(renumbered.report.names[i].to);
  }
  // Reports tell the name in the file, not the one without wrappers.
  for (std::size_t i = 0; i < names.size(); ++i) prepared.remap.names[i].from = std::move(names[i]);

  for (std::size_t i = 0; i < options.rules.size(); ++i) {
    if (prepared.remap.hits[i] > 0) continue;
    const std::string text = fmt::format("the rule `{}` matched no name", printable(options.rules[i].text));
    if (options.strict_rules)
      throw Error(ErrorKind::usage, text)
          .in_file(path)
          .with_hint("names are listed by: ckpt inspect " + shell_word(path));
    prepared.warnings.push_back(text);
  }
  if (!prepared.remap.unstable.empty())
    prepared.warnings.push_back(fmt::format(
        "applied twice, the rules would change {} again, {} first: anchor them with ^",
        count(prepared.remap.unstable.size(), "name"), printable(prepared.remap.unstable.front())));
  return prepared;
}

void adapt(Prepared& prepared, Direction direction, const std::vector<KindRule>& kinds,
           const Target* target) {
  LaidOut laid_out = lay_out(std::move(prepared.checkpoint), direction, kinds, target, prepared.source.get());
  prepared.checkpoint = std::move(laid_out.checkpoint);
  prepared.layout = std::move(laid_out.report);
  if (direction == Direction::none) {
    prepared.checkpoint = put_recorded_kinds(std::move(prepared.checkpoint));
    for (const Tensor& tensor : prepared.checkpoint.tensors)
      prepared.steps.push_back({tensor.name, {tensor.name}, "unchanged", no_decision});
  } else {
    prepared.steps = std::move(prepared.layout.steps);
  }
  // Where the target alone is laid out, kinds are those of its modules.
  const bool are_for_target = target != nullptr && is_laid_out_alone(*target, direction);
  for (const KindRule& rule : kinds)
    if (!are_for_target && std::ranges::none_of(prepared.layout.decisions, [&](const KindDecision& d) {
          return rule.path.matches(d.path);
        }))
      prepared.warnings.push_back(fmt::format(
          "--module '{}' {}", printable(rule.text),
          direction == Direction::none ? "says nothing where no adapter runs" : "matched no module"));
  std::vector<std::string> by_name;
  std::vector<std::string> contrary;
  for (const KindDecision& decision : prepared.layout.decisions) {
    const std::string path = decision.path.empty() ? "." : decision.path;
    if (decision.strength == Strength::name)
      by_name.push_back(fmt::format("{} ({})", path, decision.kind->name));
    if (!decision.contrary.empty())
      contrary.push_back(fmt::format("{} ({}, not {})", path, decision.kind->name, decision.contrary));
  }
  if (!by_name.empty())
    prepared.warnings.push_back(
        fmt::format("the kind of {} rests on its name alone: {}; --explain shows all, --module settles them",
                    count(by_name.size(), "module"), first_names(by_name)));
  if (!prepared.layout.idle.empty())
    prepared.warnings.push_back(fmt::format(
        "{} left as {} although --module says what {}, since no tensor has a name of that kind's: {}",
        count(prepared.layout.idle.size(), "module"), prepared.layout.idle.size() == 1 ? "it is" : "they are",
        prepared.layout.idle.size() == 1 ? "it is" : "they are", first_names(prepared.layout.idle)));
  if (!prepared.layout.foreign.empty())
    prepared.warnings.push_back(fmt::format(
        "{} {} weight and bias where burn has gamma and beta: {}; --adapter none where the file is in "
        "PyTorch's layout",
        count(prepared.layout.foreign.size(), "norm"), prepared.layout.foreign.size() == 1 ? "has" : "have",
        first_names(prepared.layout.foreign)));
  if (!contrary.empty())
    prepared.warnings.push_back(fmt::format(
        "{} {} what the file proves under the old name, though the new one says otherwise: {}",
        count(contrary.size(), "module"), contrary.size() == 1 ? "is" : "are", first_names(contrary)));
}

void adapt_names(Prepared& prepared, Direction direction) {
  LaidOut laid_out = lay_out(std::move(prepared.checkpoint), direction, {}, nullptr, prepared.source.get(),
                             Undecided::guessed);
  prepared.checkpoint = std::move(laid_out.checkpoint);
  prepared.layout = std::move(laid_out.report);
}

namespace {

/// What a target wants and does not get, on a few lines: everything at once, so that one run is enough.
std::string describe_misfit(const MatchReport& report) {
  std::vector<std::string> parts;
  const auto list = [&](std::string_view what, const std::vector<std::string>& names) {
    if (names.empty()) return;
    const std::size_t shown = std::min<std::size_t>(names.size(), 10);
    std::string text = fmt::format("{} {}: ", names.size(), what);
    for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + printable(names[i]);
    if (names.size() > shown) text += fmt::format(", and {} more", names.size() - shown);
    parts.push_back(std::move(text));
  };
  list("missing", report.missing);
  std::vector<std::string> shapes;
  for (const Mismatch& mismatch : report.mismatched)
    if (mismatch.is_shape)
      shapes.push_back(fmt::format("{} is {}, not {}", mismatch.name, mismatch.found(), mismatch.wanted()));
  list("of another shape", shapes);
  list("unused", report.unused);
  parts.push_back(percent(report.coverage()) + " of its parameters are covered");
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// The rule that mends the most, or the names that are probably meant.
std::string misfit_hint(const MatchReport& report, const Checkpoint& source, const Target& target,
                        Direction direction) {
  std::vector<NamedShape> missing;
  std::vector<NamedShape> unused;
  std::vector<NamedShape> fitting;
  const std::unordered_set<std::string_view> is_missing(report.missing.begin(), report.missing.end());
  const std::unordered_set<std::string_view> is_unused(report.unused.begin(), report.unused.end());
  for (const TargetTensor& tensor : target.tensors)
    if (is_missing.contains(tensor.name)) missing.push_back({tensor.name, tensor.dtype, tensor.shape});
  for (const Tensor& tensor : source.tensors)
    if (is_unused.contains(tensor.name)) unused.push_back({tensor.name, tensor.dtype, tensor.shape});
  std::unordered_set<std::string_view> is_wanted;
  for (const TargetTensor& tensor : target.tensors) is_wanted.insert(tensor.name);
  for (const Tensor& tensor : source.tensors)
    if (is_wanted.contains(tensor.name)) fitting.push_back({tensor.name, tensor.dtype, tensor.shape});
  std::vector<std::string> hints;
  if (is_laid_out_alone(target, direction)) {
    if (convention_of(source) == Convention::either)
      hints.push_back(fmt::format("--adapter {} where the file is in the layout of {}",
                                  direction_name(target.laid_out), printable(target.file)));
    for (const auto& [one, other] : target.ties_before_layout)
      if (hints.empty() && is_missing.contains(one) != is_missing.contains(other))
        hints.push_back(fmt::format(
            "{} and {} are tied in the layout of {}: convert to a {} with --like first, then that without",
            printable(one), printable(other), printable(target.file),
            target.laid_out == Direction::pytorch_to_burn ? ".pt" : ".bpk"));
  }
  if (const std::optional<BestRule> rule = best_rule(missing, unused, fitting, rule_applier()))
    hints.push_back(fmt::format("--rename {} explains {} of {}", shell_word(rule->text), rule->explained,
                                missing.size()));
  for (std::size_t i = 0;
       i < missing.size() && (i + 1) * unused.size() <= most_comparisons && hints.size() < 6; ++i)
    if (const NamedShape& wanted = missing[i]; const auto meant = did_you_mean(wanted, unused))
      hints.push_back(fmt::format("{} may be {}", printable(wanted.name), printable(unused[*meant].name)));
  if (hints.empty() && !missing.empty()) hints.emplace_back("--allow-missing lets tensors be absent");
  return fmt::format("{}", fmt::join(hints, "; "));
}

}  // namespace

void match_target(Prepared& prepared, const Target& target, const MatchOptions& options) {
  const Checkpoint before = prepared.checkpoint;
  Matched matched = match(std::move(prepared.checkpoint), target, options);
  prepared.match = std::move(matched.report);
  const MatchReport& report = prepared.match;
  const bool has_other_shapes = std::ranges::any_of(report.mismatched, &Mismatch::is_shape);
  if (!report.missing.empty() || has_other_shapes) {
    Error error(ErrorKind::refused, fmt::format("the result does not fit {}: {}", printable(target.file),
                                                describe_misfit(report)));
    error.in_file(before.file).with_hint(misfit_hint(report, before, target, prepared.layout.direction));
    throw error;
  }
  if (matched.checkpoint.tensors.empty() && !before.tensors.empty())
    throw Error(ErrorKind::refused,
                fmt::format("no tensor is left: {} knows none of them", printable(target.file)))
        .in_file(before.file)
        .with_hint(fmt::format("ckpt check {} --like {} tells what does not fit", shell_word(before.file),
                               shell_word(target.file)));
  const QuantisedParts quantised(before, prepared.source.get());
  std::unordered_set<std::string_view> quantised_names;
  for (const Tensor& tensor : before.tensors)
    if (quantised.find(tensor) != nullptr) quantised_names.insert(tensor.name);
  for (const Mismatch& mismatch : report.mismatched)
    prepared.warnings.push_back(fmt::format(
        "{} is {}, the target has {}: {}", printable(mismatch.name), mismatch.found(), mismatch.wanted(),
        quantised_names.contains(mismatch.name) ? "part of a quantised weight, whose numbers mean nothing "
                                                  "without the others; --dequantize makes some of FP8"
                                                : "--dtype casts it"));
  std::unordered_map<std::string, LayoutStep> steps;
  std::vector<LayoutStep> rest;
  for (LayoutStep& step : prepared.steps) {
    if (step.is_dropped) rest.push_back(std::move(step));
    else steps.emplace(step.name, std::move(step));
  }
  prepared.steps.clear();
  prepared.checkpoint = std::move(matched.checkpoint);
  for (const Tensor& tensor : prepared.checkpoint.tensors)
    prepared.steps.push_back(std::move(steps.at(tensor.name)));
  std::ranges::move(rest, std::back_inserter(prepared.steps));
  for (const std::vector<std::string>* names : {&report.unused, &report.unused_allowed})
    prepared.unused.insert(prepared.unused.end(), names->begin(), names->end());
}

void cast_types(Prepared& prepared, const StageOptions::Parsed& options) {
  if (options.casts.rules.empty() && !options.casts.half) return;
  std::vector<KindDecision> decisions = prepared.layout.decisions;
  if (options.casts.half && decisions.empty())
    decisions =
        decide_kinds(prepared.checkpoint,
                     convention_of(prepared.checkpoint) == Convention::burn ? Direction::burn_to_pytorch
                                                                            : Direction::pytorch_to_burn,
                     options.kinds, nullptr, prepared.source.get());
  Cast result = cast(std::move(prepared.checkpoint), options.casts, decisions, prepared.source.get());
  prepared.checkpoint = std::move(result.checkpoint);
  prepared.casts = std::move(result.steps);
  if (!result.of_no_layer.empty())
    prepared.warnings.push_back(
        fmt::format("--half leaves {} alone that belong{} to no layer it knows, as burn does: {}; --dtype "
                    "'REGEX=TYPE' casts them",
                    count(result.of_no_layer.size(), "tensor"), result.of_no_layer.size() == 1 ? "s" : "",
                    first_names(result.of_no_layer)));
  for (const CastRule& rule : options.casts.rules)
    if (rule.name && std::ranges::none_of(prepared.checkpoint.tensors,
                                          [&](const Tensor& t) { return rule.name->matches(t.name); }))
      prepared.warnings.push_back(fmt::format("--dtype '{}' matched no name", printable(rule.text)));
  for (const CastStep& step : prepared.casts) {
    LayoutStep& line = prepared.steps.at(step.tensor);
    const std::string text = fmt::format("cast from {} to {}", name(step.from), name(step.to));
    line.what = line.what == "unchanged" ? text : line.what + ", " + text;
    if (options.require_lossless && !is_exact_cast(step.from, step.to))
      throw Error(ErrorKind::refused,
                  fmt::format("tensor {}: the {} may change its numbers, and --require lossless forbids that",
                              printable(line.name), text))
          .in_file(prepared.checkpoint.file)
          .with_hint("leave out --dtype or --half for it, or leave out --require lossless");
  }
}

Checkpoint load_like(const std::string& path) {
  const std::optional<Lock> lock = read_lock(path);
  if (!lock) return prepare(path, {}).checkpoint;
  Checkpoint checkpoint;
  try {
    checkpoint = locked_checkpoint(*lock);
  } catch (Error& error) {
    throw error.in_file(path);
  }
  checkpoint.file = path;
  if (!lock->layout.empty()) checkpoint.metadata.emplace(layout_key, lock->layout);
  return checkpoint;
}

Convention convention_of(const Checkpoint& checkpoint) {
  const Format* format = find_format(checkpoint.format);
  if (format != nullptr && format->convention != Convention::either) return format->convention;
  // An earlier conversion may have noted it.
  const auto note = checkpoint.metadata.find(std::string(layout_key));
  if (note == checkpoint.metadata.end()) return Convention::either;
  return note->second == "burn"      ? Convention::burn
         : note->second == "pytorch" ? Convention::pytorch
                                     : Convention::either;
}

Direction default_direction(Convention from, Convention to) {
  if (from == Convention::pytorch && to == Convention::burn) return Direction::pytorch_to_burn;
  if (from == Convention::burn && to == Convention::pytorch) return Direction::burn_to_pytorch;
  return Direction::none;
}

Way way_of(Direction adapter) {
  switch (adapter) {
    case Direction::pytorch_to_burn:
      return {adapter, Convention::burn};
    case Direction::burn_to_pytorch:
      return {adapter, Convention::pytorch};
    case Direction::none:
      break;
  }
  return {};
}

Way default_way(Convention from, Convention to) { return {default_direction(from, to), to}; }

Target target_of(Checkpoint checkpoint, Convention goal, const std::vector<KindRule>& kinds) {
  const Direction direction = default_direction(convention_of(checkpoint), goal);
  if (direction == Direction::none) return make_target(checkpoint);
  std::vector<std::pair<std::string, std::string>> ties;
  for (const Tie& tie : find_ties(checkpoint))
    ties.emplace_back(checkpoint.tensors[tie.tensor].name, checkpoint.tensors[tie.same_as].name);
  Target target = make_target(lay_out(std::move(checkpoint), direction, kinds).checkpoint);
  target.laid_out = direction;
  target.ties_before_layout = std::move(ties);
  return target;
}

bool is_laid_out_alone(const Target& target, Direction direction) {
  return direction == Direction::none && target.laid_out != Direction::none;
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
  Unfolding unfolding;
  for (const Tensor& tensor : checkpoint.tensors)
    if (const std::string excess = unfolding.excess(tensor); !excess.empty())
      throw Error(ErrorKind::refused, fmt::format("tensor {} {}", printable(tensor.name), excess))
          .in_file(checkpoint.file)
          .with_hint("leave it out with --exclude");
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

void require_own_names(const Prepared& prepared) {
  const Checkpoint& checkpoint = prepared.checkpoint;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < checkpoint.tensors.size(); ++i) {
    const Tensor& tensor = checkpoint.tensors[i];
    const std::string mark = fmt::format("#{}", tensor.number);
    // A name that the file spells as such a one may be given back.
    if (tensor.number != 0 && tensor.name.ends_with(mark) &&
        prepared.remap.names[i].from != tensor.name + mark)
      names.push_back(tensor.name);
  }
  if (names.empty()) return;
  throw Error(ErrorKind::refused,
              fmt::format("the file spells names of different tensors alike; {} with a number behind: {}",
                          names.size() == 1 ? "1 is listed" : fmt::format("{} are listed", names.size()),
                          first_names(names)))
      .in_file(checkpoint.file)
      .with_hint(fmt::format("--rename {} names it otherwise, --exclude {} leaves it out",
                             shell_word(anchored_pattern(names.front()) + " => NAME"),
                             shell_word(anchored_pattern(names.front()))));
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
