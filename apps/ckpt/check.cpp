#include "check.hpp"

#include <algorithm>

#include "ckpt/codec/json.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/kernels/checksum.hpp"
#include "ckpt/report/readers.hpp"
#include "ckpt/stages/root.hpp"
#include "pipeline.hpp"
#include "salvage.hpp"
#include "sarif.hpp"

namespace ckpt {
namespace {

// Library classes whose objects whole models and optimizers are made of. They are code to import, but
// code that PyTorch itself ships and that sets attributes only.
constexpr std::string_view library_classes =
    R"(^torch\.(nn\.(modules|parallel|quantizable|quantized)\.|optim\.|ao\.nn\.))";

std::vector<FindingId> parse_codes(const std::vector<std::string>& codes) {
  std::vector<FindingId> ids;
  for (const std::string& code : codes) {
    const std::optional<FindingId> id = find_finding(code);
    if (!id)
      throw Error(ErrorKind::usage, fmt::format("--ignore: {} is no code of a finding", printable(code)))
          .with_hint("codes stand before each finding, as in CK013");
    ids.push_back(*id);
  }
  return ids;
}

/// What is to be checked: all of the file, or what the options choose of it.
Checkpoint chosen(const Check& options, const StageOptions::Parsed& stages) {
  Checkpoint checkpoint = load(options.file);
  std::vector<std::string> dropped;
  if (stages.top_level_key) checkpoint = select_root(std::move(checkpoint), stages.top_level_key, dropped);
  return filter_some(std::move(checkpoint), stages.filters, dropped);
}

ExitStatus run(const Check& options) {
  StageOptions::Parsed stages = options.stages.parse();
  if (!options.salvage.empty()) {
    if (!stages.filters.empty() || stages.top_level_key)
      throw Error(ErrorKind::usage, "--salvage writes every tensor that is whole and chooses none")
          .with_hint("choose with --include, --exclude or --top-level-key when converting what is salvaged");
    return run_salvage(
        {options.file, options.salvage, options.talk, options.resources, options.force, options.json});
  }
  if (!stages.like.empty()) return check_like(options, std::move(stages));
  const Checkpoint checkpoint = chosen(options, stages);
  std::vector<Finding> findings = judge_catalogue(options, checkpoint);
  try {
    std::ranges::move(check_data(checkpoint, options.resources.parse()), std::back_inserter(findings));
  } catch (Error& error) {
    throw error.in_file(options.file);
  }
  std::ranges::move(options.training.findings(checkpoint), std::back_inserter(findings));
  findings = without_ignored(options, std::move(findings));

  const bool is_ok = is_passed(options, findings);
  const std::vector<std::string> drift = options.training.drift(checkpoint);
  if (options.json) {
    Value doc = Value::object();
    doc.set("schema", 1).set("file", options.file).set("ok", is_ok).set("findings", findings_json(findings));
    if (!drift.empty()) doc.set("drift", strings_json(drift));
    print_json(doc);
  } else if (options.sarif) {
    print_json(sarif_log(options.file, findings));
  } else {
    const Paint paint(options.talk, stdout);
    for (const std::string& line : drift) fmt::print("{}\n", line);
    print_findings(findings, paint);
    const std::uint64_t errors = count_errors(findings);
    fmt::print("{}: {}, {}, {}: {}\n", printable(options.file), count(checkpoint.tensors.size(), "tensor"),
               count(errors, "error"), count(findings.size() - errors, "warning"),
               is_ok ? paint.green("sound") : paint.red("NOT SOUND"));
  }
  return is_ok ? ExitStatus::done : ExitStatus::no;
}

}  // namespace

std::vector<Finding> judge_catalogue(const Check& options, const Checkpoint& checkpoint) {
  std::vector<Regex> allowed;
  allowed.emplace_back(std::string(library_classes));
  for (const std::string& pattern : options.allow_globals) allowed.emplace_back(pattern);
  std::vector<Finding> findings = check_catalogue(checkpoint, [&](std::string_view global) {
    return global.size() <= limits::name_bytes &&
           std::ranges::any_of(allowed, [&](const Regex& regex) { return regex.matches(global); });
  });
  std::ranges::move(check_readers(checkpoint), std::back_inserter(findings));
  return findings;
}

std::vector<Finding> without_ignored(const Check& options, std::vector<Finding> findings) {
  const std::vector<FindingId> ignored = parse_codes(options.ignore);
  std::erase_if(findings, [&](const Finding& finding) {
    return std::ranges::find(ignored, finding.id) != ignored.end();
  });
  return findings;
}

std::uint64_t count_errors(const std::vector<Finding>& findings) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(findings, [](const Finding& f) { return info(f.id).is_error; }));
}

bool is_passed(const Check& options, const std::vector<Finding>& findings) {
  return count_errors(findings) == 0 && (!options.strict || findings.empty());
}

Value findings_json(const std::vector<Finding>& findings) {
  Value all = Value::array();
  for (const Finding& finding : findings) {
    Value row = Value::object();
    row.set("code", info(finding.id).code).set("level", info(finding.id).is_error ? "error" : "warning");
    if (!finding.tensor.empty()) row.set("tensor", finding.tensor);
    row.set("text", finding.text);
    all.push(std::move(row));
  }
  return all;
}

void print_findings(const std::vector<Finding>& findings, const Paint& paint) {
  for (const Finding& finding : findings)
    fmt::print("{} {} {}\n", info(finding.id).code,
               info(finding.id).is_error ? paint.red("error  ") : paint.yellow("warning"), finding.text);
}

std::function<ExitStatus()> add_check(CLI::App& app) {
  const auto options = std::make_shared<Check>();
  app.add_option("FILE", options->file, "A checkpoint of any format; - is standard input")->required();
  options->stages.add_target(app);
  CLI::Option* like = app.get_option("--like");
  app.add_option("--min-coverage", options->min_coverage,
                 "Tensors may be missing as long as this share of the target's parameters is there (99.5%)")
      ->type_name("PERCENT")
      ->needs(like);
  options->stages.add_choice(app);
  options->stages.add_rename(app);
  options->stages.add_layout(app);
  for (const char* name : {"--allow-missing", "--allow-unused", "--remap", "--rename", "--strip-wrappers",
                           "--renumber", "--strict-rules", "--adapter", "--module", "--modules"})
    app.get_option(name)->needs(like);
  CLI::Option* const salvage =
      app.add_option("--salvage", options->salvage,
                     "Write the tensors of a damaged file that are provably whole to OUT, list the others")
          ->type_name("OUT")
          ->excludes(like);
  app.add_flag("--force", options->force, "Replace an existing OUT")->needs(salvage);
  app.add_option("--allow-globals", options->allow_globals,
                 "Globals of a pickle that may be there (repeatable)")
      ->type_name("REGEX")
      ->excludes(salvage)
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--ignore", options->ignore, "Leave findings of this code out (repeatable)")
      ->type_name("CODE")
      ->excludes(salvage)
      ->take_all()
      ->allow_extra_args(false);
  options->training.add(app);
  for (const char* name : {"--model", "--optimizer", "--optimizer-key"})
    app.get_option(name)->excludes(like)->excludes(salvage);
  app.add_flag("--strict", options->strict, "Warnings count as well")->excludes(salvage);
  CLI::Option* json = app.add_flag("--json", options->json, "One JSON document on standard output");
  app.add_flag("--sarif", options->sarif, "The findings as a SARIF 2.1.0 log on standard output")
      ->excludes(json)
      ->excludes(salvage);
  options->resources.add(app);
  options->talk.add(app);
  app.footer(
      "Alone it reads every byte: structure, checksums, values. With --like it holds names, shapes\n"
      "and types against a checkpoint or a lock file, and reads headers only. Errors give status 1, with\n"
      "--strict warnings too.\n"
      "With --salvage: 0 when every tensor is whole, 1 when some are lost, 2 when all are.\n"
      "Examples:\n"
      "  ckpt check model.pt\n"
      "  ckpt check yolo.pt --allow-globals '^models\\.'\n"
      "  ckpt check optim.bpk --model model.bpk\n"
      "  ckpt check model.safetensors --ignore CK013 --sarif > model.sarif\n"
      "  ckpt check model.pt --like model.bpk --remap rules.txt\n"
      "  ckpt check model.safetensors --like model.lock --allow-missing='^head' --min-coverage 99.5%\n"
      "  ckpt check cut.pt --salvage rest.safetensors");
  return [options] { return run(*options); };
}

}  // namespace ckpt
