#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "check.hpp"
#include "ckpt/codec/json.hpp"
#include "ckpt/core/quoted.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/report/compare.hpp"
#include "edits.hpp"
#include "name_lists.hpp"
#include "pipeline.hpp"
#include "sarif.hpp"

namespace ckpt {
namespace {

using Names = std::vector<std::string>;

/// What two catalogues are held against each other with.
struct Question {
  const Checkpoint& like;  ///< the target as it stands in its file
  Way way;
  const std::vector<KindRule>& kinds;
  const MatchOptions& match;
};

/// How a source, carried as far as `convert --like` does, fits the target.
struct Fit {
  Prepared source;
  Target target;
  MatchReport match;
  std::string undecided;  ///< why no layout was found; the names were held against each other as they are
};

Fit fit(const Prepared& source, const Question& question) {
  Fit result;
  try {
    result.target = target_of(question.like, question.way.goal, question.kinds);
    result.source = source;
    fit_names(result.source, result.target);
    restore_before_layout(result.source, result.target, question.way.direction);
    adapt(result.source, question.way.direction, question.kinds, &result.target);
    restore_after_layout(result.source, result.target);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::refused) throw;
    result.undecided = error.hint().empty() ? error.message() : error.message() + "; " + error.hint();
    result.target = make_target(question.like);
    result.source = source;
  }
  result.match = match(result.source.checkpoint, result.target, question.match).report;
  MatchReport& report = result.match;
  for (Names* names : {&report.missing, &report.missing_allowed, &report.unused, &report.unused_allowed})
    std::ranges::sort(*names, natural_less);
  std::ranges::stable_sort(report.mismatched, natural_less, &Mismatch::name);
  return result;
}

/// Tensors of another shape, another type, or both, which stand beside each other.
std::uint64_t mismatched_tensors(const MatchReport& report) {
  std::uint64_t repeated = 0;
  for (std::size_t i = 1; i < report.mismatched.size(); ++i)
    if (report.mismatched[i].name == report.mismatched[i - 1].name) ++repeated;
  return report.mismatched.size() - repeated;
}

std::uint64_t misfits(const Fit& fit) {
  const MatchReport& report = fit.match;
  return report.missing.size() + report.unused.size() + report.mismatched.size() +
         (fit.undecided.empty() ? 0 : 1);
}

/// What would mend a misfit. Every suggestion was tried.
struct Suggestions {
  std::vector<std::pair<std::string, std::string>> did_you_mean;  ///< missing name, name in the file
  Names rules;
  std::uint64_t mended = 0;  ///< missing tensors that the rules supply
  bool is_cut = false;       ///< there were too many names to compare: some suggestions are left out
  std::string adapter = {};  ///< of the two formats neither calls for one, and this one fits better
  double adapter_coverage = 0;
};

/// The target's names as the rules see them: before the adapter turns them into the target's own.
std::vector<NamedShape> names_before_adapter(const Question& question) {
  const Direction back = question.way.direction == Direction::pytorch_to_burn   ? Direction::burn_to_pytorch
                         : question.way.direction == Direction::burn_to_pytorch ? Direction::pytorch_to_burn
                                                                                : Direction::none;
  Prepared target;
  target.checkpoint = question.like;
  try {
    adapt_names(target, back);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::refused) throw;
    return named_shapes(question.like);
  }
  return named_shapes(target.checkpoint);
}

/// Infers rules; where no name fits, all names are those that do not, and need not be looked at twice.
class Inferrer {
 public:
  const Inference& infer(std::vector<NamedShape> source, std::vector<NamedShape> target) {
    if (last_ && source == source_ && target == target_) return *last_;
    last_.reset();
    source_ = std::move(source);
    target_ = std::move(target);
    return last_.emplace(infer_rules(source_, target_, rule_applier()));
  }

  /// What was asked last.
  const std::vector<NamedShape>& source() const { return source_; }
  const std::vector<NamedShape>& target() const { return target_; }

 private:
  std::vector<NamedShape> source_, target_;
  std::optional<Inference> last_;
};

std::vector<NamedShape> unused_shapes(const Fit& fit) {
  const std::unordered_set<std::string_view> is_unused(fit.match.unused.begin(), fit.match.unused.end());
  std::vector<NamedShape> unused;
  for (const Tensor& tensor : fit.source.checkpoint.tensors)
    if (is_unused.contains(tensor.name)) unused.push_back({tensor.name, tensor.dtype, tensor.shape});
  return unused;
}

std::vector<NamedShape> missing_shapes(const Fit& fit) {
  const std::unordered_set<std::string_view> is_missing(fit.match.missing.begin(), fit.match.missing.end());
  std::vector<NamedShape> missing;
  for (const TargetTensor& tensor : fit.target.tensors)
    if (is_missing.contains(tensor.name)) missing.push_back({tensor.name, tensor.dtype, tensor.shape});
  return missing;
}

/// For each of the first missing names the unused one that is probably meant.
void suggest_names(const Fit& fit, std::size_t wanted_names, Inferrer& inferrer, Suggestions& found) {
  std::unordered_map<std::string, std::string> partner;
  const Inference& inference = inferrer.infer(unused_shapes(fit), missing_shapes(fit));
  for (const auto& [from, to] : inference.pairs) partner.emplace(to, from);
  found.is_cut = inference.is_cut;
  const std::vector<NamedShape>& unused = inferrer.source();
  std::vector<const NamedShape*> missing;
  for (const NamedShape& tensor : inferrer.target()) missing.push_back(&tensor);
  std::ranges::sort(missing, natural_less, [](const NamedShape* tensor) { return tensor->name; });
  std::size_t compared = 0;
  for (std::size_t i = 0; i < std::min(wanted_names, missing.size()); ++i) {
    if (partner.contains(missing[i]->name)) continue;
    compared += unused.size();
    if (compared > most_comparisons) {
      found.is_cut = true;
      break;
    }
    if (const std::optional<std::size_t> meant = did_you_mean(*missing[i], unused))
      partner.emplace(missing[i]->name, unused[*meant].name);
  }
  // What could be two things is no suggestion.
  std::unordered_map<std::string_view, std::size_t> claims;
  for (const auto& [wanted, meant] : partner) ++claims[meant];
  for (const std::string& wanted : fit.match.missing)
    if (const auto pair = partner.find(wanted); pair != partner.end() && claims[pair->second] == 1)
      found.did_you_mean.emplace_back(wanted, pair->second);
}

/// Rules that carry all names to the target's, as far as any are found.
std::vector<Rule> rules_for(const Prepared& source, const Question& question, Inferrer inferrer,
                            Suggestions& found) {
  const Inference& inference =
      inferrer.infer(named_shapes(source.checkpoint), names_before_adapter(question));
  found.is_cut |= inference.is_cut;
  std::vector<Rule> rules;
  for (const InferredRule& rule : inference.rules) rules.push_back(parse_rule(rule.text));
  return rules;
}

/// What the rules carry to a missing name is what it may be, and what they carry elsewhere is not.
void agree_with_rules(const Fit& before, const Fit& after, Suggestions& found) {
  std::unordered_map<std::string_view, std::string_view> carried;
  std::unordered_set<std::string_view> taken;
  std::unordered_set<std::string_view> wanted;
  for (const TargetTensor& tensor : after.target.tensors) wanted.insert(tensor.name);
  // Rules change no order.
  const std::vector<Tensor>& from = before.source.checkpoint.tensors;
  const std::vector<Tensor>& to = after.source.checkpoint.tensors;
  for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
    if (!same_place(from[i], to[i]) || !wanted.contains(to[i].name)) continue;
    carried.emplace(to[i].name, from[i].name);
    taken.insert(from[i].name);
  }
  const std::unordered_map<std::string_view, std::string_view> meant(found.did_you_mean.begin(),
                                                                     found.did_you_mean.end());
  std::vector<std::pair<std::string, std::string>> agreed;
  for (const std::string& name : before.match.missing) {
    if (const auto by_rules = carried.find(name); by_rules != carried.end())
      agreed.emplace_back(name, by_rules->second);
    else if (const auto other = meant.find(name); other != meant.end() && !taken.contains(other->second))
      agreed.emplace_back(name, other->second);
  }
  found.did_you_mean = std::move(agreed);
}

/// Rules that leave fewer misfits than there were.
void suggest_rules(const Prepared& source, const Question& question, const Fit& before,
                   const std::vector<Rule>& rules, Suggestions& found) {
  if (rules.empty()) return;
  Prepared renamed = source;
  try {
    renamed.checkpoint = remap(std::move(renamed.checkpoint), rules).checkpoint;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::refused) throw;
    return;
  }
  const Fit after = fit(renamed, question);
  if (misfits(after) >= misfits(before) || after.match.missing.size() >= before.match.missing.size()) return;
  for (const Rule& rule : rules) found.rules.push_back(rule.text);
  found.mended = before.match.missing.size() - after.match.missing.size();
  agree_with_rules(before, after, found);
}

/// Where the formats do not say whose layout they hold, the adapter may be what is missing.
void suggest_adapter(const Prepared& source, const Question& question, const Fit& before,
                     Suggestions& found) {
  for (const Direction direction : {Direction::pytorch_to_burn, Direction::burn_to_pytorch}) {
    const Fit after = fit(source, {question.like, way_of(direction), question.kinds, question.match});
    if (!after.undecided.empty() || misfits(after) >= misfits(before) ||
        after.match.covered <= before.match.covered || after.match.coverage() <= found.adapter_coverage)
      continue;
    found.adapter = direction_name(direction);
    found.adapter_coverage = after.match.coverage();
  }
}

/// Names that the target ties together and whose values differ in the source. Reads those only.
void find_broken_ties(const Fit& fit, std::vector<Finding>& findings) {
  if (std::ranges::all_of(fit.target.tensors, [](const TargetTensor& t) { return t.tied_to.empty(); }))
    return;
  std::unordered_map<std::string_view, const Tensor*> by_name;
  for (const Tensor& tensor : fit.source.checkpoint.tensors) by_name.emplace(tensor.name, &tensor);
  for (const TargetTensor& tensor : fit.target.tensors) {
    const auto one = by_name.find(tensor.name);
    const auto other = by_name.find(tensor.tied_to);
    if (tensor.tied_to.empty() || one == by_name.end() || other == by_name.end() ||
        same_place(*one->second, *other->second))
      continue;
    Checkpoint a, b;
    a.tensors = {*one->second};
    b.tensors = {*other->second};
    b.tensors.front().name = a.tensors.front().name;
    if (!compare(a, b, {}).is_equal())
      findings.push_back({FindingId::broken_tie, tensor.name,
                          fmt::format("{} is tied to {} in the target and differs from it in the file",
                                      printable(tensor.name), printable(tensor.tied_to))});
  }
}

/// `99.5%` or `0.995`.
double parse_share(const std::string& text) {
  const bool is_percent = text.ends_with('%');
  double value = -1;
  const char* end = text.data() + text.size() - (is_percent ? 1 : 0);
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (is_percent) value /= 100;
  if (error != std::errc() || at != end || !(value >= 0 && value <= 1))
    throw Error(ErrorKind::usage, fmt::format("--min-coverage: `{}` is no share", printable(text)))
        .with_hint("give it as 99.5% or as 0.995");
  return value;
}

/// Everything that does not fit, as findings: each has a code that --ignore knows.
std::vector<Finding> judge_fit(const Fit& fit, const Suggestions& suggestions, double least_coverage) {
  std::vector<Finding> findings;
  const MatchReport& report = fit.match;
  const auto add = [&](FindingId id, const std::string& tensor, std::string text) {
    findings.push_back({id, tensor, std::move(text)});
  };
  if (!fit.undecided.empty()) add(FindingId::undecided, {}, fit.undecided);
  std::unordered_map<std::string_view, std::string_view> meant(suggestions.did_you_mean.begin(),
                                                               suggestions.did_you_mean.end());
  for (const std::string& name : report.missing) {
    const auto found = meant.find(name);
    add(FindingId::missing, name,
        fmt::format("{}: the target has it, the file does not{}", printable(name),
                    found == meant.end() ? "" : fmt::format("; it may be {}", printable(found->second))));
  }
  for (const std::string& name : report.unused)
    add(FindingId::unused, name, fmt::format("{}: the target does not know it", printable(name)));
  for (const Mismatch& mismatch : report.mismatched)
    add(mismatch.is_shape ? FindingId::other_shape : FindingId::other_dtype, mismatch.name,
        fmt::format("{} is {}, and {} in the target", printable(mismatch.name), mismatch.found(),
                    mismatch.wanted()));
  if (report.coverage() < least_coverage)
    add(FindingId::too_little, {},
        fmt::format("{} of the target's parameters are supplied, and {} are wanted",
                    percent(report.coverage()), percent(least_coverage)));
  find_broken_ties(fit, findings);
  return findings;
}

bool is_misfit(FindingId id) {
  return id == FindingId::missing || id == FindingId::unused || id == FindingId::other_shape ||
         id == FindingId::other_dtype;
}

// Of each kind of misfit so many are shown; --verbose shows all.
constexpr std::size_t shown = 20;

class MisfitTable {
 public:
  MisfitTable(const Fit& fit, const Suggestions& suggestions, const Talk& talk)
      : fit_(fit), talk_(talk), meant_(suggestions.did_you_mean.begin(), suggestions.did_you_mean.end()) {
    const MatchReport& report = fit.match;
    std::unordered_set<std::string_view> named;
    for (const Names* names :
         {&report.missing, &report.missing_allowed, &report.unused, &report.unused_allowed})
      named.insert(names->begin(), names->end());
    for (const Mismatch& mismatch : report.mismatched) named.insert(mismatch.name);
    for (const Tensor& tensor : fit.source.checkpoint.tensors)
      if (named.contains(tensor.name)) source_.emplace(tensor.name, describe(tensor.dtype, tensor.shape));
    for (const TargetTensor& tensor : fit.target.tensors)
      if (named.contains(tensor.name)) target_.emplace(tensor.name, describe(tensor.dtype, tensor.shape));
  }

  /// Empty where there is nothing to show.
  std::string text() {
    const MatchReport& report = fit_.match;
    Names other_shape, other_dtype;
    for (const Mismatch& mismatch : report.mismatched)
      (mismatch.is_shape ? other_shape : other_dtype).push_back(mismatch.name);
    add("missing", report.missing);
    add("unused", report.unused);
    add("shape", other_shape);
    add("dtype", other_dtype);
    add("missing, allowed", report.missing_allowed);
    add("unused, allowed", report.unused_allowed);
    if (rows_.size() == 1) return {};
    return format_table(rows_, {false, false, false, false, false}) + "\n";
  }

 private:
  static std::string describe(DType dtype, const Shape& shape) {
    return fmt::format("{} {}", name(dtype), to_string(shape));
  }

  void add(const std::string& what, const Names& names) {
    const std::size_t end = talk_.is_verbose() ? names.size() : std::min(shown, names.size());
    for (std::size_t i = 0; i < end; ++i) {
      const auto source = source_.find(names[i]);
      const auto target = target_.find(names[i]);
      const auto meant = meant_.find(names[i]);
      rows_.push_back({what, printable(names[i]), source == source_.end() ? "" : source->second,
                       target == target_.end() ? "" : target->second,
                       meant == meant_.end() ? "" : printable(meant->second)});
    }
    if (end < names.size())
      rows_.push_back(
          {what, fmt::format("and {} more (--verbose lists all)", grouped(names.size() - end)), "", "", ""});
  }

  const Fit& fit_;
  const Talk& talk_;
  std::unordered_map<std::string_view, std::string_view> meant_;
  std::unordered_map<std::string_view, std::string> source_, target_;
  std::vector<std::vector<std::string>> rows_{{"misfit", "name", "file", "target", "did you mean"}};
};

void print_suggestions(const Suggestions& suggestions, std::size_t missing) {
  if (suggestions.is_cut) fmt::print("too many names to compare: suggestions are left out\n\n");
  if (!suggestions.adapter.empty())
    fmt::print("--adapter {} supplies {} of the parameters\n\n", suggestions.adapter,
               percent(suggestions.adapter_coverage));
  if (suggestions.rules.empty()) return;
  fmt::print("{} {} {} of {}:\n", count(suggestions.rules.size(), "rule"),
             suggestions.rules.size() == 1 ? "supplies" : "supply", grouped(suggestions.mended),
             count(missing, "missing tensor"));
  // A rule has no spelling for what a terminal would obey: it is shown, and left to --json.
  for (const std::string& rule : suggestions.rules)
    fmt::print("  {}--rename {}\n", printable(rule) == rule ? "" : "only with --json: ", shell_word(rule));
  fmt::print("\n");
}

void print_answer(const Check& options, const StageOptions::Parsed& stages, const Fit& fit,
                  const Suggestions& suggestions, std::vector<Finding> findings, const Talk& talk) {
  const Paint paint(options.talk, stdout);
  const bool is_ok = is_passed(options, findings);
  std::erase_if(findings, [](const Finding& finding) { return is_misfit(finding.id); });
  print_findings(findings, paint);
  if (!findings.empty()) fmt::print("\n");
  fmt::print("{}", MisfitTable(fit, suggestions, talk).text());
  print_suggestions(suggestions, fit.match.missing.size());
  const MatchReport& report = fit.match;
  fmt::print("{} for {}: {} of {} fit, {} missing, {} unused, {} mismatched; {} of the parameters: {}\n",
             printable(options.file), printable(stages.like), grouped(report.fitting),
             count(fit.target.tensors.size(), "tensor"), grouped(report.missing.size()),
             grouped(report.unused.size()), grouped(mismatched_tensors(report)), percent(report.coverage()),
             is_ok ? paint.green("fits") : paint.red("DOES NOT FIT"));
}

Value shape_json(const Shape& shape) {
  Value all = Value::array();
  for (const std::uint64_t size : shape) all.push(size);
  return all;
}

Value mismatched_json(const MatchReport& report) {
  Value all = Value::array();
  for (const Mismatch& mismatch : report.mismatched) {
    Value row = Value::object();
    row.set("name", mismatch.name).set("what", mismatch.is_shape ? "shape" : "dtype");
    if (mismatch.is_shape)
      row.set("file", shape_json(mismatch.found_shape)).set("target", shape_json(mismatch.wanted_shape));
    else row.set("file", name(mismatch.found_dtype)).set("target", name(mismatch.wanted_dtype));
    all.push(std::move(row));
  }
  return all;
}

Value document(const Check& options, const StageOptions::Parsed& stages, const Fit& fit,
               const Suggestions& suggestions, const std::vector<Finding>& findings) {
  const MatchReport& report = fit.match;
  Value meant = Value::object();
  for (const auto& [wanted, found] : suggestions.did_you_mean) meant.set(wanted, found);
  Value doc = Value::object();
  doc.set("schema", 1)
      .set("file", options.file)
      .set("like", stages.like)
      .set("ok", is_passed(options, findings))
      .set("adapter", direction_name(fit.source.layout.direction))
      .set("fitting", report.fitting)
      .set("coverage", report.coverage())
      .set("missing", strings_json(report.missing))
      .set("unused", strings_json(report.unused))
      .set("mismatched", mismatched_json(report))
      .set("missing_allowed", strings_json(report.missing_allowed))
      .set("unused_allowed", strings_json(report.unused_allowed))
      .set("did_you_mean", std::move(meant))
      .set("rules", strings_json(suggestions.rules));
  if (suggestions.is_cut) doc.set("too_many_names", true);
  if (!suggestions.adapter.empty()) doc.set("suggested_adapter", suggestions.adapter);
  return doc.set("findings", findings_json(findings));
}

}  // namespace

ExitStatus check_like(const Check& options, StageOptions::Parsed stages) {
  const Talk talk(options.talk);
  const double least_coverage = options.min_coverage.empty() ? 0 : parse_share(options.min_coverage);
  const Prepared source = prepare(options.file, stages);
  const Checkpoint like = load_like(stages.like);
  if (like.tensors.empty()) talk.warn(stages.like, "there are no tensors in it");
  // A bound alone lets anything be missing within it.
  if (!options.min_coverage.empty() && stages.match.allow_missing.empty())
    stages.match.allow_missing.emplace_back("");
  // As `convert --like` does with an output that may be in either layout.
  const Way way = stages.adapter ? way_of(*stages.adapter)
                                 : default_way(convention_of(source.checkpoint), convention_of(like));
  const Question question{like, way, stages.kinds, stages.match};

  const Fit answer = fit(source, question);
  if (way.direction != Direction::none)
    talk.report(fmt::format("adapter: {}{}", direction_name(way.direction),
                            stages.adapter ? "" : " (by the two formats)"));
  for (const EditReport& edits : answer.source.edits) talk.report(edits.summary);
  for (const std::string& warning : answer.source.warnings) talk.warn(options.file, warning);
  Suggestions suggestions;
  if (!answer.match.missing.empty()) {
    const bool is_all = options.json || options.sarif || talk.is_verbose();
    Inferrer inferrer;
    suggest_names(answer, is_all ? SIZE_MAX : shown, inferrer, suggestions);
    const std::vector<Rule> rules = rules_for(source, question, std::move(inferrer), suggestions);
    suggest_rules(source, question, answer, rules, suggestions);
  }
  if (misfits(answer) > 0 && way.direction == Direction::none && !stages.adapter)
    suggest_adapter(source, question, answer, suggestions);

  std::vector<Finding> findings = judge_catalogue(options, source.checkpoint);
  std::ranges::move(judge_fit(answer, suggestions, least_coverage), std::back_inserter(findings));
  findings = without_ignored(options, std::move(findings));
  if (options.json) print_json(document(options, stages, answer, suggestions, findings));
  else if (options.sarif) print_json(sarif_log(options.file, findings));
  else print_answer(options, stages, answer, suggestions, findings, talk);
  return is_passed(options, findings) ? ExitStatus::done : ExitStatus::no;
}

}  // namespace ckpt
