#include <filesystem>
#include <unordered_set>

#include "ckpt/codec/json.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/shard_set.hpp"
#include "ckpt/io/file.hpp"
#include "ckpt/io/output.hpp"
#include "ckpt/stages/ties.hpp"
#include "command.hpp"
#include "edits.hpp"
#include "explain.hpp"
#include "learner.hpp"
#include "outputs.hpp"
#include "training.hpp"
#include "write_set.hpp"
#include "writing.hpp"

namespace ckpt {
namespace {

struct Convert {
  std::string input, output, to, shard_size;
  StageOptions stages;
  EditOptions edits;
  WriteOptions writing;
  TrainingOptions training;
  std::optional<std::uint64_t> epoch;
  TalkOptions talk;
  bool json = false;
  std::string explained;  ///< a name, `*` for all, or empty
  bool explain = false;   ///< all
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

/// A folder of burn's Learner stands for the files of one epoch.
Convert with_learner_epoch(Convert options, std::optional<OutputFolder>& folder) {
  if (const std::optional<LearnerEpoch> from = find_learner_epoch(options.input, options.epoch)) {
    options.input = from->model();
    const Format* to = format_for_extension(options.output);
    if (to != nullptr && to->convention == Convention::pytorch) {
      if (options.training.optimizer.empty()) options.training.optimizer = from->optimizer();
      if (options.training.scheduler.empty()) options.training.scheduler = from->scheduler();
    }
  } else if (options.epoch) {
    const LearnerEpoch to{options.output, *options.epoch};
    if (!options.writing.dry_run) folder.emplace(options.output);
    options.output = to.model();
    options.training.optimizer_out = to.optimizer();
    options.training.scheduler_out = to.scheduler();
    options.training.may_lack_scheduler = true;
  }
  return options;
}

/// Beside the input and the state of optimizers and schedulers.
std::vector<std::string> files_that_are_read(const Convert& options) {
  std::vector<std::string> files = options.stages.files();
  files.insert(files.end(), {options.training.model, options.training.param_names});
  return files;
}

std::vector<std::string> outputs_beside(const Convert& options) {
  return {options.write_modules, options.training.optimizer_out, options.training.scheduler_out};
}

void require_separate_files(const Convert& options) {
  const TrainingOptions& training = options.training;
  const std::vector<std::string> beside = outputs_beside(options);
  std::vector<std::string> outputs{options.output};
  outputs.insert(outputs.end(), beside.begin(), beside.end());
  require_separate({options.input, training.optimizer, training.scheduler}, outputs);
  require_unread(files_that_are_read(options), outputs);
  // The target may be replaced by what was made like it, not by a text.
  require_unread({options.stages.like()}, beside);
  require_own_stream(outputs, options.json);
  if (options.verify) require_readable_back({options.output, training.optimizer_out, training.scheduler_out});
}

/// Throws `usage` for an output beside a set that would be taken for a file of it.
void require_beside_set(const Convert& options, const Format& format) {
  for (const std::string& output : outputs_beside(options)) {
    if (output.empty()) continue;
    const std::filesystem::path target = output_target(output);
    const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
    if (is_same_file(folder, options.output) && belongs_to_set(target.filename().string(), format))
      throw Error(ErrorKind::usage, "would be taken for a file of the set")
          .in_file(output)
          .with_hint("give it another name or folder");
  }
}

/// What a set in the folder `path` would replace or remove.
std::vector<std::string> set_paths(const std::string& path, const Format& format) {
  std::vector<std::string> paths = find_earlier_set(path, format).files;
  for (std::string& name : paths) name = path + "/" + name;
  return paths;
}

ExitStatus run(const Convert& given) {
  std::optional<OutputFolder> folder;
  const Convert options = with_learner_epoch(given, folder);
  const Talk talk(options.talk);
  const StageOptions::Parsed stages = options.stages.parse();
  EditOptions::Parsed edits = options.edits.parse();
  std::optional<std::uint64_t> shard_limit;
  if (!options.shard_size.empty()) shard_limit = parse_size(options.shard_size, "--shard-size");
  // A set goes into a folder, whose name says nothing of the format, unless it is one of another.
  if (const Format* named = format_for_extension(options.output);
      shard_limit && options.to.empty() && named != nullptr && named->name != "safetensors")
    throw Error(ErrorKind::usage,
                fmt::format("--shard-size writes a folder of safetensors files, but the name "
                            "calls for {}",
                            named->name))
        .in_file(options.output)
        .with_hint("name a folder, or leave out --shard-size");
  const Format& format =
      output_format(shard_limit && options.to.empty() ? "safetensors" : options.to, options.output);
  require_separate_files(options);
  if (shard_limit) require_other_folder(options.input, options.output);
  WriteOptions writing = options.writing;
  writing.allow_overflow = stages.allow_overflow;

  std::optional<Target> target;
  if (options.verify && writing.dry_run)
    throw Error(ErrorKind::usage, "--verify reads the output back, and --dry-run writes none");
  const bool explains_one = !options.explained.empty() && !options.explain;
  if (explains_one && options.input == "-")
    throw Error(ErrorKind::usage, "--explain=NAME wants a file: standard input is read once");

  Checkpoint whole = load(options.input);
  if (shard_limit) {
    std::vector<std::string> read = files_that_are_read(options);
    read.insert(read.end(), {options.input, options.stages.like()});
    require_unread(read, set_paths(options.output, format));
    require_beside_set(options, format);
  }
  Training training(options.training, whole, stages, format);
  if (shard_limit && training.format().plan != format.plan)
    throw Error(ErrorKind::usage, "a set of shards holds weights alone").with_hint("leave out --shard-size");
  if (edits.any() && options.training.is_wanted())
    throw Error(ErrorKind::usage, "what changes the weights would not reach the optimizer's state")
        .with_hint("convert without --dequantize, --permute-rope, --stack and --unstack");
  Prepared prepared = prepare(std::move(whole), stages);
  require_deliverable(prepared.checkpoint);
  require_own_names(prepared);
  // A target leaves out what it does not know, and a part of a stack has a name that proves nothing.
  if (!stages.like.empty() || !edits.unstack.empty()) keep_source(prepared);
  const std::string from = prepared.checkpoint.format;
  Checkpoint like;
  if (!stages.like.empty()) like = load_like(stages.like);
  if (options.dedupe) {
    std::unordered_set<std::string_view> wanted;
    for (const Tensor& tensor : like.tensors) wanted.insert(tensor.name);
    prepared.checkpoint = drop_ties(std::move(prepared.checkpoint), wanted, prepared.dropped);
  } else {
    tell_ties(prepared, format);
  }
  const Convention convention = convention_of(prepared.checkpoint);
  const bool is_by_target = format.convention == Convention::either && !stages.like.empty();
  const Way way = stages.adapter
                      ? way_of(*stages.adapter)
                      : default_way(convention, is_by_target ? convention_of(like) : format.convention);
  const Direction direction = way.direction;
  if (!stages.adapter && convention == Convention::either && format.convention == Convention::burn &&
      std::ranges::any_of(prepared.checkpoint.tensors, [](const Tensor& t) { return t.shape.size() == 2; }))
    prepared.warnings.emplace_back(
        "nothing says whose layout this is, and it is written as it stands: --adapter pytorch-to-burn where "
        "it is PyTorch's, --adapter none where it is burn's");
  edits.rope.is_burn_layout = direction == Direction::burn_to_pytorch ||
                              (direction == Direction::none && convention == Convention::burn);
  edit(prepared, edits);
  if (!stages.like.empty()) target = target_of(std::move(like), way.goal, stages.kinds);
  if (target) fit_names(prepared, *target);
  // Before names are tied: the state of one of them stays with it.
  training.carry_along(prepared, direction, stages, target ? &*target : nullptr);
  if (target) restore_before_layout(prepared, *target, direction);
  adapt(prepared, direction, stages.kinds, target ? &*target : nullptr);
  tell_edits(prepared);
  stack_parts(prepared, edits);
  if (target) restore_after_layout(prepared, *target);
  if (target) match_target(prepared, *target, stages.match);
  cast_types(prepared, stages);
  warn_of_losses(prepared, format);
  Value explanation;
  if (explains_one) {
    std::optional<Plan> plan;
    if (!shard_limit) plan = plan_output(prepared.checkpoint, format);
    explanation =
        explain_tensor(load(options.input), prepared, stages, options.explained, plan ? &*plan : nullptr);
  }
  const std::optional<Prepared> replacement = training.complete(prepared);
  const Prepared& output = replacement ? *replacement : prepared;
  const Written written = [&] {
    const Interruptible guard;
    // What belongs to the output is on disk before that gets its name.
    training.write(writing);
    std::optional<AtomicOutput> modules;
    if (!options.write_modules.empty() && !writing.dry_run) {
      modules.emplace(options.write_modules, guard.output_options(writing.force));
      modules->write(as_bytes(modules_file(prepared.layout.decisions, prepared.checkpoint.file)));
      modules->flush();
    }
    Written done = shard_limit ? write_set(output, format, options.output, *shard_limit, writing, talk)
                               : write_checkpoint(output, training.format(), options.output, writing, talk);
    try {
      training.commit();
      if (modules) modules->commit();
    } catch (Error& error) {
      throw error.in(fmt::format("{} is written, but this", printable(options.output)));
    }
    return done;
  }();

  if (!options.write_modules.empty() && direction == Direction::none)
    prepared.warnings.emplace_back("--write-modules: no adapter runs, so no kind was decided");
  print_warnings(prepared, talk);
  if (options.json) {
    if (options.verify && !writing.dry_run) {
      verify_output(output, options.output, talk);
      training.verify(talk);
    }
    Value doc = Value::object();
    doc.set("schema", 1)
        .set("input", options.input)
        .set("output", options.output)
        .set("from", from)
        .set("to", format.name);
    doc.set("size", written.size).set("dry_run", options.writing.dry_run);
    if (!written.removed.empty()) doc.set("removed", strings_json(written.removed));
    Value account = account_json(prepared, stages, options.explain);
    for (auto& [key, value] : *account.as<Value::Object>()) doc.set(key, std::move(value));
    if (!written.casts.empty()) doc.set("casts", casts_json(written.casts, prepared.checkpoint));
    if (explains_one) doc.set("explained", std::move(explanation));
    if (options.training.is_wanted()) doc.set("training", training.json());
    print_json(doc);
    return ExitStatus::done;
  }
  talk.report(fmt::format("{} -> {}: {} to {}, {}{}", printable(options.input), printable(options.output),
                          from, format.name, human_size(written.size),
                          options.writing.dry_run ? " (dry run: nothing was written)" : ""));
  if (!written.removed.empty())
    talk.report(fmt::format("of the set that {} there, {} {}", options.writing.dry_run ? "is" : "was",
                            some_names(written.removed, talk),
                            options.writing.dry_run ? "would be removed" : "removed"));
  talk.report(fmt::format("adapter: {}{}", direction_name(direction),
                          stages.adapter ? ""
                          : is_by_target ? " (by the input and the target)"
                                         : " (by the two formats)"));
  if (target && is_laid_out_alone(*target, direction))
    talk.report(fmt::format("adapter: {} on {}, so that it is as the result",
                            direction_name(target->laid_out), printable(target->file)));
  if (explains_one) print_explanation(explanation, talk);
  print_account(prepared, stages, options.explain, talk);
  print_casts(written.casts, prepared.checkpoint, talk);
  training.print(options.explain, talk);
  if (options.verify && !writing.dry_run) {
    verify_output(output, options.output, talk);
    training.verify(talk);
  }
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
  for (const char* name : {"--allow-missing", "--allow-unused"})
    app.get_option(name)->needs(app.get_option("--like"));
  options->stages.add_cast(app);
  options->edits.add(app);
  options->training.add(app);
  CLI::Option* epoch =
      app.add_option("--epoch", options->epoch,
                     "IN or OUT is the checkpoint folder of burn's Learner: take this epoch's files")
          ->type_name("N")
          ->check(whole_number(0));
  for (const char* name : {"--optimizer-out", "--scheduler-out"}) app.get_option(name)->excludes(epoch);
  options->writing.add(app);
  app.add_flag(
      "--explain{*}", options->explained,
      "One line a tensor: what was done, by which rule, on what evidence; =NAME: the whole way of one");
  app.add_flag("--dedupe", options->dedupe,
               "Of tensors that share their elements, write only the first name, or those of --like");
  app.add_flag("--verify", options->verify, "Read the output back and compare every element with the source");
  app.add_flag("--json", options->json, "The report as one JSON document on standard output");
  options->talk.add(app);
  app.footer(
      "Examples:\n"
      "  ckpt convert model.pt model.bpk\n"
      "  ckpt convert train.pt model.safetensors --top-level-key state_dict --strip-wrappers\n"
      "  ckpt convert model.pt model.bpk --remap rules.txt --explain\n"
      "  ckpt convert train.pt model.bpk --optimizer-out optim.bpk\n"
      "  ckpt convert model.bpk train.pt --optimizer optim.bpk\n"
      "  ckpt convert train.pt run/checkpoint --epoch 5\n"
      "  ckpt convert model.safetensors folder --shard-size 5GB\n"
      "  ckpt convert folder whole.safetensors\n"
      "  ckpt convert torch.safetensors model.bpk --adapter pytorch-to-burn --module '^proj$ => Linear'");
  return [options] {
    options->explain = options->explained == "*";
    return run(*options);
  };
}

}  // namespace ckpt
