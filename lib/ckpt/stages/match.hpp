#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/codec/regex.hpp"
#include "ckpt/core/checkpoint.hpp"

namespace ckpt {

enum class Direction;

/// What a result must look like: the tensors of a target, without their data.
struct TargetTensor {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::optional<std::uint64_t> param_id = {};
  std::string kind = {};     ///< of the module that owns it, as the target notes it; else empty
  std::string tied_to = {};  ///< an earlier tensor that lies at the same place; empty where there is none
};
struct Target {
  std::string file;  ///< as the user named it
  std::vector<TargetTensor> tensors;
  Direction laid_out = {};  ///< what ran on a target that stands in the other layout than the result, …
  std::vector<std::pair<std::string, std::string>> ties_before_layout = {};  ///< … and what was tied before
};
Target make_target(const Checkpoint& checkpoint);

struct MatchOptions {
  std::vector<Regex> allow_missing;  ///< of the target's names, those that may be absent
  std::vector<Regex> allow_unused;   ///< of the source's, those that the target need not know
};

/// A tensor that both have, in another shape or type; one that differs in both is told twice.
struct Mismatch {
  std::string name;
  bool is_shape = false;  ///< otherwise the types differ
  DType found_dtype = DType::f32, wanted_dtype = DType::f32;
  Shape found_shape = {}, wanted_shape = {};

  std::string found() const;   ///< what differs, as text: `[3, 4]` or `F16` …
  std::string wanted() const;  ///< … and what the target has there
};

struct MatchReport {
  std::vector<std::string> missing;  ///< the target has it, the source lacks it, and that is not allowed
  std::vector<std::string> missing_allowed;
  std::vector<std::string> unused;  ///< the source has it, the target does not know it
  std::vector<std::string> unused_allowed;
  std::vector<Mismatch> mismatched;
  std::uint64_t fitting = 0;     ///< tensors of the target that the source has, in the right shape and type
  std::uint64_t covered = 0;     ///< parameters of the target that the source supplies in the right shape …
  std::uint64_t parameters = 0;  ///< … of so many
  double coverage() const {
    return parameters == 0 ? 1.0 : static_cast<double>(covered) / static_cast<double>(parameters);
  }
};

struct Matched {
  Checkpoint checkpoint;  ///< the tensors that the target knows, in its order and with its param ids
  MatchReport report;
};

/// Holds a catalogue against a target. Nothing is thrown: what to refuse is the command's to say.
Matched match(Checkpoint checkpoint, const Target& target, const MatchOptions& options);

}  // namespace ckpt
