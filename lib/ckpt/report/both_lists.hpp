#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ckpt/report/name_parts.hpp"
#include "ckpt/report/numbering.hpp"

namespace ckpt {

/// The names of both lists that are to be paired, and what is asked of them again and again.
class BothLists {
 public:
  BothLists(std::span<const NamedShape> source, std::span<const NamedShape> target);
  BothLists(const BothLists&) = delete;
  BothLists& operator=(const BothLists&) = delete;

  Texts texts;
  NameParts source_parts, target_parts;
  std::vector<Name>& sources = source_parts.names;
  std::vector<Name>& targets = target_parts.names;
  Kinds source_kinds{sources}, target_kinds{targets};
  std::unordered_map<std::string_view, std::size_t> target_by_name;

  /// Whether the tensors, by their indices, may be each other by their shapes.
  bool fits(std::size_t source, std::size_t target);

  /// The list whose items a name counts at a place, whatever the numbers before it are.
  std::size_t list_of(const Name& name, std::size_t place);

  /// Whether two lists have each a number that the other has not, in whatever items: they count differently.
  bool differ(std::size_t source_list, std::size_t target_list);

  /// Whether two names with the same numbers count the same lists with them.
  bool count_alike(std::size_t source, std::size_t target);

  /// Whether the items at this number of two names, and the others of their kinds, are of lists that count
  /// differently.
  bool have_different_counts(std::size_t source, std::size_t target, std::size_t place);

  bool have_one_name(std::size_t source, std::size_t target) const {
    return sources[source].tensor->name == targets[target].tensor->name;
  }

 private:
  using Numbers = std::map<std::size_t, std::set<std::size_t>>;  // of all items, by list
  Numbers numbers_in(const std::vector<Name>& names);

  Numbers source_numbers_, target_numbers_;
  std::map<std::pair<std::size_t, std::size_t>, bool> differ_;                                    // by lists
  std::map<std::pair<const std::set<std::size_t>*, const std::set<std::size_t>*>, bool> counts_;  // by kinds
  std::unordered_map<std::size_t, const NamedShape*> shape_of_id_;
  std::unordered_map<std::uint64_t, bool> fits_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> lists_;  // by class and place
};

}  // namespace ckpt
