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

Checkpoint drop_ties(Checkpoint checkpoint, const std::unordered_set<std::string_view>& wanted,
                     std::vector<std::string>& dropped) {
  std::vector<Tensor>& tensors = checkpoint.tensors;
  const std::vector<std::size_t> first = first_at_same_place(tensors);
  // The one that stays in the place of those that go, by the first of that place.
  std::vector<std::size_t> kept = first;
  for (std::size_t i = tensors.size(); i-- > 0;)
    if (wanted.contains(tensors[i].name)) kept[first[i]] = i;
  std::vector<bool> is_dropped(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::size_t other = kept[first[i]];
    if (other == i || wanted.contains(tensors[i].name)) continue;
    is_dropped[i] = true;
    dropped.push_back(fmt::format("{} (= {})", tensors[i].name, tensors[other].name));
  }
  std::size_t i = 0;
  std::erase_if(tensors, [&](const Tensor&) { return is_dropped[i++]; });
  return checkpoint;
}

}  // namespace ckpt
