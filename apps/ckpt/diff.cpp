#include <cmath>

#include "ckpt/codec/json.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/report/compare.hpp"
#include "command.hpp"
#include "pipeline.hpp"

namespace ckpt {
namespace {

struct Diff {
  std::string a, b, atol = "0", rtol = "0";
  StageOptions stages;
  TalkOptions talk;
  bool json = false;
};

std::string_view what_name(Difference::What what) {
  switch (what) {
    case Difference::What::shape:
      return "shape";
    case Difference::What::dtype:
      return "dtype";
    case Difference::What::values:
      break;
  }
  return "values";
}

Value shape_json(const Shape& shape) {
  Value all = Value::array();
  for (const std::uint64_t size : shape) all.push(size);
  return all;
}

Value names_json(const std::vector<const Tensor*>& tensors) {
  Value all = Value::array();
  for (const Tensor* tensor : tensors) all.push(tensor->name);
  return all;
}

Value document(const Comparison& comparison) {
  Value doc = Value::object();
  doc.set("schema", 1)
      .set("equal", comparison.is_equal())
      .set("only_in_a", names_json(comparison.only_in_a))
      .set("only_in_b", names_json(comparison.only_in_b))
      .set("renamed", Value::array());
  Value different = Value::array();
  for (const Difference& difference : comparison.different) {
    Value row = Value::object();
    row.set("name", difference.a->name).set("what", what_name(difference.what));
    if (difference.what == Difference::What::shape)
      row.set("a", shape_json(difference.a->shape)).set("b", shape_json(difference.b->shape));
    if (difference.what == Difference::What::dtype)
      row.set("a", name(difference.a->dtype)).set("b", name(difference.b->dtype));
    if (difference.values)
      row.set("max_abs", difference.values->max_abs)
          .set("at", shape_json(difference.values->at))
          .set("count", difference.values->count)
          .set("elements", difference.values->elements);
    different.push(std::move(row));
  }
  doc.set("different", std::move(different))
      .set("equal_count", comparison.equal)
      .set("max_abs", comparison.max_abs);
  return doc;
}

std::string describe(const Difference& difference) {
  std::string text;
  if (difference.what == Difference::What::shape)
    return fmt::format("shape {} and {}", to_string(difference.a->shape), to_string(difference.b->shape));
  if (difference.what == Difference::What::dtype) {
    text = fmt::format("dtype {} and {}", name(difference.a->dtype), name(difference.b->dtype));
    if (!difference.values) return text + ", equal values";
    text += "; ";
  }
  const ValueDifference& values = *difference.values;
  text += fmt::format("values: max |a-b| {} at {}, {} of {} differ", values.max_abs, to_string(values.at),
                      grouped(values.count), count(values.elements, "element"));
  return text;
}

void print_only(std::string_view side, const std::vector<const Tensor*>& tensors, const Paint& paint) {
  for (const Tensor* tensor : tensors)
    fmt::print("{} {}  {} {}\n", paint.red(fmt::format("only in {}:", side)), printable(tensor->name),
               name(tensor->dtype), to_string(tensor->shape));
}

void print_comparison(const Comparison& comparison, const Tolerance& tolerance, const Paint& paint) {
  print_only("A", comparison.only_in_a, paint);
  print_only("B", comparison.only_in_b, paint);
  for (const Difference& difference : comparison.different)
    fmt::print("{}: {}\n", paint.bold(printable(difference.a->name)), describe(difference));
  const std::string verdict = comparison.is_equal() ? paint.green("OK") : paint.red("DIFFERENT");
  fmt::print("{} equal, {} different, {} only in A, {} only in B; worst={} atol={} rtol={} {}\n",
             grouped(comparison.equal), grouped(comparison.different.size()),
             grouped(comparison.only_in_a.size()), grouped(comparison.only_in_b.size()), comparison.max_abs,
             tolerance.absolute, tolerance.relative, verdict);
}

/// Which side the adapter runs on: the one that is not yet in the layout that it leads to.
bool adapts_b(Direction direction, const Checkpoint& a, const Checkpoint& b) {
  const Convention goal = direction == Direction::pytorch_to_burn ? Convention::burn : Convention::pytorch;
  return direction != Direction::none && convention_of(a) == goal && convention_of(b) != goal;
}

ExitStatus run(const Diff& options) {
  const Talk talk(options.talk);
  const StageOptions::Parsed stages = options.stages.parse();
  const Tolerance tolerance{parse_tolerance(options.atol, "--atol"), parse_tolerance(options.rtol, "--rtol")};
  StageOptions::Parsed plain;
  plain.filters = options.stages.parse().filters;
  Prepared a = prepare(options.a, stages);
  Prepared b = prepare(options.b, plain);
  const Direction direction =
      stages.adapter.value_or(default_direction(convention_of(a.checkpoint), convention_of(b.checkpoint)));
  Prepared& adapted = adapts_b(direction, a.checkpoint, b.checkpoint) ? b : a;
  if (direction != Direction::none)
    talk.report(
        fmt::format("adapter: {} on {}", direction_name(direction), printable(adapted.checkpoint.file)));
  adapt(adapted, direction, stages.kinds);
  require_deliverable(a.checkpoint);
  require_deliverable(b.checkpoint);
  print_warnings(a, talk);
  print_warnings(b, talk);

  const Comparison comparison = compare(a.checkpoint, b.checkpoint, tolerance);
  if (options.json) fmt::print("{}\n", json::dump(document(comparison), 1));
  else print_comparison(comparison, tolerance, Paint(options.talk, stdout));
  return comparison.is_equal() ? ExitStatus::done : ExitStatus::no;
}

}  // namespace

std::function<ExitStatus()> add_diff(CLI::App& app) {
  const auto options = std::make_shared<Diff>();
  app.add_option("A", options->a, "A checkpoint; choice, rules and adapter are applied to it")->required();
  app.add_option("B", options->b, "The checkpoint that A is held against")->required();
  app.add_option("--atol", options->atol, "Values may differ by this much, as NumPy's allclose has it")
      ->type_name("NUMBER");
  app.add_option("--rtol", options->rtol, "… and by this much of |b|")->type_name("NUMBER");
  options->stages.add_choice(app);
  options->stages.add_rename(app);
  options->stages.add_layout(app);
  app.add_flag("--json", options->json, "One JSON document on standard output");
  options->talk.add(app);
  app.footer(
      "Examples:\n"
      "  ckpt diff old.safetensors new.safetensors\n"
      "  ckpt diff model.pt model.bpk --remap rules.txt\n"
      "  ckpt diff a.safetensors b.safetensors --atol 1e-6 --json");
  return [options] { return run(*options); };
}

}  // namespace ckpt
