#include "ckpt/report/pairing.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace ckpt {
namespace {

constexpr std::size_t none = SIZE_MAX;
// Two partners that are no further apart than this cannot be told apart.
constexpr double margin = 0.04;
// A partner that is less like than this is none, also where it is the only one.
constexpr double least_likeness = 0.38;
// What a module whose other tensors are paired says of the rest.
constexpr double neighbour_weight = 0.3;
// A template that finds a place for all names of its form, against one that fits some by chance.
constexpr double support_weight = 0.1;
// A matrix whose shape nothing else has.
constexpr double unique_shape_weight = 0.3;
// So many pairs exchange the same unlike words, or it is taken for chance: a weight alone has many like it,
// a weight and a bias that both fit are a module.
constexpr std::size_t least_exchanges = 2;
// Names with more numbers than this keep the last ones as they are.
constexpr std::size_t most_slots = 6;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Numbers every distinct text.
class Texts {
 public:
  std::size_t id(std::string_view text) {
    const auto [found, is_new] = ids_.emplace(std::string(text), texts_.size());
    if (is_new) texts_.push_back(&found->first);
    return found->second;
  }
  const std::string& text(std::size_t id) const { return *texts_[id]; }

 private:
  std::unordered_map<std::string, std::size_t> ids_;
  std::vector<const std::string*> texts_;
};

/// One name of either list, taken apart.
struct Name {
  const NamedShape* tensor = nullptr;
  std::size_t shape = 0;              // id of dtype class and shape
  std::size_t name_class = 0;         // id of the name with `#` for numbers
  std::vector<std::size_t> numbers;   // ids of the runs of digits
  std::vector<std::size_t> segments;  // ids
  std::size_t module = none;          // id of the name without its last segment
  bool is_taken = false;
};

/// A class of names of one list.
struct NameClass {
  std::size_t id = 0;
  std::vector<std::string> literals;  // between the numbers
  std::vector<std::size_t> members;
};

/// How the numbers of a target's name follow from those of a source's.
struct Slot {
  std::size_t from = none;   // the source's number, or …
  std::size_t text = none;   // … this text, …
  std::size_t meets = none;  // … which this number of the source happens to be as well
};

struct Template {
  std::size_t source_class = 0;
  std::size_t target_class = 0;
  std::vector<std::size_t> fixed;  // for each number of the source its text, or `none` where it is kept
  std::vector<Slot> slots;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  bool is_whole = false;  // it has a place for all names of its form
  double support = 0;     // share of the source's names that it has a place for
  double likeness = 0;    // of names, as far as is known by now
};

/// Likeness of segments, with what pairs have taught.
class Likeness {
 public:
  /// `may_number` says whether both lists have all members of the set that one may number and the other
  /// call by name.
  Likeness(const Texts& texts, bool may_number) : texts_(texts), may_number_(may_number) {}

  double of(std::size_t a, std::size_t b) {
    if (a == b) return 1;
    const std::uint64_t key = static_cast<std::uint64_t>(a) << 32U | b;
    const auto [found, is_new] = known_.try_emplace(key, 0.0);
    if (is_new)
      found->second = !may_number_ && numbers_gated_set(texts_.text(a), texts_.text(b))
                          ? 0
                          : segment_likeness(texts_.text(a), texts_.text(b));
    return found->second;
  }

  /// What stands in the same gap of both names, numbers aside: `emb => lm_head`.
  std::set<std::string> exchanged(const Name& a, const Name& b) {
    align(a, b);
    std::set<std::string> all;
    const auto add = [&](std::string& text, const Name& name, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        text += '.';
        for (const char c : texts_.text(name.segments[i]))
          if (!is_digit(c)) text += c;
          else if (text.back() != '#') text += '#';
      }
    };
    each_gap(a, b, [&](std::size_t begin, std::size_t end, std::size_t to_begin, std::size_t to_end) {
      if (begin == end || to_begin == to_end) return;
      std::string text;
      add(text, a, begin, end);
      text += " => ";
      add(text, b, to_begin, to_end);
      all.insert(std::move(text));
    });
    return all;
  }

  /// The best alignment of the segments, over their mean number; what stands in the same gap of both and
  /// names opposites makes them strangers.
  double of_names(const Name& a, const Name& b) {
    align(a, b);
    const double sum = at(a.segments.size(), b.segments.size());
    double opposites = 0;
    each_gap(a, b, [&](std::size_t begin, std::size_t end, std::size_t to_begin, std::size_t to_end) {
      double worst = 0;
      for (std::size_t i = begin; i < end; ++i)
        for (std::size_t j = to_begin; j < to_end; ++j)
          worst = std::min(worst, of(a.segments[i], b.segments[j]));
      if (worst < 0) opposites = 1;
    });
    return 2 * sum / static_cast<double>(a.segments.size() + b.segments.size()) - opposites;
  }

  /// Segments of a pair that stand in each other's place mean the same from now on.
  void learn(const Name& a, const Name& b) {
    align(a, b);
    for (const auto& [i, j] : steps_) teach(a.segments[i], b.segments[j]);
    each_gap(a, b, [&](std::size_t begin, std::size_t end, std::size_t to_begin, std::size_t to_end) {
      if (end - begin == 1 && to_end - to_begin == 1) teach(a.segments[begin], b.segments[to_begin]);
    });
  }

 private:
  double& at(std::size_t i, std::size_t j) { return table_[i * width_ + j]; }

  void teach(std::size_t a, std::size_t b) {
    const auto is_number = [&](std::size_t id) { return std::ranges::all_of(texts_.text(id), is_digit); };
    // What is called by opposites stays apart, however often it stands in each other's place.
    if (a == b || is_number(a) || is_number(b) || of(a, b) < 0) return;
    double& known = known_[static_cast<std::uint64_t>(a) << 32U | b];
    known = std::max(known, 0.95);
  }

  /// Calls `take` with every stretch of either name between well aligned segments, empty ones too.
  template <typename Take> void each_gap(const Name& a, const Name& b, Take take) {
    constexpr double well = 0.5;
    std::size_t i = 0;
    std::size_t j = 0;
    for (const auto& [x, y] : steps_) {
      if (of(a.segments[x], b.segments[y]) < well) continue;
      take(i, x, j, y);
      i = x + 1, j = y + 1;
    }
    take(i, a.segments.size(), j, b.segments.size());
  }

  void align(const Name& a, const Name& b) {
    width_ = b.segments.size() + 1;
    table_.assign((a.segments.size() + 1) * width_, 0.0);
    for (std::size_t i = 1; i <= a.segments.size(); ++i)
      for (std::size_t j = 1; j < width_; ++j)
        at(i, j) = std::max(
            {at(i - 1, j), at(i, j - 1), at(i - 1, j - 1) + of(a.segments[i - 1], b.segments[j - 1])});
    steps_.clear();
    std::size_t i = a.segments.size();
    std::size_t j = b.segments.size();
    while (i > 0 && j > 0) {
      const double likeness = of(a.segments[i - 1], b.segments[j - 1]);
      if (likeness > 0 && at(i, j) == at(i - 1, j - 1) + likeness) steps_.emplace_back(--i, --j);
      else if (at(i - 1, j) >= at(i, j - 1)) --i;
      else --j;
    }
    std::ranges::reverse(steps_);
  }

  const Texts& texts_;
  bool may_number_;
  std::unordered_map<std::uint64_t, double> known_;
  std::vector<double> table_;  // of the last alignment
  std::size_t width_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> steps_;  // its aligned segments, in order
};

class Pairing {
 public:
  Pairing(std::span<const NamedShape> source, std::span<const NamedShape> target)
      : sources_(take_apart(source, source_classes_)), targets_(take_apart(target, target_classes_)) {
    for (std::size_t i = 0; i < targets_.size(); ++i) target_by_name_.emplace(target[i].name, i);
    for (const Name& name : sources_) ++shapes_of_source_[name.shape];
    for (const Name& name : targets_) ++shapes_of_target_[name.shape];
  }

  std::vector<NamePair> run() {
    take_identical();
    for (const auto& [source_id, source] : source_classes_)
      for (const auto& [target_id, target] : target_classes_)
        if (shapes_meet(source, target)) make_templates(source, target);
    while (take_certain()) {
    }
    for (Template& each : templates_) each.pairs.clear();
    std::erase_if(result_, [&](const NamePair& p) {
      return !is_identical(p) && is_outvoted(p.family, p.source, p.target);
    });
    drop_unfounded();
    return std::move(result_);
  }

 private:
  using Classes = std::map<std::size_t, NameClass>;

  bool has_whole_set(const std::vector<Name>& names) const {
    std::unordered_set<std::string_view> segments;
    for (const Name& name : names)
      for (const std::size_t segment : name.segments) segments.insert(texts_.text(segment));
    return holds_gated_set([&](std::string_view segment) { return segments.contains(segment); });
  }

  std::vector<Name> take_apart(std::span<const NamedShape> tensors, Classes& classes) {
    std::vector<Name> names;
    for (const NamedShape& tensor : tensors) {
      Name name{.tensor = &tensor, .shape = {}, .name_class = {}, .numbers = {}, .segments = {}};
      std::string shape = std::to_string(static_cast<int>(info(tensor.dtype).kind)) + to_string(tensor.shape);
      name.shape = texts_.id(shape);
      shape_of_id_.emplace(name.shape, &tensor);
      std::string pattern;
      std::vector<std::string> literals{{}};
      for (std::size_t i = 0; i < tensor.name.size();) {
        std::size_t end = i;
        while (end < tensor.name.size() && is_digit(tensor.name[end])) ++end;
        if (end > i && name.numbers.size() < most_slots) {
          name.numbers.push_back(texts_.id(tensor.name.substr(i, end - i)));
          pattern += '\1';  // no name has it for a digit
          literals.emplace_back();
          i = end;
        } else {
          pattern += tensor.name[i];
          literals.back() += tensor.name[i++];
        }
      }
      name.name_class = texts_.id(pattern);
      for (const std::string_view segment : split_segments(tensor.name))
        name.segments.push_back(texts_.id(segment));
      if (const std::size_t dot = tensor.name.rfind('.'); dot != std::string::npos)
        name.module = texts_.id("module " + tensor.name.substr(0, dot));
      NameClass& name_class = classes[name.name_class];
      name_class.id = name.name_class;
      name_class.literals = std::move(literals);
      name_class.members.push_back(names.size());
      names.push_back(std::move(name));
    }
    return names;
  }

  bool is_identical(const NamePair& pair) const {
    return sources_[pair.source].tensor->name == targets_[pair.target].tensor->name;
  }

  /// What has one name and one shape on both sides is itself, whatever else there is.
  void take_identical() {
    std::map<std::size_t, std::size_t> family_of_class;
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      const Name& source = sources_[s];
      const auto found = target_by_name_.find(source.tensor->name);
      if (found == target_by_name_.end() || targets_[found->second].shape != source.shape) continue;
      const auto [family, is_new] = family_of_class.try_emplace(source.name_class, templates_.size());
      if (is_new)
        templates_.push_back({.source_class = source.name_class,
                              .target_class = source.name_class,
                              .fixed = std::vector<std::size_t>(source.numbers.size(), none),
                              .slots = all_kept(source),
                              .pairs = {}});
      take({s, found->second, family->second});
    }
  }

  static std::vector<Slot> all_kept(const Name& source) {
    std::vector<Slot> slots;
    for (std::size_t i = 0; i < source.numbers.size(); ++i) slots.push_back({.from = i, .text = none});
    return slots;
  }

  /// Drops pairs that rest on their shape, or on there being no other: where one name has words that the
  /// other has not and the other way round, several pairs must have exchanged the same.
  void drop_unfounded() {
    Likeness untaught(texts_, has_whole_sets_);
    std::map<std::string, std::size_t> seen;
    std::vector<std::set<std::string>> exchanges(result_.size());
    for (std::size_t i = 0; i < result_.size(); ++i) {
      exchanges[i] = untaught.exchanged(sources_[result_[i].source], targets_[result_[i].target]);
      for (const std::string& exchange : exchanges[i]) ++seen[exchange];
    }
    std::size_t at = 0;
    std::erase_if(result_, [&](const NamePair&) {
      return std::ranges::any_of(exchanges[at++],
                                 [&](const std::string& e) { return seen.at(e) < least_exchanges; });
    });
  }

  bool fits(std::size_t source, std::size_t target) {
    const std::size_t a = sources_[source].shape;
    const std::size_t b = targets_[target].shape;
    if (a == b) return true;
    const auto [found, is_new] = fits_.try_emplace(static_cast<std::uint64_t>(a) << 32U | b, false);
    if (is_new) found->second = may_be_same(*shape_of_id_.at(a), *shape_of_id_.at(b));
    return found->second;
  }

  /// Whether any two members may be the same: most classes have nothing to do with each other.
  bool shapes_meet(const NameClass& source, const NameClass& target) {
    std::set<std::size_t> seen;
    for (const std::size_t s : source.members) {
      if (!seen.insert(sources_[s].shape).second) continue;
      for (const std::size_t t : target.members)
        if (fits(s, t)) return true;
    }
    return false;
  }

  std::string name_of(const NameClass& target, const std::vector<Slot>& slots, const Name& source) const {
    std::string name = target.literals.front();
    for (std::size_t i = 0; i < slots.size(); ++i) {
      name += texts_.text(slots[i].from != none ? source.numbers[slots[i].from] : slots[i].text);
      name += target.literals[i + 1];
    }
    return name;
  }

  /// Whether a name of the template's source class has its form.
  static bool is_meant(const Template& candidate, const Name& source) {
    for (std::size_t i = 0; i < candidate.fixed.size(); ++i)
      if (candidate.fixed[i] != none && candidate.fixed[i] != source.numbers[i]) return false;
    return true;
  }

  /// Whether a name of the template's target class has the form of its results.
  static bool is_result(const Template& candidate, const Name& target) {
    for (std::size_t i = 0; i < candidate.slots.size(); ++i)
      if (candidate.slots[i].text != none && candidate.slots[i].text != target.numbers[i]) return false;
    return true;
  }

  /// Whether more pairs than a family can have were taken by another that has a place for either name, and
  /// there a different one: the true partner is missing.
  bool is_outvoted(std::size_t family, std::size_t s, std::size_t t) const {
    const auto is_stronger = [&](std::size_t other) {
      return other != family && taken_of_family_.at(other) > most_of_family(family);
    };
    if (const auto found = families_of_source_class_.find(sources_[s].name_class);
        found != families_of_source_class_.end())
      for (const std::size_t other : found->second)
        if (is_stronger(other) && is_meant(templates_[other], sources_[s])) return true;
    if (const auto found = families_of_target_class_.find(targets_[t].name_class);
        found != families_of_target_class_.end())
      for (const std::size_t other : found->second)
        if (is_stronger(other) && is_result(templates_[other], targets_[t])) return true;
    return false;
  }

  /// Pairs of a family that were taken or may still be.
  std::size_t most_of_family(std::size_t family) const {
    const auto found = taken_of_family_.find(family);
    return (found == taken_of_family_.end() ? 0 : found->second) + templates_[family].pairs.size();
  }

  /// Fills in the pairs of a template; false where it yields a name of another shape.
  bool hold(const NameClass& source, const NameClass& target, Template& candidate) {
    candidate.pairs.clear();
    std::size_t meant = 0;
    std::set<std::size_t> reached;
    for (const std::size_t s : source.members) {
      const Name& name = sources_[s];
      if (!is_meant(candidate, name)) continue;
      ++meant;
      const auto found = target_by_name_.find(name_of(target, candidate.slots, name));
      if (found == target_by_name_.end()) continue;
      if (!fits(s, found->second) || !reached.insert(found->second).second) return false;
      if (counts_otherwise(s, found->second, candidate.slots)) continue;
      candidate.pairs.emplace_back(s, found->second);
    }
    candidate.is_whole = candidate.pairs.size() == meant;
    if (candidate.pairs.empty()) return true;
    // A template for one name of several says nothing that the names do not.
    const auto pairs = static_cast<double>(candidate.pairs.size());
    candidate.support =
        pairs / static_cast<double>(meant) * (source.members.size() == 1 ? 1 : (pairs - 1) / pairs);
    return true;
  }

  /// Which numbers there are in one place, by two measures of what a place is.
  struct Counted {
    std::map<std::vector<std::size_t>, std::set<std::size_t>> of_shape;  // of `l.#.w` with one shape
    std::map<std::string, std::set<std::size_t>> of_list;                // of all that begins with `l.#`

    explicit Counted(const std::vector<Name>& names) {
      for (const Name& name : names)
        for (std::size_t i = 0; i < name.numbers.size(); ++i) {
          of_shape[with_shape(name, i)].insert(name.numbers[i]);
          of_list[before(name, i)].insert(name.numbers[i]);
        }
    }

    static std::vector<std::size_t> with_shape(const Name& name, std::size_t number) {
      std::vector<std::size_t> key{name.name_class, name.shape, number};
      key.insert(key.end(), name.numbers.begin(), name.numbers.end());
      key[3 + number] = none;
      return key;
    }

    /// The text before a number.
    static std::string before(const Name& name, std::size_t number) {
      const std::string& text = name.tensor->name;
      std::size_t at = 0;
      for (std::size_t i = 0;; ++i) {
        while (!is_digit(text[at])) ++at;
        if (i == number) return text.substr(0, at);
        while (is_digit(text[at])) ++at;
      }
    }
  };

  /// Whether a number that two names share says nothing, as either list has numbers that the other has not,
  /// and shapes do not tell the items apart: 1, 2, 3 may be 0, 1, 2, and 0, 2, 4 as well.
  bool counts_otherwise(std::size_t s, std::size_t t, const std::vector<Slot>& slots) const {
    const auto differ = [](const std::set<std::size_t>& a, const std::set<std::size_t>& b) {
      return !std::ranges::includes(a, b) && !std::ranges::includes(b, a);
    };
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const std::size_t number = slots[i].from != none ? slots[i].from : slots[i].meets;
      if (number == none) continue;
      const Name& source = sources_[s];
      const Name& target = targets_[t];
      if (differ(counted_sources_.of_shape.at(Counted::with_shape(source, number)),
                 counted_targets_.of_shape.at(Counted::with_shape(target, i))) &&
          differ(counted_sources_.of_list.at(Counted::before(source, number)),
                 counted_targets_.of_list.at(Counted::before(target, i))))
        return true;
    }
    return false;
  }

  /// Every way to keep as many numbers as can be kept in order between two names, as slots of the target.
  static void keep_numbers(const Name& source, const Name& target, std::size_t i, std::size_t j,
                           std::vector<Slot>& slots, std::size_t kept, std::size_t& most,
                           std::vector<std::vector<Slot>>& ways) {
    if (j == target.numbers.size()) {
      if (kept > most) ways.clear(), most = kept;
      if (kept == most && ways.size() < 16) ways.push_back(slots);
      return;
    }
    for (std::size_t k = i; k < source.numbers.size(); ++k) {
      if (source.numbers[k] != target.numbers[j]) continue;
      slots.push_back({.from = k, .text = none});
      keep_numbers(source, target, k + 1, j + 1, slots, kept + 1, most, ways);
      slots.pop_back();
    }
    slots.push_back({.from = none, .text = target.numbers[j]});
    keep_numbers(source, target, i, j + 1, slots, kept, most, ways);
    slots.pop_back();
  }

  struct Way {
    std::size_t target = none;
    std::size_t kept = 0;
    std::vector<std::vector<Slot>> slots;
  };

  /// Whether a target's name counts otherwise than the source's where it could count the same: the name with
  /// the source's own numbers is there, for something else. Lists that run another way are not guessed at.
  bool is_recounted(const NameClass& target, const Name& source, const Name& result) const {
    if (source.numbers.size() != result.numbers.size() || source.numbers == result.numbers) return false;
    return target_by_name_.contains(name_of(target, all_kept(source), source));
  }

  /// Only partners that keep the most numbers of a name, or all but one of several, are thought of.
  void make_templates(const NameClass& source, const NameClass& target) {
    std::set<std::string> tried;
    for (const std::size_t s : source.members) {
      std::vector<Way> ways;
      std::size_t most = 0;
      for (const std::size_t t : target.members) {
        if (!fits(s, t) || is_recounted(target, sources_[s], targets_[t])) continue;
        Way way{.target = t, .kept = 0, .slots = {}};
        std::vector<Slot> slots;
        keep_numbers(sources_[s], targets_[t], 0, 0, slots, 0, way.kept, way.slots);
        most = std::max(most, way.kept);
        ways.push_back(std::move(way));
      }
      for (const Way& way : ways)
        if (way.kept == most || (most > 1 && way.kept + 1 == most))
          for (const std::vector<Slot>& slots : way.slots) add_template(source, target, s, slots, tried);
    }
  }

  /// The template, and where it does not hold, or not for all names of its form, those that fix one more
  /// number.
  void add_template(const NameClass& source, const NameClass& target, std::size_t example,
                    const std::vector<Slot>& slots, std::set<std::string>& tried) {
    Template candidate{.source_class = source.id,
                       .target_class = target.id,
                       .fixed = sources_[example].numbers,
                       .slots = slots,
                       .pairs = {}};
    for (const Slot& slot : slots)
      if (slot.from != none) candidate.fixed[slot.from] = none;
    std::string key;
    for (const std::size_t text : candidate.fixed) key += std::to_string(text) + ",";
    for (const Slot& slot : slots) key += std::to_string(slot.from) + ":" + std::to_string(slot.text) + ";";
    if (!tried.insert(std::move(key)).second) return;
    if (hold(source, target, candidate)) {
      if (candidate.pairs.empty()) return;
      const bool is_whole = candidate.is_whole;
      templates_.push_back(std::move(candidate));
      if (is_whole) return;
    }
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].from == none) continue;
      std::vector<Slot> narrower = slots;
      narrower[i] = {.from = none, .text = sources_[example].numbers[slots[i].from], .meets = slots[i].from};
      add_template(source, target, example, narrower, tried);
    }
  }

  /// What the modules that two tensors belong to say: their other tensors are paired with each other, or
  /// with those of somebody else.
  double neighbour_score(const Name& source, const Name& target) const {
    if (source.module == none || target.module == none) return 0;
    const auto a = module_of_source_.find(source.module);
    const auto b = module_of_target_.find(target.module);
    if (a == module_of_source_.end() && b == module_of_target_.end()) return 0;
    const bool is_same = a != module_of_source_.end() && a->second.contains(target.module);
    return is_same ? neighbour_weight : -neighbour_weight;
  }

  double score(const Template& candidate, std::size_t s, std::size_t t) {
    const Name& source = sources_[s];
    const Name& target = targets_[t];
    double sum = candidate.likeness + support_weight * candidate.support + neighbour_score(source, target);
    if (source.tensor->name == target.tensor->name) sum += 1;
    if (source.shape == target.shape && source.tensor->shape.size() > 1 &&
        shapes_of_source_.at(source.shape) == 1 && shapes_of_target_.at(target.shape) == 1)
      sum += unique_shape_weight;
    return sum;
  }

  struct Choice {
    std::size_t partner = none;
    std::size_t family = none;
    double score = -1;
    double second = -1;  // the best of any other partner

    void offer(std::size_t other, double value, std::size_t of) {
      if (other == partner) {
        if (value > score) score = value, family = of;
      } else if (value > score) {
        second = score;
        partner = other, score = value, family = of;
      } else {
        second = std::max(second, value);
      }
    }
  };

  /// Takes every pair that is the only good choice of both; false when there was none.
  bool take_certain() {
    std::vector<Choice> of_source(sources_.size());
    std::vector<Choice> of_target(targets_.size());
    for (std::size_t f = 0; f < templates_.size(); ++f) {
      Template& candidate = templates_[f];
      std::erase_if(candidate.pairs, [&](const auto& pair) {
        return sources_[pair.first].is_taken || targets_[pair.second].is_taken;
      });
      if (candidate.pairs.empty()) continue;
      const auto& [example, image] = candidate.pairs.front();
      candidate.likeness = likeness_.of_names(sources_[example], targets_[image]);
      for (const auto& [s, t] : candidate.pairs) {
        const double value = score(candidate, s, t);
        of_source[s].offer(t, value, f);
        of_target[t].offer(s, value, f);
      }
    }
    std::vector<NamePair> taken;
    double best = 0;
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      const Choice& choice = of_source[s];
      if (choice.partner == none || choice.score < least_likeness) continue;
      const Choice& back = of_target[choice.partner];
      if (back.partner != s || choice.score - choice.second < margin || back.score - back.second < margin)
        continue;
      if (is_outvoted(choice.family, s, choice.partner)) continue;
      taken.push_back({s, choice.partner, choice.family});
      best = std::max(best, choice.score);
    }
    // The likeliest first: what they teach may change the mind about the others.
    constexpr double band = 0.15;
    bool is_any = false;
    for (const NamePair& pair : taken) {
      if (of_source[pair.source].score < best - band) continue;
      take(pair);
      is_any = true;
    }
    return is_any;
  }

  void take(const NamePair& pair) {
    Name& source = sources_[pair.source];
    Name& target = targets_[pair.target];
    source.is_taken = target.is_taken = true;
    if (source.module != none && target.module != none) {
      module_of_source_[source.module].insert(target.module);
      module_of_target_[target.module].insert(source.module);
    }
    if (++taken_of_family_[pair.family] == 1) {
      likeness_.learn(source, target);
      families_of_source_class_[source.name_class].push_back(pair.family);
      families_of_target_class_[target.name_class].push_back(pair.family);
    }
    result_.push_back(pair);
  }

  Texts texts_;
  Classes source_classes_, target_classes_;
  std::unordered_map<std::size_t, const NamedShape*> shape_of_id_;
  std::vector<Name> sources_, targets_;
  Counted counted_sources_{sources_}, counted_targets_{targets_};
  bool has_whole_sets_{has_whole_set(sources_) && has_whole_set(targets_)};
  Likeness likeness_{texts_, has_whole_sets_};
  std::unordered_map<std::string, std::size_t> target_by_name_;
  std::unordered_map<std::size_t, std::size_t> shapes_of_source_, shapes_of_target_;
  std::unordered_map<std::uint64_t, bool> fits_;
  std::vector<Template> templates_;
  std::unordered_map<std::size_t, std::set<std::size_t>> module_of_source_, module_of_target_;
  std::unordered_map<std::size_t, std::size_t> taken_of_family_;
  std::unordered_map<std::size_t, std::vector<std::size_t>> families_of_source_class_,
      families_of_target_class_;
  std::vector<NamePair> result_;
};

/// Items of lists that a pair says are each other, and whether that can be: `up.2.block.0.norm1.weight` and
/// `up_blocks.2.resnets.0.norm1.weight` may well have one shape, but not if `conv1.weight` stands below both
/// items and has two.
class Items {
 public:
  Items(std::span<const NamedShape> source, std::span<const NamedShape> target)
      : source_(source), target_(target) {
    for (std::size_t i = 0; i < target.size(); ++i) target_by_name_.emplace(target[i].name, i);
    for (std::size_t i = 0; i < source.size(); ++i) {
      const std::string_view item = item_of(source[i].name);
      if (!item.empty()) members_[item].push_back(i);
    }
  }

  bool can_be(const NamePair& pair) {
    const std::string_view a = item_of(source_[pair.source].name);
    const std::string_view b = item_of(target_[pair.target].name);
    const std::string_view rest = std::string_view(source_[pair.source].name).substr(a.size());
    if (source_[pair.source].name == target_[pair.target].name) return true;
    if (a.empty() || b.empty() || rest != std::string_view(target_[pair.target].name).substr(b.size()))
      return true;
    const auto [known, is_new] = known_.try_emplace({a, b}, true);
    if (is_new)
      known->second = std::ranges::none_of(members_.at(a), [&](std::size_t i) {
        const NamedShape& one = source_[i];
        const auto other = target_by_name_.find(std::string(b) + one.name.substr(a.size()));
        return other != target_by_name_.end() && !may_be_same(one, target_[other->second]);
      });
    return known->second;
  }

 private:
  /// All up to the last number that stands alone between dots; empty where there is none.
  static std::string_view item_of(std::string_view name) {
    for (std::size_t dot = name.rfind('.'); dot != std::string_view::npos && dot > 0;) {
      const std::size_t before = name.rfind('.', dot - 1);
      const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
      if (dot > begin && std::ranges::all_of(name.substr(begin, dot - begin), is_digit))
        return name.substr(0, dot);
      dot = before;
    }
    return {};
  }

  std::span<const NamedShape> source_, target_;
  std::unordered_map<std::string, std::size_t> target_by_name_;
  std::unordered_map<std::string_view, std::vector<std::size_t>> members_;
  std::map<std::pair<std::string_view, std::string_view>, bool> known_;
};

/// No name moves to where another one stays.
void drop_occupied(std::span<const NamedShape> source, std::span<const NamedShape> target,
                   std::vector<NamePair>& pairs) {
  std::unordered_set<std::string_view> staying;
  for (const NamedShape& tensor : source) staying.insert(tensor.name);
  for (const NamePair& pair : pairs) staying.erase(source[pair.source].name);
  const auto is_occupied = [&](const NamePair& pair) { return staying.contains(target[pair.target].name); };
  for (auto bad = std::ranges::find_if(pairs, is_occupied); bad != pairs.end();
       bad = std::ranges::find_if(pairs, is_occupied)) {
    // Who cannot leave stays too.
    std::erase_if(pairs, [&](const NamePair& pair) {
      const bool goes_nowhere = is_occupied(pair);
      if (goes_nowhere) staying.insert(source[pair.source].name);
      return goes_nowhere;
    });
  }
}

}  // namespace

std::vector<NamePair> pair_names(std::span<const NamedShape> source, std::span<const NamedShape> target) {
  std::vector<NamePair> pairs = Pairing(source, target).run();
  Items items(source, target);
  std::erase_if(pairs, [&](const NamePair& pair) { return !items.can_be(pair); });
  drop_occupied(source, target, pairs);
  std::ranges::sort(pairs, {}, &NamePair::source);
  return pairs;
}

}  // namespace ckpt
