#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ckpt/report/names.hpp"

namespace ckpt {

/// What rules of the text form `PATTERN => REPLACEMENT` make of each name, in order. The caller supplies
/// the very code that `--remap` runs, so that what is inferred is what will happen.
using ApplyRules = std::function<std::vector<std::string>(const std::vector<std::string>& rules,
                                                          std::vector<std::string> names)>;

struct InferredRule {
  std::string text;         ///< `^(layers\.\d+)\.self_attn\. => ${1}.attention.`
  std::uint64_t names = 0;  ///< of the source, how many it changes
};

/// Rules that carry the names of one checkpoint to those of another.
struct Inference {
  std::vector<InferredRule> rules;                         ///< to be applied in this order
  std::vector<std::pair<std::string, std::string>> pairs;  ///< what is explained: source, target
  std::vector<std::string> left_in_source;                 ///< names without a partner, or …
  std::vector<std::string> left_in_target;                 ///< … with too many, or that no rule reaches
  bool is_cut = false;  ///< too many names to compare: nothing but equal ones was paired
  bool is_complete() const noexcept { return left_in_source.empty() && left_in_target.empty(); }
};

/// The fewest anchored rules found that carry source names to target names one-to-one. Every rule was
/// applied to all names with `apply`: none of them ends at a target that is not its partner, and no two
/// become one. Names that could be two things are left over.
Inference infer_rules(std::span<const NamedShape> source, std::span<const NamedShape> target,
                      const ApplyRules& apply);

/// The one rule that carries the most of `unused` to names of `missing`, and how many. Nothing where no
/// rule carries any without carrying another to where it does not belong, or one of `fitting` away.
struct BestRule {
  std::string text;
  std::uint64_t explained = 0;
};
std::optional<BestRule> best_rule(std::span<const NamedShape> missing, std::span<const NamedShape> unused,
                                  std::span<const NamedShape> fitting, const ApplyRules& apply);

}  // namespace ckpt
