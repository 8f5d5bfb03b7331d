#pragma once

#include <string>

#include "ckpt/core/value.hpp"
#include "pipeline.hpp"
#include "writing.hpp"

namespace ckpt {

/// The way of one tensor of `original`, the file as it was read, through every stage to its bytes in the
/// output: an array with one object for each tensor that came of it. `name` is one in the file (with or
/// without the path of its root) or in the output. Without a `plan` (of a set) no range of bytes is told.
/// Throws `usage` with the nearest names for an unknown one.
Value explain_tensor(const Checkpoint& original, const Prepared& prepared, const StageOptions::Parsed& stages,
                     const std::string& name, const Plan* plan);

/// The same for people, on standard error.
void print_explanation(const Value& explanation, const Talk& talk);

}  // namespace ckpt
