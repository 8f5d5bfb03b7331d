#include "ckpt/report/lock.hpp"

#include <map>

#include "ckpt/codec/json.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/stages/kinds.hpp"
#include "command.hpp"
#include "pipeline.hpp"

namespace ckpt {
namespace {

struct LockCommand {
  std::string file;
  StageOptions stages;
  TalkOptions talk;
  bool json = false;
};

/// Adds the kinds that shapes, siblings or pickled classes prove. What rests on a name alone is left out,
/// and so is everything where the format does not say whose layout it holds.
void add_kinds(const Prepared& prepared, std::vector<LockEntry>& entries) {
  const Checkpoint& checkpoint = prepared.checkpoint;
  const Convention convention = convention_of(checkpoint);
  if (convention == Convention::either) return;
  const Direction direction =
      convention == Convention::burn ? Direction::burn_to_pytorch : Direction::pytorch_to_burn;
  std::map<std::string, std::string_view, std::less<>> kinds;
  for (const KindDecision& decision : decide_kinds(checkpoint, direction, {}, nullptr, prepared.source.get()))
    if (decision.kind != nullptr && decision.strength > Strength::name)
      kinds.emplace(decision.path, decision.kind->name);
  for (LockEntry& entry : entries)
    if (const auto found = kinds.find(module_path(entry.name));
        found != kinds.end() && found->second != "none")
      entry.kind = found->second;
}

/// As a lock spells it.
std::string layout_of(const Checkpoint& checkpoint) {
  switch (convention_of(checkpoint)) {
    case Convention::pytorch:
      return "pytorch";
    case Convention::burn:
      return "burn";
    case Convention::either:
      break;
  }
  return {};
}

Value document(const std::string& file, const Lock& lock) {
  Value tensors = Value::array();
  for (const LockEntry& entry : lock.entries) {
    Value shape = Value::array();
    for (const std::uint64_t size : entry.shape) shape.push(size);
    Value row = Value::object();
    row.set("name", entry.name).set("dtype", name(entry.dtype)).set("shape", std::move(shape));
    if (!entry.kind.empty()) row.set("kind", entry.kind);
    if (!entry.tied_to.empty()) row.set("tied_to", entry.tied_to);
    tensors.push(std::move(row));
  }
  Value doc = Value::object();
  doc.set("schema", 1).set("file", file);
  if (!lock.layout.empty()) doc.set("layout", lock.layout);
  return doc.set("tensors", std::move(tensors));
}

ExitStatus run(const LockCommand& options) {
  const Talk talk(options.talk);
  const Prepared prepared = prepare(options.file, options.stages.parse());
  print_warnings(prepared, talk);
  if (!prepared.dropped.empty()) talk.report(fmt::format("left out: {}", some_names(prepared.dropped, talk)));
  for (const Refused& refused : prepared.checkpoint.refused)
    talk.warn(options.file,
              fmt::format("{} is not locked: {}", printable(refused.name), printable(refused.what)));
  Lock lock{layout_of(prepared.checkpoint), lock_entries(prepared.checkpoint)};
  add_kinds(prepared, lock.entries);
  if (options.json) print_json(document(options.file, lock));
  else fmt::print("{}", lock_text(lock, options.file));
  return ExitStatus::done;
}

}  // namespace

std::function<ExitStatus()> add_lock(CLI::App& app) {
  const auto options = std::make_shared<LockCommand>();
  app.add_option("FILE", options->file, "A checkpoint of any format; - is standard input")->required();
  options->stages.add_choice(app);
  options->stages.add_rename(app);
  app.add_flag("--json", options->json, "One JSON document on standard output");
  options->talk.add(app);
  app.footer(
      "Examples:\n"
      "  ckpt lock model.safetensors > model.lock\n"
      "  ckpt lock train.pt --top-level-key state_dict --strip-wrappers > model.lock\n"
      "  ckpt check model.safetensors --like model.lock");
  return [options] { return run(*options); };
}

}  // namespace ckpt
