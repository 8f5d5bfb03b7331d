#include "ckpt/stages/filter.hpp"

#include <algorithm>
#include <string_view>

namespace ckpt {

Checkpoint filter(Checkpoint checkpoint, const Filters& filters, std::vector<std::string>& dropped) {
  if (filters.empty()) return checkpoint;
  const auto is_kept = [&](std::string_view name) {
    const auto matches = [&](const Regex& regex) { return regex.matches(name); };
    return (filters.include.empty() || std::ranges::any_of(filters.include, matches)) &&
           std::ranges::none_of(filters.exclude, matches);
  };
  std::erase_if(checkpoint.tensors, [&](const Tensor& tensor) {
    if (is_kept(tensor.name)) return false;
    dropped.push_back(tensor.name);
    return true;
  });
  std::erase_if(checkpoint.refused, [&](const Refused& refused) { return !is_kept(refused.name); });
  return checkpoint;
}

}  // namespace ckpt
