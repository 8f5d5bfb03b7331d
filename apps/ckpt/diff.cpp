#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "ckpt/codec/json.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/report/compare.hpp"
#include "command.hpp"
#include "pipeline.hpp"

namespace ckpt {
namespace {

struct Diff {
  std::string a, b, atol = "0", rtol = "0";
  StageOptions stages, left{"left-"}, right{"right-"};
  TalkOptions talk;
  bool json = false;
  bool summary = false;
  bool names_only = false;
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

bool is_other_shape_and_type(const Difference& difference) {
  return difference.what == Difference::What::shape && difference.a->dtype != difference.b->dtype;
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

Value renamed_json(const Comparison& comparison) {
  Value all = Value::array();
  for (const auto& [a, b] : comparison.renamed) all.push(Value::object().set("a", a->name).set("b", b->name));
  return all;
}

Value document(const Comparison& comparison, bool reads_values) {
  Value doc = Value::object();
  doc.set("schema", 1)
      .set("equal", comparison.is_equal())
      .set("only_in_a", names_json(comparison.only_in_a))
      .set("only_in_b", names_json(comparison.only_in_b))
      .set("renamed", renamed_json(comparison));
  Value different = Value::array();
  for (const Difference& difference : comparison.different) {
    Value row = Value::object();
    row.set("name", difference.a->name).set("what", what_name(difference.what));
    if (difference.what == Difference::What::shape)
      row.set("a", shape_json(difference.a->shape)).set("b", shape_json(difference.b->shape));
    if (is_other_shape_and_type(difference))
      row.set("dtypes",
              Value::object().set("a", name(difference.a->dtype)).set("b", name(difference.b->dtype)));
    if (difference.common_rows) row.set("equal_rows", *difference.common_rows);
    if (difference.what == Difference::What::dtype)
      row.set("a", name(difference.a->dtype)).set("b", name(difference.b->dtype));
    if (difference.values)
      row.set("max_abs", difference.values->max_abs)
          .set("at", shape_json(difference.values->at))
          .set("count", difference.values->count)
          .set("elements", difference.values->elements)
          .set("mean_abs", difference.values->mean_abs)
          .set("max_relative", difference.values->max_relative);
    different.push(std::move(row));
  }
  doc.set("different", std::move(different))
      .set("equal_count", comparison.equal)
      .set("max_abs", comparison.max_abs);
  if (!reads_values) doc.set("values_compared", false);
  return doc;
}

/// Per cent in two digits; 100 only for all.
std::string share(std::uint64_t count, std::uint64_t of) {
  const double percent = 100 * static_cast<double>(count) / static_cast<double>(of);
  if (count == of) return "100";
  return percent < 9.95 ? fmt::format("{:.2g}", percent) : fmt::format("{:.0f}", std::floor(percent));
}

std::string describe(const Difference& difference, bool reads_values) {
  std::string text;
  if (difference.what == Difference::What::shape) {
    text = fmt::format("shape {} and {}", to_string(difference.a->shape), to_string(difference.b->shape));
    if (is_other_shape_and_type(difference))
      text += fmt::format("; dtype {} and {}", name(difference.a->dtype), name(difference.b->dtype));
    if (!difference.common_rows) return text;
    const std::uint64_t rows_a = difference.a->shape.front();
    const std::uint64_t rows_b = difference.b->shape.front();
    return text + fmt::format("; first {} equal, {} {}", count(*difference.common_rows, "row"),
                              grouped(rows_b > rows_a ? rows_b - rows_a : rows_a - rows_b),
                              rows_b > rows_a ? "new" : "gone");
  }
  if (difference.what == Difference::What::dtype) {
    text = fmt::format("dtype {} and {}", name(difference.a->dtype), name(difference.b->dtype));
    if (!reads_values) return text;
    if (!difference.values) return text + ", equal values";
    text += "; ";
  }
  const ValueDifference& values = *difference.values;
  text += fmt::format("values: max |a-b| {} at {}, {} of {} {}", values.max_abs, to_string(values.at),
                      grouped(values.count), count(values.elements, "element"),
                      values.elements == 1 ? "differs" : "differ");
  if (values.elements > 1)
    text += fmt::format(" ({} %), mean |a-b| {:.3g}", share(values.count, values.elements), values.mean_abs);
  if (values.max_relative > 0) text += fmt::format(", max relative {:.3g}", values.max_relative);
  return text;
}

void print_only(std::string_view side, const std::vector<const Tensor*>& tensors, const Paint& paint) {
  for (const Tensor* tensor : tensors)
    fmt::print("{} {}  {} {}\n", paint.red(fmt::format("only in {}:", side)), printable(tensor->name),
               name(tensor->dtype), to_string(tensor->shape));
}

/// Shapes and types first, then the values that lie furthest apart.
std::vector<const Difference*> worst_first(const Comparison& comparison) {
  std::vector<const Difference*> order;
  for (const Difference& difference : comparison.different) order.push_back(&difference);
  const auto badness = [](const Difference* difference) {
    const bool is_values = difference->what == Difference::What::values;
    const double worst = is_values ? difference->values->max_abs : 0;
    return std::tuple(!is_values, std::isnan(worst), std::isnan(worst) ? 0 : worst);
  };
  std::ranges::stable_sort(order, std::greater(), badness);
  return order;
}

void print_comparison(const Comparison& comparison, const Diff& options, const Tolerance& tolerance,
                      const Paint& paint) {
  if (!options.summary) {
    print_only("A", comparison.only_in_a, paint);
    print_only("B", comparison.only_in_b, paint);
    for (const auto& [a, b] : comparison.renamed)
      fmt::print("{} {} -> {}\n", paint.yellow("renamed:"), printable(a->name), printable(b->name));
    for (const Difference* difference : worst_first(comparison))
      fmt::print("{}: {}\n", paint.bold(printable(difference->a->name)),
                 describe(*difference, !options.names_only));
  }
  const std::string verdict = comparison.is_equal() ? paint.green("OK") : paint.red("DIFFERENT");
  fmt::print("{} equal, {} different, {} only in A, {} only in B", grouped(comparison.equal),
             grouped(comparison.different.size()), grouped(comparison.only_in_a.size()),
             grouped(comparison.only_in_b.size()));
  if (!comparison.renamed.empty()) fmt::print(", {} renamed", grouped(comparison.renamed.size()));
  if (options.names_only) fmt::print("; values not compared {}\n", verdict);
  else
    fmt::print("; worst={} atol={} rtol={} {}\n", comparison.max_abs, tolerance.absolute, tolerance.relative,
               verdict);
}

/// Which side the adapter runs on: the one that is not yet in the layout that it leads to.
bool adapts_b(Direction direction, const Checkpoint& a, const Checkpoint& b) {
  const Convention goal = direction == Direction::pytorch_to_burn ? Convention::burn : Convention::pytorch;
  return direction != Direction::none && convention_of(a) == goal && convention_of(b) != goal;
}

/// What is asked of both sides and then of one.
StageOptions::Parsed joined(StageOptions::Parsed both, StageOptions::Parsed one) {
  std::ranges::move(one.filters.include, std::back_inserter(both.filters.include));
  std::ranges::move(one.filters.exclude, std::back_inserter(both.filters.exclude));
  std::ranges::move(one.rules, std::back_inserter(both.rules));
  std::ranges::move(one.kinds, std::back_inserter(both.kinds));
  if (one.top_level_key) both.top_level_key = std::move(one.top_level_key);
  if (one.adapter) both.adapter = one.adapter;
  both.strip_wrappers = both.strip_wrappers || one.strip_wrappers;
  both.strict_rules = both.strict_rules || one.strict_rules;
  both.renumber = both.renumber || one.renumber;
  both.like = std::move(one.like);
  return both;
}

/// Whose layout a side is compared in where the other has no say: its target's, else its own.
Convention layout_of(const Prepared& side, const Checkpoint& like) {
  const Convention wanted = convention_of(like);
  return wanted == Convention::either ? convention_of(side.checkpoint) : wanted;
}

/// Lays one side out, with the kinds of modules where they have a say.
void adapt_side(Prepared& side, const Way& way, Checkpoint like, bool uses_kinds,
                const StageOptions::Parsed& stages, const Talk& talk) {
  const std::vector<KindRule> no_kinds;
  const std::vector<KindRule>& kinds = uses_kinds ? stages.kinds : no_kinds;
  if (way.direction != Direction::none)
    talk.report(
        fmt::format("adapter: {} on {}", direction_name(way.direction), printable(side.checkpoint.file)));
  std::optional<Target> target;
  if (!stages.like.empty()) target = target_of(std::move(like), way.goal, stages.kinds);
  adapt(side, way.direction, kinds, target ? &*target : nullptr);
  if (target) match_target(side, *target, stages.match);
}

ExitStatus run(const Diff& options) {
  const Talk talk(options.talk);
  const Tolerance tolerance{parse_tolerance(options.atol, "--atol"), parse_tolerance(options.rtol, "--rtol")};
  // Rules, a root and wrappers that no side is named for are A's; filters and kinds are for both.
  StageOptions::Parsed plain = options.stages.parse();
  StageOptions::Parsed shared;
  shared.filters = std::move(plain.filters);
  shared.kinds = std::move(plain.kinds);
  shared.adapter = plain.adapter;
  plain.filters = options.stages.parse().filters;
  plain.kinds = options.stages.parse().kinds;
  StageOptions::Parsed left = options.left.parse();
  StageOptions::Parsed right = options.right.parse();
  const bool by_side = left.adapter || right.adapter;
  const StageOptions::Parsed stages_a = joined(std::move(plain), std::move(left));
  const StageOptions::Parsed stages_b = joined(std::move(shared), std::move(right));
  Prepared a = prepare(options.a, stages_a);
  Prepared b = prepare(options.b, stages_b);
  Checkpoint like_a, like_b;
  if (!stages_a.like.empty()) like_a = load_like(stages_a.like);
  if (!stages_b.like.empty()) like_b = load_like(stages_b.like);
  const auto [way_a, way_b] = [&]() -> std::pair<Way, Way> {
    const Way stays_a{Direction::none, convention_of(a.checkpoint)};
    const Way stays_b{Direction::none, convention_of(b.checkpoint)};
    if (by_side)
      return {stages_a.adapter ? way_of(*stages_a.adapter) : stays_a,
              stages_b.adapter ? way_of(*stages_b.adapter) : stays_b};
    if (stages_a.adapter) {
      const Way way = way_of(*stages_a.adapter);
      if (way.direction == Direction::none) return {way, way};
      if (adapts_b(way.direction, a.checkpoint, b.checkpoint)) return {stays_a, way};
      return {way, stays_b};
    }
    const Convention goal = layout_of(b, like_b);
    return {default_way(stays_a.goal, goal == Convention::either ? layout_of(a, like_a) : goal),
            default_way(stays_b.goal, goal)};
  }();
  // Kinds that nobody uses are told of once.
  const bool adapts_only_b = way_a.direction == Direction::none && way_b.direction != Direction::none;
  adapt_side(a, way_a, std::move(like_a), !adapts_only_b, stages_a, talk);
  adapt_side(b, way_b, std::move(like_b), way_b.direction != Direction::none, stages_b, talk);
  require_deliverable(a.checkpoint);
  require_deliverable(b.checkpoint);
  print_warnings(a, talk);
  print_warnings(b, talk);

  const Comparison comparison =
      compare_with({.tolerance = tolerance, .reads_values = !options.names_only}, a.checkpoint, b.checkpoint);
  if (options.json) print_json(document(comparison, !options.names_only));
  else print_comparison(comparison, options, tolerance, Paint(options.talk, stdout));
  return comparison.is_equal() ? ExitStatus::done : ExitStatus::no;
}

}  // namespace

std::function<ExitStatus()> add_diff(CLI::App& app) {
  const auto options = std::make_shared<Diff>();
  app.add_option("A", options->a,
                 "A checkpoint; options that name no side are applied to it, filters to both")
      ->required();
  app.add_option("B", options->b, "The checkpoint that A is held against")->required();
  app.add_option("--atol", options->atol, "Values may differ by this much, as NumPy's allclose has it")
      ->type_name("NUMBER");
  app.add_option("--rtol", options->rtol, "… and by this much of |b|")->type_name("NUMBER");
  app.add_flag("--summary", options->summary, "Only the last line");
  app.add_flag("--names-only", options->names_only, "Compare names, shapes and types; read no data");
  options->stages.add_choice(app);
  options->stages.add_rename(app);
  options->stages.add_layout(app);
  for (StageOptions* side : {&options->left, &options->right}) {
    side->add_choice(app);
    side->add_rename(app);
    side->add_layout(app);
    side->add_like(app);
  }
  CLI::Option* adapter = app.get_option("--adapter");
  for (const char* name : {"--left-adapter", "--right-adapter"}) app.get_option(name)->excludes(adapter);
  app.add_flag("--json", options->json, "One JSON document on standard output");
  options->talk.add(app);
  app.footer(
      "Examples:\n"
      "  ckpt diff old.safetensors new.safetensors\n"
      "  ckpt diff model.pt model.bpk --remap rules.txt\n"
      "  ckpt diff old.pt new.pt --left-top-level-key state_dict --right-strip-wrappers\n"
      "  ckpt diff a.safetensors b.safetensors --atol 1e-6 --json");
  return [options] { return run(*options); };
}

}  // namespace ckpt
