#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "ckpt/report/both_lists.hpp"

namespace ckpt {

/// What lists and modules hold, whatever it is called there. Order says which items are each other only where
/// nothing is missing: with an item gone on either side, or a tensor, one cannot count on.
class ItemStructure {
 public:
  explicit ItemStructure(BothLists& lists);

  /// Whether two names can be each other as far as their numbers go: these are the same, but for some that
  /// are the same in all names of their form; or the lists that count differently, or some modules around
  /// them, hold as many tensors of the same shapes.
  bool may_count_so(std::size_t source, std::size_t target) const;

 private:
  /// What a list, or a module around it, holds.
  struct Holder {
    std::size_t length = 0;  // of the name up to its items
    std::size_t holds = 0;   // an id
  };
  using Holders = std::vector<std::vector<Holder>>;  // by name
  static Holders holders_of(const std::vector<Name>& names, Texts& texts);

  const BothLists& lists_;
  Holders source_holders_, target_holders_;
};

}  // namespace ckpt
