#include "ckpt/stages/ties.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace ckpt {

std::vector<Tie> find_ties(const Checkpoint& checkpoint) {
  std::vector<Tie> ties;
  std::multimap<std::pair<const ByteSource*, std::uint64_t>, std::size_t> seen;
  for (std::size_t i = 0; i < checkpoint.tensors.size(); ++i) {
    const Tensor& tensor = checkpoint.tensors[i];
    const std::pair place(tensor.view.source.get(), tensor.view.offset);
    const auto [begin, end] = seen.equal_range(place);
    const auto same = std::find_if(
        begin, end, [&](const auto& other) { return same_place(checkpoint.tensors[other.second], tensor); });
    if (same != end) ties.push_back({i, same->second});
    else seen.emplace(place, i);
  }
  return ties;
}

Checkpoint drop_ties(Checkpoint checkpoint, std::vector<std::string>& dropped) {
  std::vector<bool> is_tie(checkpoint.tensors.size());
  for (const Tie& tie : find_ties(checkpoint)) {
    is_tie[tie.tensor] = true;
    dropped.push_back(
        fmt::format("{} (= {})", checkpoint.tensors[tie.tensor].name, checkpoint.tensors[tie.same_as].name));
  }
  std::size_t i = 0;
  std::erase_if(checkpoint.tensors, [&](const Tensor&) { return is_tie[i++]; });
  return checkpoint;
}

}  // namespace ckpt
