#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/core/tensor.hpp"

namespace ckpt {

/// A name with what must agree where one stands for another.
struct NamedShape {
  std::string name;
  Shape shape;
};

/// For each missing name the unused one that it most likely is: of the same shape (or with two dimensions
/// exchanged), with the most segments in common. Names without a likely one are left out.
std::map<std::string, std::string> did_you_mean(const std::vector<NamedShape>& missing,
                                                const std::vector<NamedShape>& unused);

/// One rename rule and how many of the missing names it explains.
struct MendingRule {
  std::string text;  ///< `^fc\. => fc1.`, ready for --rename
  std::size_t explains = 0;
};

/// The rule that explains the most of the missing names; nothing where none explains any. A rule that would
/// give two tensors one name is none.
std::optional<MendingRule> best_rule(const std::vector<NamedShape>& missing,
                                     const std::vector<NamedShape>& unused);

}  // namespace ckpt
