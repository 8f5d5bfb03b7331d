#pragma once

#include <cstdint>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/core/plan.hpp"
#include "ckpt/core/sink.hpp"

namespace ckpt {

/// Turns a plan into bytes: the one place where tensor data flows. Every tensor is pulled once, in
/// file order, through buffers of `memory` bytes; plain ranges are offered to the sink to be moved.
/// Throws what reading and writing throw.
void emit(const Plan& plan, const Checkpoint& checkpoint, Sink& sink, std::uint64_t memory = 64U << 20);

}  // namespace ckpt
