#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/training/state.hpp"

namespace ckpt {

/// Key of a record's metadata under which a conversion keeps what burn's record has no place for: the groups
/// with their hyper-parameters, the order of the parameters, PyTorch's counters.
inline constexpr std::string_view optimizer_note = "ckpt.optimizer";

/// Whether a burnpack is an optimizer's record by its names.
bool is_burn_optimizer(const Checkpoint& checkpoint);

/// Reads a record. Steps come from its scalars, groups from what an earlier conversion noted. Throws
/// `refused` for a note that is none.
OptimizerState read_burn_optimizer(const Checkpoint& checkpoint);

/// The record of `state`, whose parameters all have ids and are named as in the model. The order of tensors
/// is that of the parameters. Throws `refused` where burn has no such optimizer, or no place for something.
Checkpoint make_burn_optimizer(const OptimizerState& state);

/// The ParamId that a name or key of a record begins with, and what follows the dot.
struct RecordKey {
  std::uint64_t id = 0;
  std::string_view path;
};
std::optional<RecordKey> parse_record_key(std::string_view key);

}  // namespace ckpt
