#pragma once

#include <cstddef>
#include <stdexcept>
#include <variant>
#include <vector>

#include "ckpt/core/bytes.hpp"
#include "ckpt/core/plan.hpp"

namespace ckpt::test {

/// The bytes of a plan whose tensors are plain ranges, in the most obvious way.
inline std::vector<std::byte> emit(const Plan& plan, const Checkpoint& checkpoint) {
  std::vector<std::byte> out;
  for (const Plan::Segment& segment : plan.segments) {
    if (const auto* literal = std::get_if<Plan::Literal>(&segment)) {
      out.insert(out.end(), literal->bytes.begin(), literal->bytes.end());
    } else if (const auto* zeros = std::get_if<Plan::Zeros>(&segment)) {
      out.resize(out.size() + zeros->count);
    } else if (const auto* data = std::get_if<Plan::TensorData>(&segment)) {
      const Tensor& tensor = checkpoint.tensors.at(data->index);
      if (tensor.view.strides || tensor.dtype != tensor.view.stored) throw std::logic_error("no plain range");
      const std::vector<std::byte> bytes =
          read_range(*tensor.view.source, tensor.view.offset, tensor.view.bytes);
      out.insert(out.end(), bytes.begin(), bytes.end());
    } else {
      throw std::logic_error("checksums are not made here");
    }
  }
  if (out.size() != plan.size) throw std::logic_error("the plan states another size than it has");
  return out;
}

}  // namespace ckpt::test
