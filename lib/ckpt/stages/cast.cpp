#include "ckpt/stages/cast.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>

#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/stages/names.hpp"

namespace ckpt {
namespace {

/// How the tools that quantise weights call what belongs to one.
struct Companion {
  std::string_view leaf;  ///< last part of the name
  std::string_view tool;
};

constexpr std::array companions{
    Companion{"qweight", "GPTQ, AWQ"},
    Companion{"qzeros", "GPTQ, AWQ"},
    Companion{"scales", "GPTQ, AWQ"},
    Companion{"g_idx", "GPTQ"},
    Companion{"SCB", "bitsandbytes, 8 bit"},
    Companion{"weight_format", "bitsandbytes, 8 bit"},
    Companion{"absmax", "bitsandbytes, 4 bit"},
    Companion{"quant_map", "bitsandbytes, 4 bit"},
    Companion{"nested_absmax", "bitsandbytes, 4 bit"},
    Companion{"nested_quant_map", "bitsandbytes, 4 bit"},
    Companion{"weight_scale_inv", "block-scaled FP8"},
    Companion{"weight_scale", "scaled FP8"},
    Companion{"input_scale", "scaled FP8"},
    Companion{"weight_packed", "compressed-tensors"},
    Companion{"weight_shape", "compressed-tensors"},
    Companion{"weight_zero_point", "compressed-tensors"},
};

/// Whether a name stands beside a quantised weight, without which its numbers mean nothing.
bool is_quantisation_companion(std::string_view leaf) {
  return std::ranges::find(companions, leaf, &Companion::leaf) != companions.end();
}

/// The module whose weight a companion belongs to: bitsandbytes hangs them below the weight itself.
std::string_view owner(std::string_view name) {
  std::string_view path = module_path(name);
  if (name.find(".quant_state.") != std::string_view::npos) path = name.substr(0, name.find(".quant_state."));
  return leaf_name(path) == "weight" ? module_path(path) : path;
}

/// What a cast does under `half` to a tensor of that kind: burn's HalfPrecisionAdapter lists the layers.
bool is_halved(const ModuleKind* kind) {
  return kind == nullptr || (kind->name != "BatchNorm" && kind->name != "none");
}

/// The decision on the module that owns a name, nearest path first; null when there is none.
class DecisionIndex {
 public:
  explicit DecisionIndex(const std::vector<KindDecision>& decisions) {
    for (const KindDecision& decision : decisions) by_path_.emplace(decision.path, &decision);
  }
  const KindDecision* find(std::string_view name) const {
    for (std::string_view path = module_path(name);; path = module_path(path)) {
      if (const auto at = by_path_.find(std::string(path)); at != by_path_.end()) return at->second;
      if (path.empty()) return nullptr;
    }
  }

 private:
  std::unordered_map<std::string, const KindDecision*> by_path_;
};

/// The first rule that names a tensor, or, but for `half`, speaks of all.
const CastRule* find_rule(const Tensor& tensor, const CastOptions& options) {
  const auto rule = std::ranges::find_if(options.rules, [&](const CastRule& r) {
    return r.name ? r.name->matches(tensor.name) : !options.half;
  });
  return rule == options.rules.end() ? nullptr : &*rule;
}

std::optional<DType> wanted(const Tensor& tensor, const CastOptions& options, const DecisionIndex& decisions,
                            std::vector<std::string>& of_no_layer) {
  if (const CastRule* rule = find_rule(tensor, options)) return rule->to;
  if (!options.half) return std::nullopt;
  const bool is_back = std::ranges::any_of(options.rules, [](const CastRule& rule) { return !rule.name; });
  if (tensor.dtype != (is_back ? DType::f16 : DType::f32)) return std::nullopt;
  const KindDecision* decision = decisions.find(tensor.name);
  if (decision == nullptr || is_halved(decision->kind)) return is_back ? DType::f32 : DType::f16;
  if (decision->kind->name == "none") of_no_layer.push_back(tensor.name);
  return std::nullopt;
}

}  // namespace

CastRule parse_cast_rule(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  const std::string_view type = equals == std::string_view::npos ? text : text.substr(equals + 1);
  const std::optional<DType> dtype = parse_dtype(type);
  if (!dtype || !is_floating(*dtype) || element_size(*dtype) == 0)
    throw Error(ErrorKind::usage,
                fmt::format("--dtype: `{}` is not a type that numbers can be cast to", printable(type)))
        .with_hint(
            "one of F64, F32, F16, BF16, F8_E4M3, F8_E5M2, F8_E8M0, F8_E4M3FNUZ, F8_E5M2FNUZ, or REGEX=TYPE");
  CastRule rule{.text = std::string(text), .name = std::nullopt, .to = *dtype};
  if (equals != std::string_view::npos) rule.name.emplace(std::string(text.substr(0, equals)));
  return rule;
}

std::vector<std::vector<std::string>> quantised_groups(const Checkpoint& checkpoint) {
  std::set<std::string, std::less<>> owners;
  for (const Tensor& tensor : checkpoint.tensors)
    if (is_quantisation_companion(leaf_name(tensor.name)) ||
        tensor.name.find(".quant_state.") != std::string::npos)
      owners.emplace(owner(tensor.name));
  std::map<std::string, std::vector<std::string>, std::less<>> groups;
  for (const Tensor& tensor : checkpoint.tensors) {
    const std::string_view path = owner(tensor.name);
    if (!owners.contains(path)) continue;
    const std::string_view leaf = leaf_name(tensor.name);
    if (leaf == "weight" || is_quantisation_companion(leaf) ||
        tensor.name.find(".quant_state.") != std::string::npos)
      groups[std::string(path)].push_back(tensor.name);
  }
  std::vector<std::vector<std::string>> all;
  for (auto& [path, names] : groups) all.push_back(std::move(names));
  return all;
}

QuantisedParts::QuantisedParts(const Checkpoint& checkpoint, const Checkpoint* source)
    : source_(source),
      groups_(quantised_groups(checkpoint)),
      source_groups_(source == nullptr ? Groups() : quantised_groups(*source)),
      by_name_(index(groups_)),
      by_source_name_(index(source_groups_)) {}

QuantisedParts::Index QuantisedParts::index(const Groups& groups) {
  Index index;
  for (const std::vector<std::string>& group : groups)
    for (const std::string& name : group) index.emplace(name, &group);
  return index;
}

const std::vector<std::string>* QuantisedParts::find(const Tensor& tensor) const {
  if (const auto found = by_name_.find(tensor.name); found != by_name_.end()) return found->second;
  if (source_ == nullptr || !tensor.origin) return nullptr;
  const auto found = by_source_name_.find(source_->tensors[*tensor.origin].name);
  return found == by_source_name_.end() ? nullptr : found->second;
}

Cast cast(Checkpoint checkpoint, const CastOptions& options, const std::vector<KindDecision>& decisions,
          const Checkpoint* source) {
  Cast result;
  const DecisionIndex index(decisions);
  const QuantisedParts quantised(checkpoint, source);
  for (std::size_t i = 0; i < checkpoint.tensors.size(); ++i) {
    Tensor& tensor = checkpoint.tensors[i];
    const std::optional<DType> to = wanted(tensor, options, index, result.of_no_layer);
    if (!to || *to == tensor.dtype) continue;
    if (info(tensor.dtype).kind == DTypeClass::quantized ||
        (is_floating(tensor.dtype) && element_size(tensor.dtype) == 0))
      throw Error(ErrorKind::refused, fmt::format("tensor {}: {} data is packed and cannot be cast",
                                                  printable(tensor.name), name(tensor.dtype)))
          .in_file(checkpoint.file)
          .with_hint("leave it as it is: name the tensors to cast with --dtype 'REGEX=TYPE'");
    if (!is_floating(tensor.dtype)) continue;
    if (const std::vector<std::string>* group = quantised.find(tensor))
      throw Error(
          ErrorKind::refused,
          fmt::format(
              "tensor {} is part of a quantised weight ({}): casting it alone would make the numbers wrong",
              printable(tensor.name), printable(fmt::format("{}", fmt::join(*group, ", ")))))
          .in_file(checkpoint.file)
          .with_hint(
              "leave it as it is: name the tensors to cast with --dtype 'REGEX=TYPE'; --dequantize turns FP8 "
              "into the numbers that it stands for");
    result.steps.push_back({i, tensor.dtype, *to});
    tensor.dtype = *to;
  }
  result.checkpoint = std::move(checkpoint);
  return result;
}

}  // namespace ckpt
