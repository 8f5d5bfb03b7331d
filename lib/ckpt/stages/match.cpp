#include "ckpt/stages/match.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "ckpt/stages/ties.hpp"

namespace ckpt {
namespace {

bool matches_any(const std::vector<Regex>& patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [&](const Regex& regex) { return regex.matches(name); });
}

}  // namespace

std::string Mismatch::found() const {
  return is_shape ? to_string(found_shape) : std::string(ckpt::name(found_dtype));
}

std::string Mismatch::wanted() const {
  return is_shape ? to_string(wanted_shape) : std::string(ckpt::name(wanted_dtype));
}

Target make_target(const Checkpoint& checkpoint) {
  Target target{.file = checkpoint.file, .tensors = {}};
  for (const Tensor& tensor : checkpoint.tensors)
    target.tensors.push_back(
        {tensor.name, tensor.dtype, tensor.shape, tensor.param_id, tensor.recorded_kind});
  for (const Tie& tie : find_ties(checkpoint))
    target.tensors[tie.tensor].tied_to = checkpoint.tensors[tie.same_as].name;
  return target;
}

Matched match(Checkpoint checkpoint, const Target& target, const MatchOptions& options) {
  Matched result;
  MatchReport& report = result.report;
  std::vector<Tensor> source = std::move(checkpoint.tensors);
  std::unordered_map<std::string_view, std::size_t> by_name;
  for (std::size_t i = 0; i < source.size(); ++i) by_name.emplace(source[i].name, i);
  std::vector<bool> is_used(source.size());
  std::vector<Tensor> tensors;
  for (const TargetTensor& wanted : target.tensors) {
    const std::uint64_t parameters = element_count(wanted.shape).value_or(0);
    report.parameters += parameters;
    const auto found = by_name.find(wanted.name);
    if (found == by_name.end()) {
      (matches_any(options.allow_missing, wanted.name) ? report.missing_allowed : report.missing)
          .push_back(wanted.name);
      continue;
    }
    is_used[found->second] = true;
    Tensor& tensor = source[found->second];
    const bool is_other_shape = tensor.shape != wanted.shape;
    const bool is_other_type = tensor.dtype != wanted.dtype;
    // Both are told: who lets one pass has not seen the other.
    for (const bool is_shape : {true, false})
      if (is_shape ? is_other_shape : is_other_type)
        report.mismatched.push_back(
            {wanted.name, is_shape, tensor.dtype, wanted.dtype, tensor.shape, wanted.shape});
    if (is_other_shape) continue;
    if (!is_other_type) ++report.fitting;
    report.covered += parameters;
    if (wanted.param_id) tensor.param_id = wanted.param_id;
    tensors.push_back(tensor);
  }
  for (std::size_t i = 0; i < source.size(); ++i)
    if (!is_used[i])
      (matches_any(options.allow_unused, source[i].name) ? report.unused_allowed : report.unused)
          .push_back(source[i].name);
  checkpoint.tensors = std::move(tensors);
  result.checkpoint = std::move(checkpoint);
  return result;
}

}  // namespace ckpt
