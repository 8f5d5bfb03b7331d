#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/stages/rule.hpp"

namespace ckpt {

/// What remapping did to one name.
struct Renaming {
  std::string from;
  std::string to;
  std::vector<std::size_t> fired;  ///< indices of the rules that changed it, in order
};

/// What remapping did, for reports and warnings.
struct RemapReport {
  std::vector<Renaming> names;      ///< one a tensor, in file order
  std::vector<std::uint64_t> hits;  ///< for each rule, how many names it matched
  /// Names that the rules would change again if they were applied to the result.
  std::vector<std::string> unstable;
};

struct Remapped {
  Checkpoint checkpoint;
  RemapReport report;
};

/// Applies every rule to every name, in order, as burn's KeyRemapper does: each replaces all its matches
/// and the next sees the result. Throws `refused` when two names become one, or one becomes empty, naming
/// them and the rules.
Remapped remap(Checkpoint checkpoint, const std::vector<Rule>& rules);

/// The name without the path segments `module` (DataParallel) and `_orig_mod` (torch.compile).
std::string strip_wrappers(std::string_view name);

/// `strip_wrappers` on every name. Throws `refused` when two names become one.
Checkpoint strip_wrappers(Checkpoint checkpoint, std::uint64_t& stripped);

/// Throws `refused` when two tensors have one name. `came_from(index)` tells of a tensor where it is
/// from (`a.weight by rule ^[ab]\. => c.`).
void require_unique_names(const Checkpoint& checkpoint,
                          const std::function<std::string(std::size_t)>& came_from);

}  // namespace ckpt
