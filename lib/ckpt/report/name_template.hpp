#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ckpt/report/both_lists.hpp"
#include "ckpt/report/item_structure.hpp"

namespace ckpt {

/// How the numbers of a target's name follow from those of a source's.
struct Slot {
  std::size_t from = no_id;   // the source's number, or …
  std::size_t text = no_id;   // … this text, …
  std::size_t meets = no_id;  // … which this number of the source happens to be as well
};

/// Between two classes of names, the targets that follow from sources: some numbers are kept and others are
/// fixed, as in `blocks.#.mlp.0.weight` and `layers.#.fc1.weight`. Or a series that is another item by item.
struct Template {
  std::size_t source_class = 0;
  std::size_t target_class = 0;
  std::vector<std::size_t> fixed;  ///< for each number of the source its text, or `no_id` where it is kept
  std::vector<Slot> slots;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  bool is_whole = false;                  ///< it has a place for all names of its form
  double support = 0;                     ///< share of the source's names that it has a place for
  double likeness = 0;                    ///< of names, as far as is known by now
  const Series* source_series = nullptr;  ///< that are paired item by item, under other numbers
  const Series* target_series = nullptr;
  bool is_telling = false;  ///< of several shapes
  std::size_t items = 0;    ///< of lists, that are each other if this holds: an index
};

class ItemPairs;

/// The members of a class by what they are asked for.
class ClassIndex {
 public:
  ClassIndex(const NameClass& of, const std::vector<Name>& names);

  /// Those with this number at a place, in order.
  std::span<const std::size_t> with_number(std::size_t place, std::size_t number) const;

  /// The one with these numbers, or `no_id`.
  std::size_t find(const std::vector<std::size_t>& numbers) const;

  /// One of each shape.
  const std::vector<std::size_t>& of_each_shape() const noexcept { return of_each_shape_; }

 private:
  const NameClass* of_;
  const std::vector<Name>* names_;
  std::vector<std::vector<std::size_t>> by_number_;  // by place; none where there is one member
  std::vector<std::size_t> of_each_shape_;
};

/// Finds the templates between classes of names, which may hold for the same names.
class TemplateFinder {
 public:
  TemplateFinder(BothLists& lists, ItemPairs& items, const ItemStructure& structure,
                 std::vector<Template>& found)
      : lists_(lists), items_(items), structure_(structure), found_(found) {}

  /// Adds all that hold: every name that they yield, if it exists, has a fitting shape. Only partners that
  /// keep the most numbers of a name, or all but one of several, are thought of. False where more names would
  /// have to be held against each other than can be in a moment, or more could be each other than can be
  /// weighed: then some are left out.
  bool find_all();

 private:
  void find(const NameClass& source, const NameClass& target);
  bool is_exhausted() const noexcept;
  const ClassIndex& index(const NameClass& of, const std::vector<Name>& names);
  bool shapes_meet(const NameClass& source, const NameClass& target);
  void find_for(std::size_t s, const NameClass& source, const NameClass& target,
                std::set<std::string>& tried);
  std::vector<std::size_t> with_number_of(const Name& source, const NameClass& target);
  void find_strangers(std::size_t s, const NameClass& source, const NameClass& target);
  bool counts_items(const Kinds& kinds, const Name& name, std::size_t index) const;
  bool counts_otherwise(std::size_t s, std::size_t t, const std::vector<Slot>& slots);
  struct Found {
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    std::size_t meant = 0;  // sources of the template's form
  };
  Found names_of(const NameClass& source, const NameClass& target, const Template& candidate);
  bool hold(const NameClass& source, const NameClass& target, Template& candidate);
  void add(const NameClass& source, const NameClass& target, std::size_t example,
           const std::vector<Slot>& slots, std::set<std::string>& tried);

  BothLists& lists_;
  ItemPairs& items_;
  const ItemStructure& structure_;
  std::vector<Template>& found_;
  std::size_t compared_ = 0;
  std::unordered_map<const NameClass*, ClassIndex> indices_;
  std::unordered_map<const NameClass*, std::vector<std::size_t>> uncounted_;  // members of target classes
  std::map<std::pair<const std::set<std::size_t>*, const std::set<std::size_t>*>, bool> differ_;
};

/// Slots that keep all numbers of a name.
std::vector<Slot> all_kept(const Name& source);

/// The name of the target class that has these slots filled with a source's numbers.
std::string name_of(const NameClass& target, const std::vector<Slot>& slots, const Name& source,
                    const Texts& texts);

/// The name of the source class that a template would make this target of.
std::string origin_of(const NameClass& source, const Template& by, const Name& target, const Texts& texts);

/// Whether a name of the template's source class has its form.
bool is_meant(const Template& candidate, const Name& source);

/// Whether a name of the template's target class has the form of its results.
bool is_result(const Template& candidate, const Name& target);

}  // namespace ckpt
