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
#include "ckpt/kernels/emit.hpp"
#include "progress.hpp"

namespace ckpt {
namespace {

// Set by the signal handler, which may touch nothing else; asked by the output between two steps.
std::atomic<bool> is_interrupted = false;

/// The sources that the tensors to be written draw on, for checksums.
std::unordered_set<const ByteSource*> used_sources(const Checkpoint& checkpoint) {
  std::unordered_set<const ByteSource*> used;
  const auto add = [&](const auto& self, const Tensor& tensor) -> void {
    if (tensor.view.source) used.insert(tensor.view.source.get());
    for (const Tensor& piece : tensor.pieces) self(self, piece);
  };
  for (const Tensor& tensor : checkpoint.tensors) add(add, tensor);
  return used;
}

std::string_view strength_name(Strength strength) {
  switch (strength) {
    case Strength::undecided:
      return "undecided";
    case Strength::name:
      return "name";
    case Strength::neighbour:
      return "neighbour";
    case Strength::siblings:
      return "siblings";
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

std::vector<LayoutStep> steps_of(const Prepared& prepared) {
  if (prepared.layout.direction != Direction::none) return prepared.layout.steps;
  std::vector<LayoutStep> steps;
  for (const Tensor& tensor : prepared.checkpoint.tensors)
    steps.push_back({tensor.name, {tensor.name}, "unchanged"});
  return steps;
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
  for (const LayoutStep& step : steps_of(prepared)) {
    std::vector<std::string> from;
    std::string fired;
    for (const std::string& source : step.from) {
      const auto renaming = renamings.find(source);
      const bool is_known = renaming != renamings.end();
      from.push_back(printable(is_known ? renaming->second->from : source));
      if (is_known && !renaming->second->fired.empty()) fired = rule_list(*renaming->second, rules);
    }
    std::string line = fmt::format("{}", fmt::join(from, " + "));
    if (step.name.empty()) line += ": ";
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
  row.set("name", step.name.empty() ? Value() : Value(step.name));
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
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals.at(i), &action, &before_.at(i));
}

Interruptible::~Interruptible() {
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals.at(i), &before_.at(i), nullptr);
}

AtomicOutput::Options Interruptible::output_options(bool replace) const {
  return {.replace = replace, .is_cancelled = [] { return is_interrupted.load(); }};
}

void WriteOptions::add(CLI::App& app) {
  app.add_flag("--force", force, "Replace an existing output");
  app.add_flag("--dry-run", dry_run, "Plan and report, write nothing");
}

void require_other_file(const std::string& input, const std::string& output) {
  if (input != "-" && is_same_file(input, output))
    throw Error(ErrorKind::usage,
                fmt::format("the output is the same file as the input {}", printable(input)))
        .in_file(output)
        .with_hint("write to another name, then rename it");
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
        .with_hint("name it with --to; " + hint);
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

void emit_output(const Plan& plan, const Checkpoint& checkpoint, Sink& sink) {
  try {
    emit(plan, checkpoint, sink);
    const auto used = used_sources(checkpoint);
    verify_integrity(checkpoint, [&](const Integrity& check) { return used.contains(check.source.get()); });
  } catch (Error& error) {
    throw error.in_file(checkpoint.file);
  }
}

std::uint64_t write_checkpoint(const Prepared& prepared, const Format& format, const std::string& path,
                               const WriteOptions& options, const Talk& talk) {
  const Plan plan = plan_output(prepared.checkpoint, format);
  if (options.dry_run) return plan.size;
  const Interruptible guard;
  AtomicOutput output(path, guard.output_options(options.force));
  {
    Progress progress(output, plan.size, talk);
    emit_output(plan, prepared.checkpoint, progress);
  }
  output.commit();
  return plan.size;
}

void warn_of_losses(Prepared& prepared, const Format& format) {
  const Checkpoint& checkpoint = prepared.checkpoint;
  const auto warn = [&](bool has_place, std::uint64_t number, std::string_view noun, std::string_view first) {
    if (has_place || number == 0) return;
    prepared.warnings.push_back(fmt::format("{} has no place for {} ({}{}): left behind", format.name,
                                            count(number, noun), printable(first), number > 1 ? ", …" : ""));
  };
  if (!checkpoint.metadata.empty())
    warn(format.has_metadata, checkpoint.metadata.size(), "metadata text",
         checkpoint.metadata.begin()->first);
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
  for (const std::string& name : prepared.layout.dropped) {
    const auto renaming = renamings.find(name);
    sum.dropped_names.push_back(renaming == renamings.end() ? name : renaming->second->from);
  }
  sum.dropped = sum.dropped_names.size();
  for (const LayoutStep& step : steps_of(prepared)) {
    if (step.name.empty()) continue;
    if (step.is_transposed) ++sum.transposed;
    const auto renaming = step.from.size() == 1 ? renamings.find(step.from.front()) : renamings.end();
    const std::string& before = renaming == renamings.end() ? step.from.front() : renaming->second->from;
    if (step.from.size() == 1 && before != step.name) ++sum.renamed;
  }
  if (sum.read != sum.written + sum.merged - sum.split + sum.dropped)
    fail(ErrorKind::corrupt,
         "the tensors do not add up: {} read, {} written, {} merged, {} split, {} dropped; this is a fault "
         "of ckpt",
         sum.read, sum.written, sum.merged, sum.split, sum.dropped);
  return sum;
}

void print_account(const Prepared& prepared, const StageOptions::Parsed& stages, bool explain,
                   const Talk& talk) {
  if (explain) print_steps(prepared, stages.rules, talk);
  const Account sum = account(prepared);
  talk.report(
      fmt::format("{} read = {} written + {} merged - {} split + {} dropped; {} renamed, {} transposed, 0 "
                  "cast; nothing else changed",
                  grouped(sum.read), grouped(sum.written), grouped(sum.merged), grouped(sum.split),
                  grouped(sum.dropped), grouped(sum.renamed), grouped(sum.transposed)));
  if (sum.dropped > 0) talk.report(fmt::format("dropped: {}", some_names(sum.dropped_names, talk)));
}

Value account_json(const Prepared& prepared, const StageOptions::Parsed& stages, bool lines) {
  const Account sum = account(prepared);
  Value doc = Value::object();
  doc.set("adapter", direction_name(prepared.layout.direction))
      .set("read", sum.read)
      .set("written", sum.written)
      .set("merged", sum.merged)
      .set("split", sum.split)
      .set("dropped", strings_json(sum.dropped_names))
      .set("renamed", sum.renamed)
      .set("transposed", sum.transposed)
      .set("cast", 0)
      .set("rules", rules_json(prepared.remap, stages.rules));
  Value warnings = strings_json(prepared.checkpoint.notes);
  for (const std::string& warning : prepared.warnings) warnings.push(warning);
  doc.set("warnings", std::move(warnings));
  if (lines) {
    const auto renamings = by_new_name(prepared.remap);
    Value tensors = Value::array();
    for (const LayoutStep& step : steps_of(prepared))
      tensors.push(step_json(prepared, step, renamings, stages.rules));
    doc.set("tensors", std::move(tensors));
  }
  return doc;
}

}  // namespace ckpt
