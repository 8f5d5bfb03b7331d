#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ckpt/codec/regex.hpp"
#include "ckpt/core/checkpoint.hpp"
#include "ckpt/stages/kinds.hpp"

namespace ckpt {

/// `T` or `REGEX=T`: the type in which floating-point tensors whose name matches are delivered.
struct CastRule {
  std::string text;
  std::optional<Regex> name;  ///< every name where there is none
  DType to = DType::f32;
};

/// Throws `usage`: an unknown type, one that is not floating-point or is packed, a bad expression.
CastRule parse_cast_rule(std::string_view text);

struct CastOptions {
  std::vector<CastRule> rules;  ///< the first that matches a name decides
  bool half = false;  ///< F32 becomes F16 as burn stores it, where no rule names a tensor (F32 for all: back)
};

struct CastStep {
  std::size_t tensor = 0;  ///< index into the result's tensors
  DType from = DType::f32;
  DType to = DType::f32;
};

struct Cast {
  Checkpoint checkpoint;
  std::vector<CastStep> steps;
  std::vector<std::string> of_no_layer;  ///< what `half` left alone, since no layer that is known owns it
};

/// Sets the type to deliver; no number is touched before a writer pulls. Integers, booleans and complex
/// numbers never change. `decisions` says which modules keep F32 under `half` (BatchNorm, whose running
/// variance underflows, and parameters that belong to no layer). Throws `refused` for packed or quantised
/// data and for weights that travel with scales of their own, which a cast of one alone would make wrong.
/// `source` is the catalogue before names were changed or left out, null where none were: scales may have
/// gone.
Cast cast(Checkpoint checkpoint, const CastOptions& options, const std::vector<KindDecision>& decisions,
          const Checkpoint* source = nullptr);

/// For each tensor of the catalogue that is part of a quantised weight, the names that belong together.
/// Tensors that are not are left out.
std::vector<std::vector<std::string>> quantised_groups(const Checkpoint& checkpoint);

/// Tells which tensors belong to a quantised weight, by their names and by those that they had in `source`,
/// the catalogue before names were changed or left out (null where none were).
class QuantisedParts {
 public:
  QuantisedParts(const Checkpoint& checkpoint, const Checkpoint* source);
  /// The names that belong together, or null for a tensor that is part of no quantised weight.
  const std::vector<std::string>* find(const Tensor& tensor) const;

 private:
  using Groups = std::vector<std::vector<std::string>>;
  using Index = std::unordered_map<std::string_view, const std::vector<std::string>*>;
  static Index index(const Groups& groups);

  const Checkpoint* source_;
  Groups groups_, source_groups_;
  Index by_name_, by_source_name_;
};

}  // namespace ckpt
