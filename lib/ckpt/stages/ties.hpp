#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ckpt/core/checkpoint.hpp"

namespace ckpt {

/// Two names for one tensor: they lie at the same place, element for element.
struct Tie {
  std::size_t tensor = 0;   ///< the later one, by index
  std::size_t same_as = 0;  ///< the first of its place
};

/// Every tensor that lies where an earlier one does.
std::vector<Tie> find_ties(const Checkpoint& checkpoint);

/// Keeps the names of every place that are wanted, or else the first; the others go, and are added to
/// `dropped` as `lm_head (= wte)`.
Checkpoint drop_ties(Checkpoint checkpoint, const std::unordered_set<std::string_view>& wanted,
                     std::vector<std::string>& dropped);

}  // namespace ckpt
