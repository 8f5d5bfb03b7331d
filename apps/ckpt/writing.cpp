#include "writing.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <unordered_set>

#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/io/file.hpp"
#include "ckpt/kernels/checksum.hpp"
#include "ckpt/kernels/computed_source.hpp"
#include "ckpt/kernels/emit.hpp"
#include "ckpt/report/compare.hpp"
#include "progress.hpp"

namespace ckpt {
namespace {

// Set by the signal handler, which may touch nothing else; asked by the output between two steps.
std::atomic<bool> is_interrupted = false;

std::string_view strength_name(Strength strength) {
  switch (strength) {
    case Strength::undecided:
      return "undecided";
    case Strength::name:
      return "name";
    case Strength::neighbour:
      return "neighbour";
    case Strength::family:
      return "family";
    case Strength::siblings:
      return "siblings";
    case Strength::recorded:
      return "recorded";
    case Strength::target:
      return "target";
    case Strength::pickled_class:
      return "class";
    case Strength::given:
      break;
  }
  return "given";
}

/// Renamings by the name that the rules made, to follow a tensor back to the file.
std::unordered_map<std::string_view, const Renaming*> by_new_name(const RemapReport& report) {
  std::unordered_map<std::string_view, const Renaming*> all;
  for (const Renaming& renaming : report.names) all.emplace(renaming.to, &renaming);
  return all;
}

const KindDecision* decision_of(const Prepared& prepared, const LayoutStep& step) {
  const std::vector<KindDecision>& decisions = prepared.layout.decisions;
  return step.decision < decisions.size() ? &decisions[step.decision] : nullptr;
}

std::string rule_list(const Renaming& renaming, const std::vector<Rule>& rules) {
  std::string text;
  for (const std::size_t i : renaming.fired)
    text += fmt::format("{}`{}`", text.empty() ? "" : ", ", printable(rules[i].text));
  return text;
}

void print_steps(const Prepared& prepared, const std::vector<Rule>& rules, const Talk& talk) {
  const auto renamings = by_new_name(prepared.remap);
  for (const LayoutStep& step : prepared.steps) {
    std::vector<std::string> from;
    std::string fired;
    for (const std::string& source : step.from) {
      const auto renaming = renamings.find(source);
      const bool is_known = renaming != renamings.end();
      from.push_back(printable(is_known ? renaming->second->from : source));
      if (is_known && !renaming->second->fired.empty()) fired = rule_list(*renaming->second, rules);
    }
    std::string line = from.empty() ? "(nothing)" : fmt::format("{}", fmt::join(from, " + "));
    if (step.is_dropped) line += ": ";
    else line += fmt::format(" -> {}: ", printable(step.name));
    line += step.what;
    if (!fired.empty()) line += fmt::format("; renamed by {}", fired);
    if (const KindDecision* decision = decision_of(prepared, step))
      line += fmt::format("; {} ({})", decision->kind->name, decision->evidence);
    talk.report(line);
  }
}

Value step_json(const Prepared& prepared, const LayoutStep& step,
                const std::unordered_map<std::string_view, const Renaming*>& renamings,
                const std::vector<Rule>& rules) {
  Value row = Value::object();
  row.set("name", step.is_dropped ? Value() : Value(step.name));
  Value from = Value::array();
  Value fired = Value::array();
  for (const std::string& source : step.from) {
    const auto renaming = renamings.find(source);
    from.push(renaming == renamings.end() ? source : renaming->second->from);
    if (renaming == renamings.end()) continue;
    for (const std::size_t i : renaming->second->fired) fired.push(rules[i].text);
  }
  row.set("from", std::move(from)).set("what", step.what).set("rules", std::move(fired));
  if (const KindDecision* decision = decision_of(prepared, step))
    row.set("kind", decision->kind->name)
        .set("evidence", decision->evidence)
        .set("strength", strength_name(decision->strength));
  return row;
}

}  // namespace

Interruptible::Interruptible() {
  struct sigaction action{};
  action.sa_handler = [](int) { is_interrupted = true; };
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    ::sigaction(signals.at(i), &action, &before_.at(i));
    // What was ignored before (by nohup, say) stays so.
    if (before_.at(i).sa_handler == SIG_IGN) ::sigaction(signals.at(i), &before_.at(i), nullptr);
  }
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, &pipe_before_);
}

Interruptible::~Interruptible() {
  ::sigaction(SIGPIPE, &pipe_before_, nullptr);
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals.at(i), &before_.at(i), nullptr);
}

AtomicOutput::Options Interruptible::output_options(bool replace) const {
  return {.replace = replace, .is_cancelled = [] { return is_interrupted.load(); }};
}

void WriteOptions::add(CLI::App& app) {
  app.add_flag("--force", force, "Replace an existing output");
  app.add_flag("--dry-run", dry_run, "Plan and report, write nothing");
  resources.add(app);
}

const Format& output_format(const std::string& name, const std::string& path) {
  const Format* format = name.empty() ? format_for_extension(path) : find_format(name);
  std::vector<std::string> known;
  for (const Format& row : format_table())
    if (row.plan != nullptr)
      known.push_back(fmt::format("{} ({})", row.name, fmt::join(row.extensions, " ")));
  const std::string hint = fmt::format("what can be written: {}", fmt::join(known, ", "));
  if (format == nullptr && !name.empty())
    throw Error(ErrorKind::usage, fmt::format("--to: `{}` is not a format", printable(name))).with_hint(hint);
  if (format == nullptr)
    throw Error(ErrorKind::usage, "the name does not say which format to write")
        .in_file(path)
        .with_hint("the extension of OUT says it, as --to of `convert` does; " + hint);
  if (format->plan == nullptr)
    throw Error(ErrorKind::usage, fmt::format("{} files are only read", format->name))
        .in_file(path)
        .with_hint(hint);
  return *format;
}

Plan plan_output(const Checkpoint& checkpoint, const Format& format) {
  try {
    return format.plan(checkpoint);
  } catch (Error& error) {
    throw error.in_file(checkpoint.file);
  }
}

std::vector<CastReport> emit_output(const Plan& plan, const Checkpoint& checkpoint, Sink& sink,
                                    const Resources& resources) {
  try {
    // The kernel may move what is written past us: the checksums take a pass of their own, beside it.
    std::unordered_set<const ByteSource*> used;
    for (const Tensor& tensor : checkpoint.tensors) add_origins(tensor, used);
    IntegrityCheck integrity(checkpoint, std::move(used));
    std::vector<CastReport> casts = emit(plan, checkpoint, sink, resources);
    integrity.require();
    return casts;
  } catch (Error& error) {
    throw error.in_file(checkpoint.file);
  }
}

void require_no_overflow(const std::vector<CastReport>& casts, const Checkpoint& checkpoint) {
  std::vector<std::string> names;
  std::uint64_t tensors = 0;
  for (const CastReport& report : casts) {
    if (report.statistics.overflowed == 0) continue;
    if (++tensors <= 10)
      names.push_back(fmt::format("{} ({} of {} elements)", printable(checkpoint.tensors[report.tensor].name),
                                  report.statistics.overflowed, report.statistics.elements));
  }
  if (tensors == 0) return;
  throw Error(ErrorKind::refused,
              fmt::format("numbers of {} have no place in the new type: {}{}", count(tensors, "tensor"),
                          fmt::join(names, ", "), tensors > names.size() ? ", …" : ""))
      .in_file(checkpoint.file)
      .with_hint(
          "cast to a type of wider range (BF16 has that of F32, infinities and zero), leave these tensors "
          "out of --dtype, or give "
          "--allow-overflow");
}

Written write_checkpoint(const Prepared& prepared, const Format& format, const std::string& path,
                         const WriteOptions& options, const Talk& talk) {
  const Plan plan = plan_output(prepared.checkpoint, format);
  if (options.dry_run) return {plan.size, {}};
  const Resources resources = options.resources.parse();
  const Interruptible guard;
  AtomicOutput output(path, guard.output_options(options.force));
  Written written{plan.size, {}};
  {
    Progress progress(output, plan.size, talk);
    written.casts = emit_output(plan, prepared.checkpoint, progress, resources);
  }
  if (!options.allow_overflow) require_no_overflow(written.casts, prepared.checkpoint);
  output.commit();
  return written;
}

void print_casts(const std::vector<CastReport>& casts, const Checkpoint& checkpoint, const Talk& talk) {
  CastStatistics all;
  for (const CastReport& report : casts) {
    const CastStatistics& one = report.statistics;
    all.elements += one.elements;
    all.overflowed += one.overflowed;
    all.flushed += one.flushed;
    all.max_relative_error = std::max(all.max_relative_error, one.max_relative_error);
    if (talk.is_verbose() || one.overflowed > 0 || one.flushed > 0)
      talk.report(fmt::format("  {}: {} overflowed, {} became zero, relative error up to {:.3g}",
                              printable(checkpoint.tensors[report.tensor].name), one.overflowed, one.flushed,
                              one.max_relative_error));
  }
  if (!casts.empty())
    talk.report(fmt::format("cast {} of {}: {} overflowed, {} became zero, relative error up to {:.3g}",
                            count(all.elements, "element"), count(casts.size(), "tensor"),
                            grouped(all.overflowed), grouped(all.flushed), all.max_relative_error));
}

Value casts_json(const std::vector<CastReport>& casts, const Checkpoint& checkpoint) {
  Value rows = Value::array();
  for (const CastReport& report : casts)
    rows.push(Value::object()
                  .set("name", checkpoint.tensors[report.tensor].name)
                  .set("elements", report.statistics.elements)
                  .set("overflowed", report.statistics.overflowed)
                  .set("became_zero", report.statistics.flushed)
                  .set("max_relative_error", report.statistics.max_relative_error));
  return rows;
}

void verify_output(const Prepared& prepared, const std::string& path, const Talk& talk) {
  const Checkpoint written = load(path);
  // A transpose is checked the other way round: both sides are turned back, so that the source is read as it
  // lies and the output is gathered.
  Checkpoint source = prepared.checkpoint;
  Checkpoint output = written;
  std::unordered_map<std::string_view, Tensor*> outputs;
  // By the names of `written`, which stays as it is while its copy is turned.
  for (std::size_t i = 0; i < output.tensors.size(); ++i)
    outputs.emplace(written.tensors[i].name, &output.tensors[i]);
  for (Tensor& tensor : source.tensors) {
    const auto other = outputs.find(tensor.name);
    if (other == outputs.end() || tensor.shape.size() != 2 || !tensor.view.strides ||
        !tensor.pieces.empty() || other->second->shape != tensor.shape)
      continue;
    tensor = transposed(tensor, 0, 1);
    *other->second = transposed(*other->second, 0, 1);
  }
  const Comparison comparison = compare(source, output, {});
  if (!comparison.is_equal() || output.tensors.size() != source.tensors.size()) {
    const std::string first = !comparison.different.empty()   ? comparison.different.front().a->name
                              : !comparison.only_in_a.empty() ? comparison.only_in_a.front()->name
                                                              : "";
    throw Error(ErrorKind::corrupt,
                fmt::format("the output does not hold what was planned: {} of {} agree, {} does not",
                            comparison.equal, count(source.tensors.size(), "tensor"), printable(first)))
        .in_file(path)
        .with_hint("the disk or the program is at fault: do not use this file");
  }
  talk.report(fmt::format(
      "verified: {} of {} tensors bit-exact{}", grouped(comparison.equal), grouped(source.tensors.size()),
      prepared.casts.empty() ? "" : fmt::format(" ({} after their cast)", grouped(prepared.casts.size()))));
}

void warn_of_losses(Prepared& prepared, const Format& format) {
  const Checkpoint& checkpoint = prepared.checkpoint;
  const auto warn = [&](bool has_place, std::uint64_t number, std::string_view noun, std::string_view first) {
    if (has_place || number == 0) return;
    prepared.warnings.push_back(fmt::format("{} has no place for {} ({}{}): left behind", format.name,
                                            count(number, noun), printable(first), number > 1 ? ", …" : ""));
  };
  std::vector<std::string_view> texts;
  for (const auto& [key, value] : checkpoint.metadata)
    if (key != layout_key && key != kinds_key) texts.push_back(key);  // these matter to ckpt alone
  if (!texts.empty()) warn(format.has_metadata, texts.size(), "metadata text", texts.front());
  const auto has_id = [](const Tensor& tensor) { return tensor.param_id.has_value(); };
  if (const auto first = std::ranges::find_if(checkpoint.tensors, has_id); first != checkpoint.tensors.end())
    warn(format.has_param_ids, static_cast<std::uint64_t>(std::ranges::count_if(checkpoint.tensors, has_id)),
         "param id", "of " + first->name);
  if (!checkpoint.scalars.empty())
    warn(format.has_scalars, checkpoint.scalars.size(), "scalar", checkpoint.scalars.begin()->first);
  if (const auto* values = checkpoint.values.as<Value::Object>(); values != nullptr && !values->empty())
    warn(false, values->size(), "value", values->front().first);
}

Account account(const Prepared& prepared) {
  Account sum;
  sum.read = prepared.read;
  sum.written = prepared.checkpoint.tensors.size();
  sum.merged = prepared.layout.merged - prepared.layout.wholes;
  sum.split = prepared.layout.parts - prepared.layout.split;
  sum.dropped_names = prepared.dropped;
  const auto renamings = by_new_name(prepared.remap);
  const auto drop = [&](const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const auto renaming = renamings.find(name);
      sum.dropped_names.push_back(renaming == renamings.end() ? name : renaming->second->from);
    }
  };
  std::unordered_set<std::string_view> added;
  for (const EditReport& edits : prepared.edits) {
    sum.merged += edits.merged;
    sum.split += edits.split;
    sum.added += edits.added;
    drop(edits.dropped);
    if (edits.added > 0)
      for (const Edit& made : edits.edits) added.insert(made.name);
  }
  drop(prepared.layout.dropped);
  drop(prepared.unused);
  sum.dropped = sum.dropped_names.size();
  sum.cast = prepared.casts.size();
  for (const LayoutStep& step : prepared.steps) {
    if (step.is_dropped) continue;
    if (step.is_transposed) ++sum.transposed;
    if (step.from.size() != 1 || added.contains(step.name)) continue;
    const auto renaming = renamings.find(step.from.front());
    const std::string& before = renaming == renamings.end() ? step.from.front() : renaming->second->from;
    if (before != step.name) ++sum.renamed;
  }
  if (sum.read + sum.added != sum.written + sum.merged - sum.split + sum.dropped)
    fail(ErrorKind::corrupt,
         "the tensors do not add up: {} read, {} added, {} written, {} merged, {} split, {} dropped; this "
         "is a fault of ckpt",
         sum.read, sum.added, sum.written, sum.merged, sum.split, sum.dropped);
  return sum;
}

void print_account(const Prepared& prepared, const StageOptions::Parsed& stages, bool explain,
                   const Talk& talk) {
  if (explain) print_steps(prepared, stages.rules, talk);
  const Account sum = account(prepared);
  for (const EditReport& edits : prepared.edits) talk.report(edits.summary);
  talk.report(fmt::format(
      "{} read{} = {} written + {} merged - {} split + {} dropped; {} renamed, {} transposed, {} cast; "
      "nothing else changed",
      grouped(sum.read), sum.added == 0 ? "" : fmt::format(" + {} added", grouped(sum.added)),
      grouped(sum.written), grouped(sum.merged), grouped(sum.split), grouped(sum.dropped),
      grouped(sum.renamed), grouped(sum.transposed), grouped(sum.cast)));
  if (sum.dropped > 0) talk.report(fmt::format("dropped: {}", some_names(sum.dropped_names, talk)));
}

Value account_json(const Prepared& prepared, const StageOptions::Parsed& stages, bool lines) {
  const Account sum = account(prepared);
  Value doc = Value::object();
  doc.set("adapter", direction_name(prepared.layout.direction))
      .set("read", sum.read)
      .set("added", sum.added)
      .set("written", sum.written)
      .set("merged", sum.merged)
      .set("split", sum.split)
      .set("dropped", strings_json(sum.dropped_names))
      .set("renamed", sum.renamed)
      .set("transposed", sum.transposed)
      .set("cast", sum.cast)
      .set("rules", rules_json(prepared.remap, stages.rules));
  Value warnings = strings_json(prepared.checkpoint.notes);
  for (const std::string& warning : prepared.warnings) warnings.push(warning);
  Value operations = Value::array();
  for (const EditReport& edits : prepared.edits) operations.push(edits.summary);
  doc.set("operations", std::move(operations)).set("warnings", std::move(warnings));
  if (lines) {
    const auto renamings = by_new_name(prepared.remap);
    Value tensors = Value::array();
    for (const LayoutStep& step : prepared.steps)
      tensors.push(step_json(prepared, step, renamings, stages.rules));
    doc.set("tensors", std::move(tensors));
  }
  return doc;
}

}  // namespace ckpt
