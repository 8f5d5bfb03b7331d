#include "ckpt/codec/json.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/stages/ties.hpp"
#include "command.hpp"
#include "edits.hpp"
#include "write_set.hpp"
#include "writing.hpp"

namespace ckpt {
namespace {

struct Convert {
  std::string input, output, to, shard_size;
  StageOptions stages;
  EditOptions edits;
  WriteOptions writing;
  TalkOptions talk;
  bool json = false;
  bool explain = false;
  bool verify = false;
  bool dedupe = false;
  std::string write_modules;
};

/// PyTorch's archives store a shared tensor once; other formats give every name its own bytes.
void tell_ties(Prepared& prepared, const Format& format) {
  if (format.has_ties) return;
  const std::vector<Tie> ties = find_ties(prepared.checkpoint);
  if (ties.empty()) return;
  const std::vector<Tensor>& tensors = prepared.checkpoint.tensors;
  prepared.warnings.push_back(
      fmt::format("{} tied to others ({} = {}{}): in {} each has its own bytes; --dedupe leaves them out",
                  ties.size() == 1 ? "1 tensor is" : fmt::format("{} tensors are", ties.size()),
                  printable(tensors[ties.front().tensor].name), printable(tensors[ties.front().same_as].name),
                  ties.size() > 1 ? ", …" : "", format.name));
}

ExitStatus run(const Convert& options) {
  const Talk talk(options.talk);
  const StageOptions::Parsed stages = options.stages.parse();
  const EditOptions::Parsed edits = options.edits.parse();
  std::optional<std::uint64_t> shard_limit;
  if (!options.shard_size.empty()) shard_limit = parse_size(options.shard_size, "--shard-size");
  // A set goes into a folder, whose name says nothing of the format.
  const Format& format =
      output_format(shard_limit && options.to.empty() ? "safetensors" : options.to, options.output);
  require_other_file(options.input, options.output);
  if (shard_limit) require_other_folder(options.input, options.output);
  std::optional<AtomicOutput> modules;
  if (!options.write_modules.empty() && !options.writing.dry_run) {
    require_other_file(options.input, options.write_modules);
    require_other_file(options.output, options.write_modules);
    modules.emplace(options.write_modules, AtomicOutput::Options{.replace = options.writing.force});
  }
  WriteOptions writing = options.writing;
  writing.allow_overflow = stages.allow_overflow;

  std::optional<Target> target;

  Prepared prepared = prepare(options.input, stages);
  require_deliverable(prepared.checkpoint);
  const std::string from = prepared.checkpoint.format;
  if (options.dedupe) prepared.checkpoint = drop_ties(std::move(prepared.checkpoint), prepared.dropped);
  else tell_ties(prepared, format);
  edit(prepared, edits);
  const Direction direction =
      stages.adapter.value_or(default_direction(convention_of(prepared.checkpoint), format.convention));
  if (!stages.like.empty()) target = load_target(stages.like, direction, stages.kinds);
  if (target) {
    fit_names(prepared, *target);
    restore_before_layout(prepared, *target);
  }
  adapt(prepared, direction, stages.kinds, target ? &*target : nullptr);
  tell_edits(prepared);
  if (target) restore_after_layout(prepared, *target);
  if (target) match_target(prepared, *target, stages.match);
  cast_types(prepared, stages);
  warn_of_losses(prepared, format);
  const Written written = shard_limit
                              ? write_set(prepared, format, options.output, *shard_limit, writing, talk)
                              : write_checkpoint(prepared, format, options.output, writing, talk);
  if (modules) {
    modules->write(as_bytes(modules_file(prepared.layout.decisions, prepared.checkpoint.file)));
    modules->commit();
  }

  print_warnings(prepared, talk);
  if (options.json) {
    if (options.verify && !writing.dry_run) verify_output(prepared, options.output, talk);
    Value doc = Value::object();
    doc.set("schema", 1)
        .set("input", options.input)
        .set("output", options.output)
        .set("from", from)
        .set("to", format.name);
    doc.set("size", written.size).set("dry_run", options.writing.dry_run);
    Value account = account_json(prepared, stages, options.explain);
    for (auto& [key, value] : *account.as<Value::Object>()) doc.set(key, std::move(value));
    fmt::print("{}\n", json::dump(doc, 1));
    return ExitStatus::done;
  }
  talk.report(fmt::format("{} -> {}: {} to {}, {}{}", printable(options.input), printable(options.output),
                          from, format.name, human_size(written.size),
                          options.writing.dry_run ? " (dry run: nothing was written)" : ""));
  talk.report(
      fmt::format("adapter: {}{}", direction_name(direction), stages.adapter ? "" : " (by the two formats)"));
  print_account(prepared, stages, options.explain, talk);
  print_casts(written.casts, prepared.checkpoint, talk);
  if (options.verify && !writing.dry_run) verify_output(prepared, options.output, talk);
  return ExitStatus::done;
}

}  // namespace

std::function<ExitStatus()> add_convert(CLI::App& app) {
  const auto options = std::make_shared<Convert>();
  app.add_option("IN", options->input, "A checkpoint of any format; - is standard input")->required();
  app.add_option("OUT", options->output, "The file to write; its extension says the format")->required();
  app.add_option("--to", options->to, "The format to write, whatever the extension")->type_name("FORMAT");
  app.add_option("--shard-size", options->shard_size,
                 "Write a sharded set into the folder OUT, at most SIZE a shard (5GB)")
      ->type_name("SIZE");
  options->stages.add_choice(app);
  options->stages.add_rename(app);
  options->stages.add_layout(app);
  app.add_option("--write-modules", options->write_modules, "Save every decision on kinds, for --modules")
      ->type_name("FILE");
  options->stages.add_target(app);
  options->stages.add_cast(app);
  options->edits.add(app);
  options->writing.add(app);
  app.add_flag("--explain", options->explain,
               "One line a tensor: what was done, by which rule, on what evidence");
  app.add_flag("--dedupe", options->dedupe,
               "Of tensors that share their elements, write only the first name");
  app.add_flag("--verify", options->verify, "Read the output back and compare every element with the source");
  app.add_flag("--json", options->json, "The report as one JSON document on standard output");
  options->talk.add(app);
  app.footer(
      "Examples:\n"
      "  ckpt convert model.pt model.bpk\n"
      "  ckpt convert train.pt model.safetensors --top-level-key state_dict --strip-wrappers\n"
      "  ckpt convert model.pt model.bpk --remap rules.txt --explain\n"
      "  ckpt convert model.safetensors folder --shard-size 5GB\n"
      "  ckpt convert folder whole.safetensors\n"
      "  ckpt convert torch.safetensors model.bpk --adapter pytorch-to-burn --module '^proj$ => Linear'");
  return [options] { return run(*options); };
}

}  // namespace ckpt
