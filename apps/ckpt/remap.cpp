#include "ckpt/codec/json.hpp"
#include "ckpt/core/text.hpp"
#include "command.hpp"
#include "writing.hpp"

namespace ckpt {
namespace {

struct Remap {
  std::string input, output;
  StageOptions stages;
  WriteOptions writing;
  TalkOptions talk;
  bool json = false;
  bool explain = false;
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
    for (const std::size_t rule : renaming.fired) fired.push(static_cast<std::uint64_t>(rule));
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

ExitStatus run(const Remap& options) {
  const Talk talk(options.talk);
  const StageOptions::Parsed stages = options.stages.parse();
  if (options.output.empty()) {
    const Prepared prepared = prepare(options.input, stages);
    print_warnings(prepared, talk);
    if (options.json) fmt::print("{}\n", json::dump(preview_json(options, prepared, stages.rules), 1));
    else print_preview(prepared, stages.rules, Paint(options.talk, stdout));
    return ExitStatus::done;
  }
  require_other_file(options.input, options.output);
  Prepared prepared = prepare(options.input, stages);
  require_deliverable(prepared.checkpoint);
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
  const std::uint64_t size = write_checkpoint(prepared, format, options.output, options.writing, talk).size;
  print_warnings(prepared, talk);
  if (options.json) {
    Value doc = preview_json(options, prepared, stages.rules);
    doc.set("output", options.output).set("size", size).set("dry_run", options.writing.dry_run);
    fmt::print("{}\n", json::dump(doc, 1));
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
  options->writing.add(app);
  app.add_flag("--explain", options->explain,
               "When writing: one line a tensor, what was done, by which rule");
  app.add_flag("--json", options->json, "One JSON document on standard output");
  options->talk.add(app);
  app.footer(
      "Examples:\n"
      "  ckpt remap model.safetensors --remap rules.txt\n"
      "  ckpt remap model.safetensors --rename '^model\\. => ' --rename '\\.self_attn\\. => .attn.'\n"
      "  ckpt remap model.safetensors renamed.safetensors --remap rules.txt");
  return [options] { return run(*options); };
}

}  // namespace ckpt
