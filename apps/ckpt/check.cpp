#include <algorithm>

#include "check_training.hpp"
#include "ckpt/codec/json.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/kernels/checksum.hpp"
#include "ckpt/report/findings.hpp"
#include "command.hpp"
#include "pipeline.hpp"

namespace ckpt {
namespace {

struct Check {
  std::string file;
  std::vector<std::string> allow_globals, ignore;
  CheckTraining training;
  TalkOptions talk;
  bool json = false;
  bool strict = false;
};

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

Value document(const Check& options, const std::vector<Finding>& findings, bool is_ok) {
  Value all = Value::array();
  for (const Finding& finding : findings) {
    Value row = Value::object();
    row.set("code", info(finding.id).code).set("level", info(finding.id).is_error ? "error" : "warning");
    if (!finding.tensor.empty()) row.set("tensor", finding.tensor);
    row.set("text", finding.text);
    all.push(std::move(row));
  }
  Value doc = Value::object();
  doc.set("schema", 1).set("file", options.file).set("ok", is_ok).set("findings", std::move(all));
  return doc;
}

ExitStatus run(const Check& options) {
  const Paint paint(options.talk, stdout);
  const std::vector<FindingId> ignored = parse_codes(options.ignore);
  std::vector<Regex> allowed;
  for (const std::string& pattern : options.allow_globals) allowed.emplace_back(pattern);
  const Regex library{std::string(library_classes)};

  const Checkpoint checkpoint = load(options.file);
  std::vector<Finding> findings = check_catalogue(checkpoint, [&](std::string_view global) {
    return library.matches(global) ||
           std::ranges::any_of(allowed, [&](const Regex& regex) { return regex.matches(global); });
  });
  verify_integrity(checkpoint, [](const Integrity&) { return true; });
  try {
    std::ranges::move(check_values(checkpoint), std::back_inserter(findings));
  } catch (Error& error) {
    throw error.in_file(options.file);
  }
  std::ranges::move(options.training.findings(checkpoint), std::back_inserter(findings));
  std::erase_if(findings, [&](const Finding& finding) {
    return std::ranges::find(ignored, finding.id) != ignored.end();
  });

  const auto errors = static_cast<std::uint64_t>(
      std::ranges::count_if(findings, [](const Finding& f) { return info(f.id).is_error; }));
  const bool is_ok = errors == 0 && (!options.strict || findings.empty());
  const std::vector<std::string> drift = options.training.drift(checkpoint);
  if (options.json) {
    Value doc = document(options, findings, is_ok);
    if (!drift.empty()) doc.set("drift", strings_json(drift));
    fmt::print("{}\n", json::dump(doc, 1));
  } else {
    for (const std::string& line : drift) fmt::print("{}\n", line);
    for (const Finding& finding : findings) {
      const std::string level = info(finding.id).is_error ? paint.red("error  ") : paint.yellow("warning");
      fmt::print("{} {} {}\n", info(finding.id).code, level, finding.text);
    }
    fmt::print("{}: {}, {}, {}: {}\n", printable(options.file), count(checkpoint.tensors.size(), "tensor"),
               count(errors, "error"), count(findings.size() - errors, "warning"),
               is_ok ? paint.green("sound") : paint.red("NOT SOUND"));
  }
  return is_ok ? ExitStatus::done : ExitStatus::no;
}

}  // namespace

std::function<ExitStatus()> add_check(CLI::App& app) {
  const auto options = std::make_shared<Check>();
  app.add_option("FILE", options->file, "A checkpoint of any format; - is standard input")->required();
  app.add_option("--allow-globals", options->allow_globals,
                 "Globals of a pickle that may be there (repeatable)")
      ->type_name("REGEX")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--ignore", options->ignore, "Leave findings of this code out (repeatable)")
      ->type_name("CODE")
      ->take_all()
      ->allow_extra_args(false);
  options->training.add(app);
  app.add_flag("--strict", options->strict, "Warnings count as well");
  app.add_flag("--json", options->json, "One JSON document on standard output");
  options->talk.add(app);
  app.footer(
      "Reads every byte: structure, checksums, values. Errors give status 1, with --strict warnings too.\n"
      "Examples:\n"
      "  ckpt check model.pt\n"
      "  ckpt check yolo.pt --allow-globals '^models\\.'\n"
      "  ckpt check optim.bpk --model model.bpk\n"
      "  ckpt check model.safetensors --ignore CK013 --json");
  return [options] { return run(*options); };
}

}  // namespace ckpt
