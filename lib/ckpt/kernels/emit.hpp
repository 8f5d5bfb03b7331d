#pragma once

#include <cstddef>
#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/core/plan.hpp"
#include "ckpt/core/sink.hpp"
#include "ckpt/kernels/cast.hpp"
#include "ckpt/kernels/resources.hpp"

namespace ckpt {

/// What casting one tensor of a checkpoint lost.
struct CastReport {
  std::size_t tensor = 0;  ///< index into the checkpoint's tensors
  CastStatistics statistics;
};

/// Turns a plan into bytes: the one place where tensor data flows. Every tensor is pulled once, in
/// file order, through buffers of `resources.memory` bytes; plain ranges are offered to the sink to be moved,
/// other large tensors are gathered by workers, where several threads are allowed, while what came before is
/// written. Returns what casting lost, a report for each tensor that was cast. Throws what reading and
/// writing throw.
std::vector<CastReport> emit(const Plan& plan, const Checkpoint& checkpoint, Sink& sink,
                             const Resources& resources = {});

}  // namespace ckpt
