#include <unordered_map>
#include <unordered_set>

#include "ckpt/codec/json.hpp"
#include "ckpt/core/quoted.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/stages/renumber.hpp"
#include "command.hpp"
#include "name_lists.hpp"
#include "outputs.hpp"
#include "writing.hpp"

namespace ckpt {
namespace {

struct Remap {
  std::string input, output, infer, map, map_out;
  StageOptions stages;
  WriteOptions writing;
  TalkOptions talk;
  bool json = false;
  bool explain = false;
  bool invert = false;
};

std::string rule_numbers(const Renaming& renaming) {
  std::string text;
  for (const std::size_t rule : renaming.fired)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", rule + 1);
  return text;
}

std::uint64_t changed(const RemapReport& report) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(report.names, [](const Renaming& r) { return r.from != r.to; }));
}

Value preview_json(const Remap& options, const Prepared& prepared, const std::vector<Rule>& rules) {
  Value names = Value::array();
  for (const Renaming& renaming : prepared.remap.names) {
    Value fired = Value::array();
    for (const std::size_t rule : renaming.fired) fired.push(static_cast<std::uint64_t>(rule + 1));
    names.push(
        Value::object().set("old", renaming.from).set("new", renaming.to).set("rules", std::move(fired)));
  }
  Value doc = Value::object();
  doc.set("schema", 1)
      .set("file", options.input)
      .set("names", std::move(names))
      .set("rules", rules_json(prepared.remap, rules))
      .set("changed", changed(prepared.remap))
      .set("warnings", strings_json(prepared.warnings));
  return doc;
}

void print_preview(const Prepared& prepared, const std::vector<Rule>& rules, const Paint& paint) {
  std::vector<std::vector<std::string>> rows{{"old", "new", "rules"}};
  for (const Renaming& renaming : prepared.remap.names)
    rows.push_back({printable(renaming.from), renaming.to == renaming.from ? "=" : printable(renaming.to),
                    rule_numbers(renaming)});
  fmt::print("{}", format_table(rows, {false, false, false}));
  fmt::print("\n{} of {} renamed\n", grouped(changed(prepared.remap)),
             count(prepared.remap.names.size(), "name"));
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string hits = count(prepared.remap.hits[i], "name");
    fmt::print("  {}  {}  {}\n", i + 1, printable(rules[i].text),
               prepared.remap.hits[i] == 0 ? paint.yellow(hits) : paint.dim(hits));
  }
}

Value pairs_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Value all = Value::array();
  for (const auto& [from, to] : pairs) all.push(Value::object().set("old", from).set("new", to));
  return all;
}

Value inference_json(const Remap& options, const Inference& inference, std::size_t names) {
  Value rules = Value::array();
  for (const InferredRule& rule : inference.rules)
    rules.push(Value::object().set("rule", rule.text).set("names", rule.names));
  Value doc = Value::object();
  doc.set("schema", 1)
      .set("file", options.input)
      .set("target", options.infer)
      .set("complete", inference.is_complete())
      .set("names", static_cast<std::uint64_t>(names))
      .set("explained", static_cast<std::uint64_t>(inference.pairs.size()))
      .set("rules", std::move(rules))
      .set("pairs", pairs_json(inference.pairs))
      .set("left_in_source", strings_json(inference.left_in_source))
      .set("left_in_target", strings_json(inference.left_in_target));
  if (inference.is_cut) doc.set("too_many_names", true);
  return doc;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + printable(name);
  return out;
}

/// A rules file: what it explains in comments, then the rules.
void print_inference(const Remap& options, const Inference& inference, std::size_t names) {
  fmt::print("# {} {} {} of {}", count(inference.rules.size(), "rule"),
             inference.rules.size() == 1 ? "explains" : "explain", inference.pairs.size(), names);
  if (!inference.left_in_source.empty()) fmt::print("; left: {}", joined(inference.left_in_source));
  fmt::print("\n");
  if (!inference.left_in_target.empty())
    fmt::print("# without a partner in {}: {}\n", printable(options.infer), joined(inference.left_in_target));
  if (inference.is_cut) fmt::print("# too many names to compare: only equal ones are paired\n");
  // A rule has no spelling for what a terminal would obey: it is shown, and left to --json.
  for (const InferredRule& rule : inference.rules)
    fmt::print("{}{}\n",
               printable(rule.text) == rule.text ? "" : "# only with --json: ", printable(rule.text));
}

/// Names that convert would drop on the way to the target: they need no partner.
std::vector<std::string> dropped_by_adapter(const Prepared& source, Direction direction) {
  if (direction == Direction::none) return {};
  Prepared adapted = source;
  try {
    adapt_names(adapted, direction);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::refused) throw;
    return {};
  }
  return adapted.layout.dropped;
}

/// What rules are to explain: names that the target may have.
std::vector<NamedShape> names_to_explain(const Prepared& source, const NameTarget& target) {
  std::vector<NamedShape> names = named_shapes(source.checkpoint);
  const std::vector<std::string> dropped = dropped_by_adapter(source, target.adapter);
  const std::unordered_set<std::string_view> is_dropped(dropped.begin(), dropped.end());
  std::erase_if(names, [&](const NamedShape& tensor) { return is_dropped.contains(tensor.name); });
  return names;
}

/// Lists that count otherwise are not paired by number; whether their order is the same, a person knows.
void hint_at_renumbering(Prepared source, const NameTarget& target, std::span<const NamedShape> before,
                         std::size_t explained, const Talk& talk) {
  try {
    source.checkpoint = renumber(std::move(source.checkpoint)).checkpoint;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::refused) throw;
    return;
  }
  const std::vector<NamedShape> names = names_to_explain(source, target);
  if (std::ranges::equal(names, before, {}, &NamedShape::name, &NamedShape::name)) return;
  const std::size_t more = infer_rules(names, target.names, rule_applier()).pairs.size();
  if (more > explained)
    talk.report(fmt::format("hint: with --renumber {} of {} are explained, if the lists are in one order",
                            more, names.size()));
}

ExitStatus infer(const Remap& options, const StageOptions::Parsed& stages, const Talk& talk) {
  const Prepared source = prepare(options.input, stages);
  print_warnings(source, talk);
  const NameTarget target = read_name_target(options.infer, source.checkpoint, talk);
  const std::vector<NamedShape> names = names_to_explain(source, target);
  const Inference inference = infer_rules(names, target.names, rule_applier());
  if (options.json) print_json(inference_json(options, inference, names.size()));
  else print_inference(options, inference, names.size());
  if (!inference.is_complete() && !stages.renumber)
    hint_at_renumbering(source, target, names, inference.pairs.size(), talk);
  return inference.is_complete() ? ExitStatus::done : ExitStatus::no;
}

/// --map: exact names instead of patterns, after the rules.
void apply_map(const Remap& options, bool is_strict, Prepared& prepared, const Talk& talk) {
  if (options.map.empty()) return;
  NameMap map = parse_name_map(read_text(options.map), options.map);
  if (options.invert) map = inverted(std::move(map), options.map);
  std::unordered_map<std::string_view, std::string_view> by_name(map.begin(), map.end());
  std::unordered_set<std::string_view> used;
  std::vector<std::string> unknown;
  for (std::size_t i = 0; i < prepared.checkpoint.tensors.size(); ++i) {
    Tensor& tensor = prepared.checkpoint.tensors[i];
    const auto found = by_name.find(tensor.name);
    if (found == by_name.end()) {
      unknown.push_back(tensor.name);
      continue;
    }
    used.insert(found->first);
    tensor.name = found->second;
    prepared.remap.names[i].to = tensor.name;
  }
  require_unique_names(prepared.checkpoint,
                       [&](std::size_t i) { return printable(prepared.remap.names[i].from); });
  std::vector<std::string> idle;
  for (const auto& [from, to] : map)
    if (!used.contains(from)) idle.push_back(from);
  if (!idle.empty()) {
    const std::string text = fmt::format("{} on its left {} no name: {}", count(idle.size(), "name"),
                                         idle.size() == 1 ? "matches" : "match", some_names(idle, talk));
    if (is_strict)
      throw Error(ErrorKind::usage, text)
          .in_file(options.map)
          .with_hint("names are listed by: ckpt inspect " + shell_word(options.input));
    prepared.warnings.push_back(fmt::format("{}: {}", printable(options.map), text));
  }
  if (!unknown.empty())
    prepared.warnings.push_back(
        fmt::format("{} not in {} and kept: {}",
                    unknown.size() == 1 ? "1 name is" : grouped(unknown.size()) + " names are",
                    printable(options.map), some_names(unknown, talk)));
}

/// --map-out: what became of every name. On disk, but without its name yet.
std::unique_ptr<AtomicOutput> write_map(const Remap& options, const Prepared& prepared,
                                        const Interruptible& guard) {
  if (options.map_out.empty() || options.writing.dry_run) return nullptr;
  NameMap map;
  for (const Renaming& renaming : prepared.remap.names) map.emplace_back(renaming.from, renaming.to);
  auto output = std::make_unique<AtomicOutput>(options.map_out, guard.output_options(options.writing.force));
  output->write(as_bytes(name_map_text(map, options.input)));
  output->flush();
  return output;
}

void name_map_file(const Remap& options, AtomicOutput* output, const Prepared& prepared, const Talk& talk) {
  if (output == nullptr) return;
  output->commit();
  talk.report(fmt::format("{}: {}", printable(options.map_out), count(prepared.remap.names.size(), "name")));
}

Prepared prepare_names(const Remap& options, const StageOptions::Parsed& stages, const Talk& talk) {
  Prepared prepared = prepare(options.input, stages);
  apply_map(options, stages.strict_rules, prepared, talk);
  return prepared;
}

ExitStatus run(const Remap& options) {
  const Talk talk(options.talk);
  const StageOptions::Parsed stages = options.stages.parse();
  if (!options.infer.empty()) {
    if (!options.output.empty())
      throw Error(ErrorKind::usage, "--infer prints rules and writes no checkpoint")
          .in_file(options.output)
          .with_hint(
              "save what it prints, without OUT, as rules.txt; then: ckpt remap IN OUT --remap rules.txt");
    return infer(options, stages, talk);
  }
  require_separate({options.input, options.map}, {options.output, options.map_out});
  require_unread(options.stages.files(), {options.output, options.map_out});
  require_own_stream({options.output, options.map_out}, options.json || options.output.empty());
  if (options.output.empty()) {
    const Prepared prepared = prepare_names(options, stages, talk);
    print_warnings(prepared, talk);
    {
      const Interruptible guard;
      name_map_file(options, write_map(options, prepared, guard).get(), prepared, talk);
    }
    if (options.json) print_json(preview_json(options, prepared, stages.rules));
    else print_preview(prepared, stages.rules, Paint(options.talk, stdout));
    return ExitStatus::done;
  }
  Prepared prepared = prepare_names(options, stages, talk);
  require_deliverable(prepared.checkpoint);
  require_own_names(prepared);
  // The format stays what it was: an extension that calls for another is a mistake, not a wish.
  const Format& format = output_format(prepared.checkpoint.format, options.output);
  const Format* named = format_for_extension(options.output);
  if (named != nullptr && named != &format)
    throw Error(ErrorKind::usage, fmt::format("remap keeps the format, {}, and this name calls for {}",
                                              format.name, named->name))
        .in_file(options.output)
        .with_hint("ckpt convert changes the format, and takes the same rules");
  adapt(prepared, Direction::none, {});
  warn_of_losses(prepared, format);
  const Interruptible guard;
  const std::unique_ptr<AtomicOutput> map = write_map(options, prepared, guard);
  const std::uint64_t size = write_checkpoint(prepared, format, options.output, options.writing, talk).size;
  print_warnings(prepared, talk);
  name_map_file(options, map.get(), prepared, talk);
  if (options.json) {
    Value doc = preview_json(options, prepared, stages.rules);
    doc.set("output", options.output).set("size", size).set("dry_run", options.writing.dry_run);
    print_json(doc);
    return ExitStatus::done;
  }
  talk.report(fmt::format("{} -> {}: {}, {}{}", printable(options.input), printable(options.output),
                          format.name, human_size(size),
                          options.writing.dry_run ? " (dry run: nothing was written)" : ""));
  print_account(prepared, stages, options.explain, talk);
  return ExitStatus::done;
}

}  // namespace

std::function<ExitStatus()> add_remap(CLI::App& app) {
  const auto options = std::make_shared<Remap>();
  app.add_option("IN", options->input, "A checkpoint of any format; - is standard input")->required();
  app.add_option("OUT", options->output,
                 "Write the renamed checkpoint, in the same format; without it, only show");
  options->stages.add_choice(app);
  options->stages.add_rename(app);
  CLI::Option* inferred =
      app.add_option("--infer", options->infer,
                     "Print the rules that carry the names to those of TARGET, a checkpoint or a lock file")
          ->type_name("TARGET");
  CLI::Option* map =
      app.add_option("--map", options->map, "Rename by an exact list of OLD => NEW lines")->type_name("FILE");
  app.add_flag("--invert", options->invert, "Use --map the other way round")->needs(map);
  app.add_option("--map-out", options->map_out, "Write the list of OLD => NEW lines")
      ->type_name("FILE")
      ->excludes(inferred);
  map->excludes(inferred);
  options->writing.add(app);
  app.add_flag("--explain", options->explain,
               "When writing: one line a tensor, what was done, by which rule");
  app.add_flag("--json", options->json, "One JSON document on standard output");
  options->talk.add(app);
  app.footer(
      "Examples:\n"
      "  ckpt remap model.safetensors --remap rules.txt\n"
      "  ckpt remap model.safetensors --rename '^model\\. => ' --rename '\\.self_attn\\. => .attn.'\n"
      "  ckpt remap model.safetensors renamed.safetensors --remap rules.txt\n"
      "  ckpt remap hf.safetensors --infer meta.safetensors > rules.txt\n"
      "  ckpt remap model.safetensors renamed.safetensors --remap rules.txt --map-out names.map\n"
      "  ckpt remap renamed.safetensors back.safetensors --map names.map --invert");
  return [options] { return run(*options); };
}

}  // namespace ckpt
