#include "edits.hpp"

#include <unordered_map>

#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/kernels/computed_source.hpp"
#include "ckpt/stages/remap.hpp"
#include "ckpt/stages/restore.hpp"
#include "ckpt/stages/variants.hpp"

namespace ckpt {
namespace {

void take(Prepared& prepared, Edited edited) {
  prepared.checkpoint = std::move(edited.checkpoint);
  prepared.edits.push_back(std::move(edited.report));
}

Bytes make_scaled(const Tensor& weight, const Tensor& scale, std::uint64_t rows, std::uint64_t columns,
                  BlockSize block) {
  return scaled_source({weight, scale, rows, columns, block.first, block.second});
}

Bytes permute_rows(Bytes source, std::uint64_t offset, std::uint64_t rows, std::uint64_t row_bytes,
                   std::function<std::uint64_t(std::uint64_t)> row_of) {
  return permuted_source({std::move(source), offset, rows, row_bytes, std::move(row_of)});
}

}  // namespace

void EditOptions::add(CLI::App& app) {
  app.add_flag("--dequantize", dequantize_,
               "Turn FP8 weights with scales beside them into F32 (--dtype casts further)");
  app.add_option("--block-size", block_size_,
                 "Of block-scaled FP8; default: 128x128, or as the shapes divide")
      ->type_name("ROWSxCOLUMNS")
      ->needs("--dequantize");
  app.add_option(
         "--permute-rope", permute_rope_,
         "Reorder the rows of queries and keys from Meta's interleaved pairs to Hugging Face's halves "
         "(repeatable)")
      ->type_name("REGEX")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--heads", heads_, "Heads of queries, for --permute-rope")
      ->type_name("COUNT")
      ->check(whole_number(1))
      ->needs("--permute-rope");
  app.add_option("--kv-heads", kv_heads_, "Heads of keys; default: as many")
      ->type_name("COUNT")
      ->check(whole_number(1))
      ->needs("--heads");
  app.add_flag("--inverse", inverse_, "With --permute-rope: from halves to interleaved pairs")
      ->needs("--permute-rope");
  app.add_option(
         "--stack", stack_,
         "Join tensors whose names differ in an index, group 1, along a new first dimension (repeatable)")
      ->type_name("'PATTERN => NAME'")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--unstack", unstack_, "Cut along the first dimension; # in NAME is the index (repeatable)")
      ->type_name("'PATTERN => NAME'")
      ->take_all()
      ->allow_extra_args(false);
}

EditOptions::Parsed EditOptions::parse() const {
  Parsed parsed;
  parsed.dequantize = dequantize_;
  if (!block_size_.empty()) parsed.block = parse_block_size(block_size_);
  for (const std::string& pattern : permute_rope_) parsed.rope.names.emplace_back(pattern);
  if (!permute_rope_.empty() && heads_ == 0)
    throw Error(ErrorKind::usage, "--permute-rope needs --heads")
        .with_hint("and --kv-heads where keys have fewer: config.json has both");
  parsed.rope.heads = heads_;
  parsed.rope.kv_heads = kv_heads_ == 0 ? heads_ : kv_heads_;
  parsed.rope.to_interleaved = inverse_;
  for (const std::string& line : stack_) parsed.stack.push_back(parse_stack_rule(line));
  for (const std::string& line : unstack_) parsed.unstack.push_back(parse_unstack_rule(line));
  return parsed;
}

void edit(Prepared& prepared, const EditOptions::Parsed& options) {
  if (options.dequantize)
    take(prepared, dequantize(std::move(prepared.checkpoint), options.block, make_scaled));
  if (!options.rope.names.empty())
    take(prepared, permute_rope(std::move(prepared.checkpoint), options.rope, permute_rows));
  for (const Rule& rule : options.unstack) take(prepared, unstack(std::move(prepared.checkpoint), rule));
}

void stack_parts(Prepared& prepared, const EditOptions::Parsed& options) {
  for (const Rule& rule : options.stack) {
    Edited stacked = stack(std::move(prepared.checkpoint), rule);
    std::unordered_map<std::string, LayoutStep> before;
    std::vector<LayoutStep> dropped;
    for (LayoutStep& step : prepared.steps) {
      if (step.is_dropped) dropped.push_back(std::move(step));
      else before.emplace(step.name, std::move(step));
    }
    std::unordered_map<std::string_view, const Edit*> made;
    for (const Edit& edit : stacked.report.edits) made.emplace(edit.name, &edit);
    prepared.steps.clear();
    for (const Tensor& tensor : stacked.checkpoint.tensors) {
      const auto edit = made.find(tensor.name);
      if (edit == made.end()) {
        prepared.steps.push_back(std::move(before.at(tensor.name)));
        continue;
      }
      LayoutStep step = before.at(edit->second->from.front());
      step.name = tensor.name;
      step.from.clear();
      for (const std::string& part : edit->second->from)
        std::ranges::move(before.at(part).from, std::back_inserter(step.from));
      step.what = step.what == "unchanged" ? edit->second->what : step.what + ", " + edit->second->what;
      prepared.steps.push_back(std::move(step));
    }
    std::ranges::move(dropped, std::back_inserter(prepared.steps));
    take(prepared, std::move(stacked));
  }
}

void fit_names(Prepared& prepared, const Target& target) {
  std::vector<std::string> names;
  std::vector<std::string> wanted;
  for (const Tensor& tensor : prepared.checkpoint.tensors) names.push_back(tensor.name);
  for (const TargetTensor& tensor : target.tensors) wanted.push_back(tensor.name);
  const std::vector<std::string> fitted = fit_variants(names, wanted);
  EditReport report;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (fitted[i] == names[i]) continue;
    prepared.checkpoint.tensors[i].name = fitted[i];
    report.edits.push_back({fitted[i], {names[i]}, "named after an enum's variant, as in the target"});
  }
  if (report.edits.empty()) return;
  require_unique_names(prepared.checkpoint,
                       [&](std::size_t i) { return printable(names[i]) + " by --like"; });
  report.summary =
      fmt::format("enum variants: {} named as in the target ({} -> {}{})",
                  count(report.edits.size(), "tensor"), printable(report.edits.front().from.front()),
                  printable(report.edits.front().name), report.edits.size() > 1 ? ", …" : "");
  prepared.edits.push_back(std::move(report));
}

void restore_before_layout(Prepared& prepared, const Target& target, Direction direction) {
  if (direction != target.laid_out) return;
  Edited tied = restore_ties(std::move(prepared.checkpoint), target.ties_before_layout);
  prepared.checkpoint = std::move(tied.checkpoint);
  if (!tied.report.edits.empty()) prepared.edits.push_back(std::move(tied.report));
}

void restore_after_layout(Prepared& prepared, const Target& target) {
  const auto add = [&](Edited edited) {
    prepared.checkpoint = std::move(edited.checkpoint);
    if (edited.report.edits.empty()) return;
    for (const Edit& made : edited.report.edits)
      prepared.steps.push_back({made.name, made.from, made.what, no_decision});
    prepared.edits.push_back(std::move(edited.report));
  };
  std::vector<std::pair<std::string, std::string>> ties;
  for (const TargetTensor& tensor : target.tensors)
    if (!tensor.tied_to.empty()) ties.emplace_back(tensor.name, tensor.tied_to);
  add(restore_ties(std::move(prepared.checkpoint), ties));
  add(restore_counters(std::move(prepared.checkpoint), target));
}

void tell_edits(Prepared& prepared) {
  struct Origin {
    std::vector<std::string> from;
    std::string what;
  };
  std::unordered_map<std::string, Origin> origins;
  for (const EditReport& report : prepared.edits) {
    std::vector<std::pair<std::string, Origin>> made;
    for (const Edit& one : report.edits) {
      Origin origin{{}, one.what};
      for (const std::string& name : one.from) {
        const auto before = origins.find(name);
        if (before == origins.end()) {
          origin.from.push_back(name);
          continue;
        }
        origin.from.insert(origin.from.end(), before->second.from.begin(), before->second.from.end());
        if (&name == &one.from.front()) origin.what = before->second.what + ", " + origin.what;
      }
      made.emplace_back(one.name, std::move(origin));
    }
    for (auto& [name, origin] : made) origins.insert_or_assign(std::move(name), std::move(origin));
  }
  if (origins.empty()) return;
  for (LayoutStep& step : prepared.steps) {
    std::vector<std::string> from;
    for (const std::string& name : step.from) {
      const auto origin = origins.find(name);
      if (origin == origins.end()) {
        from.push_back(name);
        continue;
      }
      from.insert(from.end(), origin->second.from.begin(), origin->second.from.end());
      if (&name == &step.from.front())
        step.what = step.what == "unchanged" ? origin->second.what : origin->second.what + ", " + step.what;
    }
    step.from = std::move(from);
  }
}

}  // namespace ckpt
