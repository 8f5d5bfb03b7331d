#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ckpt/codec/pickle.hpp"

namespace ckpt::pickle {

/// Numbered nodes. Python numbers them from 0, so a vector serves; stray numbers go to a tree, so that
/// memory stays in proportion to the file, and time too: numbers can be chosen to fall into one bucket.
class Memo {
 public:
  void put(std::uint64_t number, NodeId id) {
    NodeId* slot = nullptr;
    if (number < dense_.size() || number < 2 * size_ + 1024) {
      if (number >= dense_.size()) dense_.resize(2 * number + 64, no_node);
      slot = &dense_[number];
      if (!sparse_.empty()) size_ -= sparse_.erase(number);
    } else {
      slot = &sparse_.try_emplace(number, no_node).first->second;
    }
    if (*slot == no_node) ++size_;
    *slot = id;
  }
  /// The node of that number, or `no_node`.
  NodeId get(std::uint64_t number) const {
    if (number < dense_.size() && dense_[number] != no_node) return dense_[number];
    const auto found = sparse_.find(number);
    return found == sparse_.end() ? no_node : found->second;
  }
  /// How many numbers are in use: what MEMOIZE counts by.
  std::uint64_t size() const noexcept { return size_; }

 private:
  std::vector<NodeId> dense_;
  std::map<std::uint64_t, NodeId> sparse_;
  std::uint64_t size_ = 0;
};

}  // namespace ckpt::pickle
