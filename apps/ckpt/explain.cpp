#include "explain.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ckpt/core/param_id.hpp"
#include "ckpt/core/places.hpp"
#include "ckpt/core/text.hpp"
#include "inspect_tensor.hpp"

namespace ckpt {
namespace {

/// Looks names of a conversion up.
class Trail {
 public:
  Trail(const Checkpoint& original, const Prepared& prepared) {
    for (const Tensor& tensor : original.tensors) originals_.emplace(tensor.name, &tensor);
    for (const Renaming& renaming : prepared.remap.names) renamings_.emplace(renaming.to, &renaming);
    if (!prepared.remap.names.empty()) root_ = root_of(original, prepared);
  }

  /// The place of the nested checkpoint that names lost, with a dot at its end; empty where they lost none.
  const std::string& root() const noexcept { return root_; }

  /// The tensor of the file that is called `name` once the root is gone; null where there is none.
  const Tensor* original(const std::string& name) const {
    const auto found = originals_.find(root_ + name);
    return found == originals_.end() ? nullptr : found->second;
  }

  /// Renamings of the tensors that a step was made of.
  std::vector<const Renaming*> renamings(const LayoutStep& step) const {
    std::vector<const Renaming*> all;
    for (const std::string& from : step.from)
      if (const auto found = renamings_.find(from); found != renamings_.end()) all.push_back(found->second);
    return all;
  }

 private:
  std::string root_of(const Checkpoint& original, const Prepared& prepared) const {
    const std::string& kept = prepared.remap.names.front().from;
    if (originals_.contains(kept)) return {};
    const std::unordered_set<std::string_view> dropped(prepared.dropped.begin(), prepared.dropped.end());
    for (const Tensor& tensor : original.tensors)
      if (tensor.name.ends_with("." + kept) && !dropped.contains(tensor.name))
        return tensor.name.substr(0, tensor.name.size() - kept.size());
    return {};
  }

  std::string root_;
  std::unordered_map<std::string, const Tensor*> originals_;
  std::unordered_map<std::string_view, const Renaming*> renamings_;
};

/// The names on the way, each with what made it: the wrappers, the rules by their numbers, --renumber.
Value renames_json(const Renaming& renaming, const StageOptions::Parsed& stages) {
  Value all = Value::array();
  std::string now = renaming.from;
  const auto step = [&](std::string by, Value rule, std::string to) {
    if (to == now) return;
    all.push(Value::object().set("by", std::move(by)).set("rule", std::move(rule)).set("name", to));
    now = std::move(to);
  };
  if (stages.strip_wrappers) step("--strip-wrappers", Value(), strip_wrappers(now));
  for (const std::size_t i : renaming.fired) {
    const Rule& rule = stages.rules[i];
    step(rule.text, static_cast<std::uint64_t>(i + 1), rule.replacement.replace_all(now, rule.pattern).first);
  }
  step("--renumber", Value(), renaming.to);
  return all;
}

/// First byte of a tensor's data in the output, and the one behind its last.
std::optional<std::pair<std::uint64_t, std::uint64_t>> range_in(const Plan& plan,
                                                                const Checkpoint& checkpoint,
                                                                std::size_t index) {
  // What is stored once stands there under its first name.
  const std::size_t first = first_at_same_place(checkpoint.tensors)[index];
  std::uint64_t at = 0;
  for (const Plan::Segment& segment : plan.segments) {
    std::uint64_t size = 0;
    if (const auto* literal = std::get_if<Plan::Literal>(&segment)) size = literal->bytes.size();
    else if (const auto* zeros = std::get_if<Plan::Zeros>(&segment)) size = zeros->count;
    else if (const auto* later = std::get_if<Plan::AfterData>(&segment)) size = later->size;
    else if (const auto* data = std::get_if<Plan::TensorData>(&segment)) {
      size = checkpoint.tensors[data->index].byte_size();
      if (data->index == index || data->index == first) return std::pair(at, at + size);
    }
    at += size;
  }
  return std::nullopt;
}

Value output_json(const Prepared& prepared, std::size_t index, const Plan* plan) {
  const Tensor& tensor = prepared.checkpoint.tensors[index];
  Value row = Value::object();
  row.set("name", tensor.name)
      .set("dtype", name(tensor.dtype))
      .set("shape", numbers_json(tensor.shape))
      .set("bytes", tensor.byte_size());
  if (tensor.param_id) row.set("param_id", param_id_text(*tensor.param_id));
  if (plan == nullptr) return row;
  if (const auto range = range_in(*plan, prepared.checkpoint, index))
    row.set("range", numbers_json({range->first, range->second}));
  return row;
}

Value step_json(const Trail& trail, const Prepared& prepared, const StageOptions::Parsed& stages,
                std::size_t index, const Plan* plan) {
  const LayoutStep& step = prepared.steps[index];
  Value sources = Value::array();
  for (const Renaming* renaming : trail.renamings(step)) {
    const Tensor* tensor = trail.original(renaming->from);
    if (tensor == nullptr) continue;
    Value source = place_json(*tensor);
    source.set("root", trail.root().substr(0, trail.root().find_last_not_of('.') + 1))
        .set("renames", renames_json(*renaming, stages));
    sources.push(std::move(source));
  }
  Value row = Value::object();
  row.set("from", std::move(sources)).set("what", step.what);
  if (step.decision < prepared.layout.decisions.size()) {
    const KindDecision& decision = prepared.layout.decisions[step.decision];
    row.set("kind", decision.kind->name).set("evidence", decision.evidence);
  }
  for (const CastStep& cast : prepared.casts)
    if (cast.tensor == index)
      row.set("cast", Value::object().set("from", name(cast.from)).set("to", name(cast.to)));
  if (!step.is_dropped) row.set("to", output_json(prepared, index, plan));
  return row;
}

std::string text_of(const Value& value) {
  const auto* text = value.as<std::string>();
  return text == nullptr ? "" : printable(*text);
}

std::string member(const Value& object, std::string_view key) {
  const Value* found = object.find(key);
  return found == nullptr ? "" : text_of(*found);
}

std::vector<std::uint64_t> numbers(const Value& object, std::string_view key) {
  std::vector<std::uint64_t> all;
  const Value* found = object.find(key);
  if (found == nullptr) return all;
  for (const Value& number : *found->as<Value::Array>()) all.push_back(*number.as<std::uint64_t>());
  return all;
}

std::string described(const Value& tensor) {
  return fmt::format("{} {} {}, {}", member(tensor, "name"), member(tensor, "dtype"),
                     to_string(numbers(tensor, "shape")),
                     human_size(*tensor.find("bytes")->as<std::uint64_t>()));
}

void print_source(const Value& source, const Talk& talk) {
  std::string line = described(source);
  if (const Value* offset = source.find("offset"))
    line += fmt::format(" at offset {}", *offset->as<std::uint64_t>());
  const Shape shape = numbers(source, "shape");
  const Shape strides = numbers(source, "strides");
  if (strides != contiguous_strides(shape)) line += fmt::format(", strides {}", to_string(strides));
  talk.report("  file    " + line);
  if (const std::string root = member(source, "root"); !root.empty()) talk.report("  root    " + root);
  for (const Value& rename : *source.find("renames")->as<Value::Array>()) {
    const auto* number = rename.find("rule")->as<std::uint64_t>();
    talk.report(fmt::format("  name    {}, by {}", member(rename, "name"),
                            number == nullptr ? member(rename, "by")
                                              : fmt::format("rule {} `{}`", *number, member(rename, "by"))));
  }
}

}  // namespace

Value explain_tensor(const Checkpoint& original, const Prepared& prepared, const StageOptions::Parsed& stages,
                     const std::string& name, const Plan* plan) {
  const Trail trail(original, prepared);
  Value all = Value::array();
  for (std::size_t i = 0; i < prepared.steps.size(); ++i) {
    const LayoutStep& step = prepared.steps[i];
    const bool is_meant =
        step.name == name || std::ranges::any_of(trail.renamings(step), [&](const Renaming* renaming) {
          return renaming->from == name || trail.root() + renaming->from == name;
        });
    if (is_meant) all.push(step_json(trail, prepared, stages, i, plan));
  }
  if (!all.as<Value::Array>()->empty()) return all;
  Value sources = Value::array().push(place_json(find_tensor(original, name)));
  const bool is_dropped = std::ranges::find(prepared.dropped, name) != prepared.dropped.end();
  return Value::array().push(Value::object()
                                 .set("from", std::move(sources))
                                 .set("what", is_dropped
                                                  ? "dropped: outside the root, or by --include and --exclude"
                                                  : "dropped: the target does not know it"));
}

void print_explanation(const Value& explanation, const Talk& talk) {
  for (const Value& row : *explanation.as<Value::Array>()) {
    const Value* to = row.find("to");
    talk.report(to == nullptr ? "(nothing)" : member(*to, "name"));
    for (const Value& source : *row.find("from")->as<Value::Array>())
      if (source.find("renames") != nullptr) print_source(source, talk);
      else talk.report("  file    " + described(source));
    std::string what = member(row, "what");
    if (row.find("kind") != nullptr)
      what += fmt::format("; {} ({})", member(row, "kind"), member(row, "evidence"));
    talk.report("  layout  " + what);
    if (const Value* cast = row.find("cast"))
      talk.report(fmt::format("  cast    {} to {}", member(*cast, "from"), member(*cast, "to")));
    if (to == nullptr) continue;
    std::string line = described(*to);
    if (const auto range = numbers(*to, "range"); range.size() == 2)
      line += fmt::format(", bytes {} to {}", range[0], range[1]);
    if (const std::string id = member(*to, "param_id"); !id.empty()) line += ", param id " + id;
    talk.report("  output  " + line);
  }
}

}  // namespace ckpt
