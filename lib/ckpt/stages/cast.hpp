#pragma once

#include <optional>
#include <string>
#include <string_view>
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
Cast cast(Checkpoint checkpoint, const CastOptions& options, const std::vector<KindDecision>& decisions);

/// The names that stand beside a quantised weight and without which its numbers mean nothing.
bool is_quantisation_companion(std::string_view leaf);

/// For each tensor of the catalogue that is part of a quantised weight, the names that belong together.
/// Tensors that are not are left out.
std::vector<std::vector<std::string>> quantised_groups(const Checkpoint& checkpoint);

}  // namespace ckpt
