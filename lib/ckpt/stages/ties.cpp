#include "ckpt/stages/ties.hpp"

#include <fmt/format.h>

#include "ckpt/core/places.hpp"

namespace ckpt {

std::vector<Tie> find_ties(const Checkpoint& checkpoint) {
  std::vector<Tie> ties;
  const std::vector<std::size_t> first = first_at_same_place(checkpoint.tensors);
  for (std::size_t i = 0; i < first.size(); ++i)
    if (first[i] != i) ties.push_back({i, first[i]});
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
