#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/training/state.hpp"

namespace ckpt {

/// How a scheduler counts after `n` of its steps. PyTorch has then set the rate of step n; burn, which hands
/// the initial rate out on its first call, has returned the rate of step n - 1.
enum class Counting : std::uint8_t {
  none,
  index,      ///< burn holds n - 1: -1 (or, unsigned, 2^64 - 1) before the first call
  countdown,  ///< burn holds num_iters + 1 - n, never below 0
  rate,       ///< burn holds the rate that it returned last; initial rate / gamma before the first call
  steps,      ///< burn holds n
};

/// One learning-rate scheduler: a row of the table.
struct SchedulerKind {
  std::string_view torch;                  ///< PyTorch's class; empty where it has none
  std::string_view burn;                   ///< burn's configuration; empty where burn has none
  std::span<const std::string_view> keys;  ///< a state of PyTorch's has all of these
  std::string_view burn_key = {};          ///< the scalar of burn's record, below its group
  Counting counting = Counting::none;
  bool is_signed = false;  ///< burn's scalar is an Int
};

std::span<const SchedulerKind> scheduler_table();

/// A scheduler's state in a PyTorch checkpoint.
struct TorchScheduler {
  std::string place;
  const SchedulerKind* kind = nullptr;  ///< null where no row fits
  Value members = Value::object();      ///< its `state_dict()`
};
/// Every place that holds one. `number` is asked for rates that are tensors.
std::vector<TorchScheduler> find_torch_schedulers(const Checkpoint& checkpoint, const NumberReader& number);

/// burn's record of a scheduler, and what to write where it is built.
struct BurnScheduler {
  Checkpoint record;
  std::vector<std::string> configurations;  ///< one for all groups, or one a group
  std::vector<std::string> warnings;
};
/// Throws `refused`, by name, for a scheduler that burn lacks.
BurnScheduler to_burn(const TorchScheduler& scheduler);

/// One scalar of a burn record.
struct SchedulerRow {
  std::string key;                      ///< `0.1.current_iter`
  const SchedulerKind* kind = nullptr;  ///< null for sequential's own counter
  std::string state;                    ///< `3 steps done`, `8 iterations left`
};
/// Whether a burnpack is a scheduler's record: scalars alone, every one of a row of the table.
bool is_burn_scheduler(const Checkpoint& checkpoint);
std::vector<SchedulerRow> describe_burn_scheduler(const Checkpoint& checkpoint);

/// What PyTorch's `load_state_dict` takes: what an earlier conversion noted, brought to burn's count; without
/// a note `last_epoch` and `_step_count` alone, which leave the rest to the scheduler that loads them. Throws
/// `refused`, by name, for one that PyTorch lacks, and where the record does not tell the count.
Value to_torch_scheduler(const Checkpoint& record);

}  // namespace ckpt
