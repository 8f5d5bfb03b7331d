#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/kernels/resources.hpp"

namespace ckpt {

/// One row of the table of findings: codes are stable, so that a script can silence one.
struct FindingKind {
  std::string_view code;
  bool is_error;  ///< an error says that the file should not be used as it is; the others are warnings
  std::string_view title;
};

enum class FindingId {
  runs_code,
  foreign_global,
  hidden_data,
  cannot_be_delivered,
  nan,
  infinite,
  not_boolean,
  all_zero,
  constant,
  empty,
  no_tensors,
  oddity,
  burn_refuses,
  transformers_refuses,
  pytorch_refuses,
  missing,
  unused,
  other_shape,
  other_dtype,
  too_little,
  broken_tie,
  undecided,
  orphan_state,
  state_misfit,
  incomplete_state,
  state_without_id,
  no_state,
  zero_moment,
  unknown_state,
  state_out_of_order,
  ambiguous_state,
};

struct Finding {
  FindingId id = FindingId::oddity;
  std::string tensor = {};  ///< empty where it is about the file
  std::string text;         ///< one sentence
};

/// The table, in the order of `FindingId`.
std::span<const FindingKind> finding_table();
const FindingKind& info(FindingId id);
/// The row of that code, in any case; nothing for an unknown one.
std::optional<FindingId> find_finding(std::string_view code);

/// What the catalogue alone shows: globals that `is_allowed` does not pass, hidden data, tensors that
/// cannot be delivered, shapes of size 0.
std::vector<Finding> check_catalogue(const Checkpoint& checkpoint,
                                     const std::function<bool(std::string_view global)>& is_allowed);

/// What one pass over the data shows: NaN, infinite, all-zero and constant tensors. Every byte is read, those
/// of which the file states a checksum too, which are compared. Throws `corrupt` where they differ, and what
/// reading throws.
std::vector<Finding> check_data(const Checkpoint& checkpoint, const Resources& resources = {});

}  // namespace ckpt
