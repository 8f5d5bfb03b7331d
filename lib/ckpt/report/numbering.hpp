#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "ckpt/report/name_parts.hpp"

namespace ckpt {

/// Which items of lists are of a kind: those of a transformer's blocks, but not the embedding that stands
/// before them in the same list.
class Kinds {
 public:
  explicit Kinds(std::span<const Name> names);

  /// The numbers, as ids, of all items of the kind to which the item at this number of a name belongs: those
  /// that have a tensor of one name and shape with it. Items of one kind share the set.
  const std::set<std::size_t>& numbers(std::size_t name, std::size_t place) const {
    return *kinds_[first_[name] + place];
  }

  /// Whether names of one class have several numbers at this place, in items of whatever kind.
  bool is_counted(const Name& name, std::size_t place) const {
    return counted_.contains({name.name_class, place});
  }

 private:
  std::deque<std::set<std::size_t>> sets_;
  std::vector<const std::set<std::size_t>*> kinds_;        // by name and place
  std::vector<std::size_t> first_;                         // of each name, of those
  std::set<std::pair<std::size_t, std::size_t>> counted_;  // classes and places
};

/// Names of one class in the order of those of their numbers that vary, the others being the same in all.
struct Series {
  const NameClass* of = nullptr;
  std::vector<std::size_t> fixed;     ///< for each number its id, or `no_id` where it varies
  std::vector<std::size_t> varying;   ///< the places of those that do, at least one
  std::vector<std::size_t> members;   ///< indices of names, at least two
  std::vector<std::size_t> segments;  ///< of all of them, with `#` for what varies
};

/// Every series with at most two numbers fixed that need not be.
std::vector<Series> every_series(const NameParts& parts, Texts& texts);

/// Two series that count differently and are each other item by item.
struct Zip {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::vector<bool> is_reversed;  ///< for each number that varies in the target, whether it counts down
  bool is_same = false;           ///< all numbers are equal; then there is no other way
  /// Both count without gaps, not one from 0 and the other from 1, and no shape says that equal numbers
  /// differ: they may be parts of one list.
  bool is_shift = false;
  /// Both count without gaps, or share few numbers, or it is certain that equal numbers are not the same.
  bool is_sound = true;
};

using Fits = std::function<bool(std::size_t, std::size_t)>;

/// Whether lists with these numbers, as ids, count differently rather than that each lacks some items.
bool count_differently(const std::set<std::size_t>& a, const std::set<std::size_t>& b, const Texts& texts);

/// Whether no item of the kind lacks the tensor that this is a series of: items of an incomplete one would be
/// counted wrongly.
bool is_complete(const Series& series, std::span<const Name> names, const Kinds& kinds);

/// The ways in which one series can be the other item by item: all shapes fit in order, or in the reverse
/// order of some numbers.
std::vector<Zip> zips(const Series& source, std::span<const Name> sources, const Series& target,
                      std::span<const Name> targets, const Texts& texts, const Fits& fits);

}  // namespace ckpt
