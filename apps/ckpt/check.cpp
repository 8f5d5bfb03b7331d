#include "ckpt/codec/json.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/kernels/checksum.hpp"
#include "command.hpp"
#include "pipeline.hpp"

namespace ckpt {
namespace {

struct Check {
  std::string file;
  TalkOptions talk;
  bool json = false;
};

ExitStatus run(const Check& options) {
  const Talk talk(options.talk);
  const Paint paint(options.talk, stdout);
  const Checkpoint checkpoint = load(options.file);
  verify_integrity(checkpoint, [](const Integrity&) { return true; });
  for (const std::string& note : checkpoint.notes) talk.warn(options.file, printable(note));

  Value findings = Value::array();
  for (const ForeignGlobal& global : checkpoint.globals)
    if (global.hostile)
      findings.push(
          Value::object()
              .set("code", "CK001")
              .set("text", fmt::format("the pickle names {}, which runs code when it is loaded with PyTorch",
                                       printable(global.name))));
  const auto& all = *findings.as<Value::Array>();
  const bool is_sound = all.empty();
  if (options.json) {
    Value doc = Value::object();
    doc.set("schema", 1).set("file", options.file).set("ok", is_sound).set("findings", findings);
    fmt::print("{}\n", json::dump(doc, 1));
  } else {
    for (const Value& finding : all)
      fmt::print("{} {}\n", paint.red(*finding.find("code")->as<std::string>()),
                 *finding.find("text")->as<std::string>());
    fmt::print("{}: {}, {}\n", printable(options.file), count(checkpoint.tensors.size(), "tensor"),
               is_sound ? paint.green("sound") : paint.red(count(all.size(), "finding")));
  }
  return is_sound ? ExitStatus::done : ExitStatus::no;
}

}  // namespace

std::function<ExitStatus()> add_check(CLI::App& app) {
  const auto options = std::make_shared<Check>();
  app.add_option("FILE", options->file, "A checkpoint of any format; - is standard input")->required();
  app.add_flag("--json", options->json, "One JSON document on standard output");
  options->talk.add(app);
  app.footer("Examples:\n  ckpt check model.pt\n  ckpt check model.safetensors --json");
  return [options] { return run(*options); };
}

}  // namespace ckpt
