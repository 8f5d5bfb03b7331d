#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ckpt/core/checkpoint.hpp"

namespace ckpt::pytorch {

/// A container, object or module that holds tensors, directly or below. Modules are leaves: what lies below
/// one is its own.
struct Place {
  std::size_t parent = SIZE_MAX;  ///< index of the place it lies in; SIZE_MAX for the top
  std::string name;               ///< key in its parent
  bool is_sequence = false;       ///< a list or tuple
  bool is_module = false;         ///< a pickled nn.Module
  bool is_optimizer = false;      ///< has `state` and `param_groups`
  std::uint64_t tensors = 0;      ///< that it holds itself
  std::uint64_t bytes = 0;        ///< of those
};

/// Which places are the roots: the state dicts, models and optimizers of a checkpoint. `places` has parents
/// before their children, and the top first.
std::vector<Root> find_roots(std::span<const Place> places);

}  // namespace ckpt::pytorch
