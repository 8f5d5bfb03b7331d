#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ckpt/report/both_lists.hpp"
#include "ckpt/report/item_structure.hpp"
#include "ckpt/report/likeness.hpp"
#include "ckpt/report/name_template.hpp"
#include "ckpt/report/numbering.hpp"

namespace ckpt {

/// Which items are each other in lists that count differently: `input_blocks.4` and
/// `down_blocks.1.resnets.0`, or `layers.1` of 1, 2, 3 and `blocks.0` of 0, 1, 2. Series of one source and
/// one target that fit in order propose it; where they disagree, the series of more modules are believed.
class ItemPairs {
 public:
  ItemPairs(BothLists& lists, Likeness& likeness, const ItemStructure& structure)
      : lists_(lists), likeness_(likeness), structure_(structure) {}

  /// Finds them, and adds the series that are each other to the templates, with pointers to what is kept
  /// here. False where there are more series than can be held against each other in a moment: then none is
  /// added, and what is_doubtful() says is all that can be relied on.
  bool find(std::vector<Template>& templates);

  /// Whether a name may be another tensor on the other side, although it is there with the same shape.
  bool is_doubtful(std::size_t source) const { return doubtful_.contains(source); }
  void doubt(std::size_t source) { doubtful_.insert(source); }

  /// Whether one of two lists counts down: shapes leave no other way.
  bool is_reversed(std::size_t source_list, std::size_t target_list) const {
    return reversed_.contains({source_list, target_list});
  }

  /// Whether two names are below items that series of several modules say are each other.
  bool is_known_item(std::size_t s, std::size_t t);

  /// Whether a name is below an item of which they say what it is.
  bool knows_item_of(std::size_t s);

  /// Whether a name is below an item that the series of so many modules say is another one than the other's.
  bool is_renumbered(std::size_t s, std::size_t t, std::size_t least);

 private:
  struct Candidate {
    const Series *source, *target;
    std::vector<Zip> ways;
  };
  struct Items {
    std::size_t source_list = 0;  // ids
    std::size_t target_list = 0;
    std::map<std::string_view, std::string_view> pairs;
    std::vector<std::pair<std::size_t, std::size_t>> examples;  // names below them
    std::set<std::size_t> source_modules, target_modules;       // of which series say so
    std::size_t voices() const { return std::min(source_modules.size(), target_modules.size()); }
  };
  using ListPair = std::pair<std::size_t, std::size_t>;

  using Form = std::vector<std::size_t>;
  /// Series of one form, by what is fixed in them.
  using Forms = std::map<Form, std::map<std::vector<std::size_t>, const Series*>>;

  Form form_of(const Series& series, const Kinds& kinds);
  std::vector<const Series*> partners_of(const Series& source, const Forms& forms, bool is_of_one_class);
  std::optional<std::vector<Candidate>> candidates(bool is_of_one_class);
  bool may_zip(const Series& source, const Series& target);
  bool has_all(const Series& series, const std::vector<Name>& names, const Kinds& kinds);
  bool any_known(std::size_t s, const std::function<bool(std::string_view)>& is_meant);
  void find_reversed(const std::vector<Candidate>& candidates);
  bool runs_as_known(const Candidate& candidate, const Zip& way);
  void add_zip(const Series& source, const Series& target, const Zip& zip, std::vector<Template>& templates);
  std::size_t add_items(const Series& source, const Series& target, const Zip& zip);
  void drop_outnumbered_items(std::vector<Template>& templates);
  void doubt_named_items();
  bool is_of_another_item(const Series& source, const Series& target) const;
  ListPair lists_of(const Series& source, const Series& target, std::size_t i);
  std::vector<std::size_t> shapes_of(const Series& series, const std::vector<Name>& names);

  BothLists& lists_;
  Likeness& likeness_;
  const ItemStructure& structure_;
  std::vector<Series> source_series_{every_series(lists_.source_parts, lists_.texts)};
  std::vector<Series> target_series_{every_series(lists_.target_parts, lists_.texts)};
  std::unordered_map<std::size_t, std::size_t> unordered_shape_;
  std::map<std::set<std::size_t>, std::size_t> numbers_;                      // of kinds, as ids …
  std::unordered_map<const std::set<std::size_t>*, std::size_t> numbers_id_;  // … that were looked up
  std::unordered_map<const Series*, bool> has_all_;
  std::size_t compared_ = 0;
  std::set<ListPair> reversed_;  // one of which counts down
  std::vector<Items> items_;
  std::map<std::tuple<std::size_t, std::size_t, std::string_view, std::string_view>, std::vector<std::size_t>>
      items_by_first_;  // by lists and the first pair
  std::map<ListPair, std::unordered_map<std::string_view, std::vector<const Items*>>> renumbered_;  // by item
  std::unordered_set<std::size_t> doubtful_;                                                        // sources
};

}  // namespace ckpt
