#include "ckpt/report/pairing.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ckpt/report/likeness.hpp"
#include "ckpt/report/name_parts.hpp"
#include "ckpt/report/numbering.hpp"

namespace ckpt {
namespace {

// Two partners that are no further apart than this cannot be told apart.
constexpr double margin = 0.04;
// A partner that is less like than this is none, also where it is the only one.
constexpr double least_score = 0.38;
// What a module whose other tensors are paired says of the rest.
constexpr double neighbour_weight = 0.3;
// A bias is taken before the weight that it belongs to.
constexpr double loose_weight = 0.15;
// What modules say that stand beside it in the same one.
constexpr double outer_weight = 0.1;
// A template that finds a place for all names of its form, against one that fits some by chance.
constexpr double support_weight = 0.1;
// A matrix whose shape nothing else has.
constexpr double unique_shape_weight = 0.3;
// A matrix that need not be transposed, where none is known to be.
constexpr double exact_weight = 0.05;
// A series of matrices that are not all of one shape.
constexpr double telling_series_weight = 0.3;
// Series of one shape are each other's only if they are called more alike, or their modules are.
constexpr double least_series_score = 0.6;
// Series are not even thought of as each other's if they are called less alike.
constexpr double least_zip_likeness = 0.25;
// Lists that count down are called so much alike.
constexpr double least_list_likeness = 0.5;
// A tensor of a norm, or of a layer with a matrix, against one of the other kind.
constexpr double module_kind_weight = 0.3;
// So many pairs exchange the same unlike words, or it is taken for chance: a weight alone has many like it,
// a weight and a bias that both fit are a module.
constexpr std::size_t least_exchanges = 2;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// How the numbers of a target's name follow from those of a source's.
struct Slot {
  std::size_t from = no_id;   // the source's number, or …
  std::size_t text = no_id;   // … this text, …
  std::size_t meets = no_id;  // … which this number of the source happens to be as well
};

struct Template {
  std::size_t source_class = 0;
  std::size_t target_class = 0;
  std::vector<std::size_t> fixed;  // for each number of the source its text, or `no_id` where it is kept
  std::vector<Slot> slots;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  bool is_whole = false;                  // it has a place for all names of its form
  double support = 0;                     // share of the source's names that it has a place for
  double likeness = 0;                    // of names, as far as is known by now
  const Series* source_series = nullptr;  // that are paired item by item, under other numbers
  const Series* target_series = nullptr;
  bool is_telling = false;  // of several shapes
  std::size_t items = 0;    // of lists, that are each other if this holds: an index
};

/// Items of two lists that are each other: `input_blocks.4` is `down_blocks.1.resnets.0`.
struct Items {
  std::size_t source_list = 0;  // ids
  std::size_t target_list = 0;
  std::map<std::string_view, std::string_view> pairs;
  std::vector<std::pair<std::size_t, std::size_t>> examples;  // names below them
  std::set<std::size_t> source_modules, target_modules;       // of which series say so
  std::size_t voices() const { return std::min(source_modules.size(), target_modules.size()); }
};

class Pairing {
 public:
  Pairing(std::span<const NamedShape> source, std::span<const NamedShape> target)
      : source_parts_(source, texts_), target_parts_(target, texts_) {
    for (std::size_t i = 0; i < targets_.size(); ++i) target_by_name_.emplace(target[i].name, i);
    for (const NamedShape& tensor : source) source_modules_.insert(module_of(tensor.name));
    for (const NamedShape& tensor : target) target_modules_.insert(module_of(tensor.name));
    for (const Name& name : sources_) ++shapes_of_source_[name.shape], shape_of_id_[name.shape] = name.tensor;
    for (const Name& name : targets_) ++shapes_of_target_[name.shape], shape_of_id_[name.shape] = name.tensor;
  }

  /// Whether some matrix of either list is in the other transposed only.
  bool has_transposed() {
    const auto lacks = [&](const std::vector<Name>& names, const auto& others) {
      return std::ranges::any_of(names, [&](const Name& name) {
        const NamedShape& tensor = *name.tensor;
        if (tensor.shape.size() != 2 || others.contains(name.shape)) return false;
        return others.contains(shape_id(texts_, tensor.dtype, {tensor.shape[1], tensor.shape[0]}));
      });
    };
    return lacks(sources_, shapes_of_target_) || lacks(targets_, shapes_of_source_);
  }

  std::vector<NamePair> run() {
    is_transposed_ = has_transposed();

    make_zips();
    doubt_named_items();
    take_identical();
    for (const auto& [source_id, source] : source_parts_.classes)
      for (const auto& [target_id, target] : target_parts_.classes)
        if (shapes_meet(source, target)) make_templates(source, target);
    // Matrices say more than vectors, and tell the modules that these belong to.
    for (const bool with_vectors : {false, true})
      while (take_certain(with_vectors)) {
      }
    for (Template& each : templates_) each.pairs.clear();
    std::erase_if(result_, [&](const NamePair& p) {
      return !is_identical(p) && is_outvoted(p.family, p.source, p.target);
    });
    drop_unfounded();
    // Each item of a series has a number that needs its own rule; one tensor of a module stands for all.
    std::set<std::pair<std::size_t, std::size_t>> modules;
    for (std::size_t i = 0; i < result_.size(); ++i)
      if (templates_[result_[i].family].source_series != nullptr &&
          modules.emplace(sources_[result_[i].source].module, targets_[result_[i].target].module).second)
        result_[i].family = templates_.size() + i;
    return std::move(result_);
  }

 private:
  bool has_whole_set(const std::vector<Name>& names) const {
    std::unordered_set<std::string_view> segments;
    for (const Name& name : names)
      for (const std::size_t segment : name.segments) segments.insert(texts_.text(segment));
    return holds_gated_set([&](std::string_view segment) { return segments.contains(segment); });
  }

  bool is_identical(const NamePair& pair) const {
    return sources_[pair.source].tensor->name == targets_[pair.target].tensor->name;
  }

  /// What has one name and one shape on both sides is itself, unless its list counts otherwise.
  void take_identical() {
    std::map<std::size_t, std::size_t> family_of_class;
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      const Name& source = sources_[s];
      const auto found = target_by_name_.find(source.tensor->name);
      if (found == target_by_name_.end() || targets_[found->second].shape != source.shape) continue;
      if (doubtful_.contains(s)) continue;
      for (std::size_t i = 0; i < source.numbers.size(); ++i)
        if (count_differently(source_kinds_.numbers(s, i), target_kinds_.numbers(found->second, i), texts_))
          doubtful_.insert(s);
      if (doubtful_.contains(s)) continue;
      const auto [family, is_new] = family_of_class.try_emplace(source.name_class, templates_.size());
      if (is_new)
        templates_.push_back({.source_class = source.name_class,
                              .target_class = source.name_class,
                              .fixed = std::vector<std::size_t>(source.numbers.size(), no_id),
                              .slots = all_kept(source),
                              .pairs = {}});
      take({s, found->second, family->second});
    }
  }

  /// Where a list has lost items, and as many things of their shape stand beside it that were not there, its
  /// items may have got names: with `layers.1` gone and `proj_in` new, who knows what `layers.0` is.
  void doubt_named_items() {
    std::unordered_set<std::string_view> in_source, in_target;
    for (const Name& name : sources_) in_source.insert(name.tensor->name);
    for (const Name& name : targets_) in_target.insert(name.tensor->name);
    struct Place {
      std::string around;  // the name without the list and the number, or without one segment
      std::size_t shape;
      auto operator<=>(const Place&) const = default;
    };
    const auto gather = [](const std::vector<Name>& names,
                           const std::unordered_set<std::string_view>& others) {
      std::set<Place> named;
      for (const Name& name : names)
        if (const std::string_view text = name.tensor->name; !others.contains(text))
          if (const std::string_view module = module_of(text); !module.empty())
            named.insert({std::string(module_of(module)).append(text.substr(module.size())), name.shape});
      return named;
    };
    const std::set<Place> new_names = gather(targets_, in_source);
    const std::set<Place> old_names = gather(sources_, in_target);
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      const Name& name = sources_[s];
      if (name.numbers.empty() || !in_target.contains(name.tensor->name)) continue;
      const std::size_t t = target_by_name_.at(name.tensor->name);
      const std::set<std::size_t>& a = source_kinds_.numbers(s, name.numbers.size() - 1);
      const std::set<std::size_t>& b = target_kinds_.numbers(t, name.numbers.size() - 1);
      if (a.size() == b.size()) continue;
      const std::string_view text = name.tensor->name;
      const std::string_view item = through_number(text, name.numbers.size() - 1);
      const std::string_view list = module_of(item);
      if (list.empty() || list.size() + 1 == item.size()) continue;
      const Place place{std::string(module_of(list)).append(text.substr(item.size())), name.shape};
      if ((a.size() > b.size() ? new_names : old_names).contains(place)) doubtful_.insert(s);
    }
  }

  static std::vector<Slot> all_kept(const Name& source) {
    std::vector<Slot> slots;
    for (std::size_t i = 0; i < source.numbers.size(); ++i) slots.push_back({.from = i, .text = no_id});
    return slots;
  }

  /// Drops pairs that rest on their shape, or on there being no other: where one name has words that the
  /// other has not and the other way round, several pairs must have exchanged the same.
  void drop_unfounded() {
    using Exchange = Likeness::Exchange;
    Likeness untaught(texts_, has_whole_sets_);
    std::map<Exchange, std::size_t> seen;
    std::vector<std::set<Exchange>> exchanges;
    for (const NamePair& pair : result_) {
      exchanges.push_back(untaught.exchanged(sources_[pair.source].segments, targets_[pair.target].segments));
      for (const Exchange& exchange : exchanges.back()) ++seen[exchange];
    }
    // Others may exchange the same, of which one side has more here: `transformer => model` is behind
    // `transformer.embd => model`.
    const auto is_founded = [&](const Exchange& exchange) {
      if (seen.at(exchange) >= least_exchanges) return true;
      return std::ranges::any_of(seen, [&](const auto& other) {
        const auto& [from, to] = other.first;
        return other.second >= least_exchanges &&
               ((from == exchange.first && exchange.second.starts_with(to + ".")) ||
                (to == exchange.second && exchange.first.starts_with(from + ".")));
      });
    };
    std::size_t at = 0;
    std::erase_if(result_,
                  [&](const NamePair&) { return !std::ranges::all_of(exchanges[at++], is_founded); });
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
      name += texts_.text(slots[i].from != no_id ? source.numbers[slots[i].from] : slots[i].text);
      name += target.literals[i + 1];
    }
    return name;
  }

  /// Whether a name of the template's source class has its form.
  static bool is_meant(const Template& candidate, const Name& source) {
    for (std::size_t i = 0; i < candidate.fixed.size(); ++i)
      if (candidate.fixed[i] != no_id && candidate.fixed[i] != source.numbers[i]) return false;
    return true;
  }

  /// Whether a name of the template's target class has the form of its results.
  static bool is_result(const Template& candidate, const Name& target) {
    for (std::size_t i = 0; i < candidate.slots.size(); ++i)
      if (candidate.slots[i].text != no_id && candidate.slots[i].text != target.numbers[i]) return false;
    return true;
  }

  /// Whether more pairs than a family can have were taken by another that has a place for either name, and
  /// there a different one: the true partner is missing.
  bool is_outvoted(std::size_t family, std::size_t s, std::size_t t) const {
    const auto is_stronger = [&](std::size_t other) {
      return other != family && taken_of_family_.at(other) > most_of_family(family) &&
             templates_[other].source_series == nullptr;
    };
    const Name& source = sources_[s];
    const Name& target = targets_[t];
    if (const auto found = families_of_source_class_.find(source.name_class);
        found != families_of_source_class_.end())
      for (const std::size_t other : found->second) {
        const Template& by = templates_[other];
        if (is_stronger(other) && is_meant(by, source) &&
            may_lack(name_of(target_parts_.classes.at(by.target_class), by.slots, source), target_modules_,
                     source))
          return true;
      }
    if (const auto found = families_of_target_class_.find(target.name_class);
        found != families_of_target_class_.end())
      for (const std::size_t other : found->second) {
        const Template& by = templates_[other];
        if (is_stronger(other) && is_result(by, target) &&
            may_lack(origin_of(by, target), source_modules_, target))
          return true;
      }
    return false;
  }

  /// The name that a template would make this target of.
  std::string origin_of(const Template& by, const Name& target) const {
    const NameClass& of = source_parts_.classes.at(by.source_class);
    std::vector<std::size_t> numbers = by.fixed;
    for (std::size_t i = 0; i < by.slots.size(); ++i)
      if (by.slots[i].from != no_id) numbers[by.slots[i].from] = target.numbers[i];
    std::string name = of.literals.front();
    for (std::size_t i = 0; i < numbers.size(); ++i)
      name += (numbers[i] == no_id ? "" : texts_.text(numbers[i])) + of.literals[i + 1];
    return name;
  }

  /// Whether a list may lack this partner of `other`: a tensor goes missing, seldom a module of several.
  static bool may_lack(std::string_view name, const std::unordered_set<std::string_view>& modules,
                       const Name& other) {
    return other.module_size < 2 || modules.contains(module_of(name));
  }

  static std::string_view module_of(std::string_view name) {
    const std::size_t dot = name.find_last_of("./");
    return dot == std::string_view::npos ? std::string_view{} : name.substr(0, dot);
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
      if (found == target_by_name_.end() || targets_[found->second].name_class != target.id) continue;
      if (!fits(s, found->second) || !reached.insert(found->second).second) return false;
      if (counts_otherwise(s, found->second, candidate.slots) || is_renumbered(s, found->second, 2)) continue;
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

  /// Whether a number that two names share says nothing, as either list has numbers that the other has not,
  /// and shapes do not tell the items apart: 1, 2, 3 may be 0, 1, 2, and 0, 2, 4 as well. And whether two
  /// numbers of such lists were to be each other although they are not the same.
  bool counts_otherwise(std::size_t s, std::size_t t, const std::vector<Slot>& slots) {
    if (doubtful_.contains(s) && sources_[s].tensor->name == targets_[t].tensor->name) return true;
    std::vector<bool> is_free(sources_[s].numbers.size(), true);
    for (const Slot& slot : slots)
      if (const std::size_t number = slot.from != no_id ? slot.from : slot.meets; number != no_id)
        is_free[number] = false;
    bool has_free_list = false;
    for (std::size_t i = 0; i < is_free.size(); ++i)
      has_free_list |= is_free[i] && source_kinds_.numbers(s, i).size() > 1;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const std::size_t number = slots[i].from != no_id ? slots[i].from : slots[i].meets;
      const std::set<std::size_t>& b = target_kinds_.numbers(t, i);
      if (number == no_id) {
        if (has_free_list && b.size() > 1 && !is_known_item(s, t)) return true;
        continue;
      }
      if (reversed_.contains({list_of(sources_[s], number), list_of(targets_[t], i)})) return true;
      const std::set<std::size_t>& a = source_kinds_.numbers(s, number);
      const auto [known, is_new] = differ_.try_emplace({&a, &b}, false);
      if (is_new) known->second = !std::ranges::includes(a, b) && !std::ranges::includes(b, a);
      if (known->second) return true;
    }
    return false;
  }

  /// The list whose items a name counts at a place, whatever the numbers before it are.
  std::size_t list_of(const Name& name, std::size_t place) {
    const auto [found, is_new] = lists_.try_emplace({name.name_class, place}, no_id);
    if (is_new) {
      std::string text = "list ";
      for (const char c : before_number(name.tensor->name, place)) text += is_digit(c) ? '#' : c;
      found->second = texts_.id(text);
    }
    return found->second;
  }

  /// Pairs series that count differently item by item.
  void make_zips() {
    std::map<std::vector<std::size_t>, std::vector<const Series*>> by_shapes;
    for (const Series& target : target_series_) by_shapes[shapes_of(target, targets_)].push_back(&target);
    const auto fits_here = [&](std::size_t s, std::size_t t) { return fits(s, t); };
    struct Candidate {
      const Series *source, *target;
      std::vector<Zip> ways;
    };
    std::vector<Candidate> candidates;
    // What is paired as a part of more needs no pairing as a part of less: how many are paired with a source,
    // by the class of their partners.
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> covered;
    for (const Series& source : source_series_) {
      const auto found = by_shapes.find(shapes_of(source, sources_));
      if (found == by_shapes.end()) continue;
      for (const Series* target : found->second) {
        if (const auto by = covered.find({source.members.front(), target->of->id});
            by != covered.end() && by->second > source.members.size())
          continue;
        if (likeness_.of_names(source.segments, target->segments) < least_zip_likeness) continue;
        // Lists of one form may well count the same, with a tensor missing here and there.
        if (source.varying.size() == target->varying.size() &&
            !(is_complete(source, sources_, source_kinds_) && is_complete(*target, targets_, target_kinds_)))
          continue;
        std::vector<Zip> ways = zips(source, sources_, *target, targets_, texts_, fits_here);
        if (ways.empty()) continue;
        candidates.push_back({&source, target, std::move(ways)});
      }
      for (auto each = candidates.rbegin(); each != candidates.rend() && each->source == &source; ++each)
        for (const std::size_t member : source.members)
          covered.try_emplace({member, each->target->of->id}, source.members.size());
    }
    // A list counts down where shapes leave no other way for the series of several modules, and for none the
    // other.
    constexpr std::size_t least_items = 3;
    std::map<std::pair<std::size_t, std::size_t>, std::set<std::string>> down, up;
    for (const Candidate& each : candidates) {
      if (likeness_.of_names(each.source->segments, each.target->segments) < least_list_likeness) continue;
      for (std::size_t i = 0; i < each.source->varying.size(); ++i) {
        std::set<std::size_t> numbers;
        for (const std::size_t member : each.source->members)
          numbers.insert(sources_[member].numbers[each.source->varying[i]]);
        const auto is_down = [&](const Zip& way) { return way.is_reversed[i]; };
        const std::string module(module_of(each.source->of->pattern()));
        if (std::ranges::none_of(each.ways, is_down))
          up[lists_of(*each.source, *each.target, i)].insert(module);
        else if (std::ranges::all_of(each.ways, is_down) && numbers.size() >= least_items)
          down[lists_of(*each.source, *each.target, i)].insert(module);
      }
    }
    for (const auto& [lists, modules] : down)
      if (modules.size() >= 2 && !up.contains(lists)) reversed_.insert(lists);
    for (const Candidate& each : candidates)
      for (const Zip& way : each.ways) {
        bool is_right = way.is_sound;
        for (std::size_t i = 0; i < way.is_reversed.size(); ++i)
          is_right &= way.is_reversed[i] == (each.source->varying.size() == each.target->varying.size() &&
                                             reversed_.contains(lists_of(*each.source, *each.target, i)));
        if (is_right) add_zip(*each.source, *each.target, way);
      }
    drop_outnumbered_items();
  }

  /// What the series of few modules say of the items of lists is not so where more say something else.
  void drop_outnumbered_items() {
    std::vector<const Items*> by_voices;
    for (const Items& items : items_) by_voices.push_back(&items);
    std::ranges::stable_sort(by_voices, std::ranges::greater(), &Items::voices);
    std::unordered_set<const Items*> dropped;
    for (const Items* items : by_voices) {
      if (std::ranges::any_of(items->examples, [&](const auto& pair) {
            return is_renumbered(pair.first, pair.second, items->voices() + 1);
          }))
        dropped.insert(items);
      else renumbered_[{items->source_list, items->target_list}].push_back(items);
    }
    std::erase_if(templates_, [&](const Template& each) { return dropped.contains(&items_[each.items]); });
  }

  /// Whether two names are below items that series of several modules say are each other.
  bool is_known_item(std::size_t s, std::size_t t) {
    for (const auto& [lists, known] : renumbered_)
      for (const Items* items : known) {
        if (items->voices() < 2) continue;
        for (std::size_t i = 0; i < sources_[s].numbers.size(); ++i) {
          if (list_of(sources_[s], i) != lists.first) continue;
          const auto item = items->pairs.find(through_number(sources_[s].tensor->name, i));
          if (item != items->pairs.end() && targets_[t].tensor->name.starts_with(item->second) &&
              !is_digit(targets_[t].tensor->name[item->second.size()]))
            return true;
        }
      }
    return false;
  }

  /// Whether a name is below an item that the series of so many modules say is another one than the other's.
  bool is_renumbered(std::size_t s, std::size_t t, std::size_t least) {
    if (renumbered_.empty()) return false;
    const Name& source = sources_[s];
    const Name& target = targets_[t];
    for (std::size_t i = 0; i < source.numbers.size(); ++i)
      for (std::size_t j = 0; j < target.numbers.size(); ++j) {
        const auto found = renumbered_.find({list_of(source, i), list_of(target, j)});
        if (found == renumbered_.end()) continue;
        for (const Items* items : found->second) {
          if (items->voices() < least) continue;
          const auto item = items->pairs.find(through_number(source.tensor->name, i));
          if (item == items->pairs.end()) continue;
          if (item->second != through_number(target.tensor->name, j)) return true;
        }
      }
    return false;
  }

  /// A matrix, or a vector of a norm: not one that goes with a matrix.
  static bool is_own_kind(const Name& name) { return name.tensor->shape.size() == name.module_rank; }

  std::pair<std::size_t, std::size_t> lists_of(const Series& source, const Series& target, std::size_t i) {
    return {list_of(sources_[source.members.front()], source.varying[i]),
            list_of(targets_[target.members.front()], target.varying[i])};
  }

  void add_zip(const Series& source, const Series& target, const Zip& zip) {
    if (source.of->id == target.of->id) {
      for (const auto& [s, t] : zip.pairs)
        if (sources_[s].tensor->name != targets_[t].tensor->name) doubtful_.insert(s);
      // The same list from another number on: nothing tells it from another part of the list.
      if (zip.is_shift) {
        for (const auto& [s, t] : zip.pairs) doubtful_.insert(s);
        return;
      }
    }
    std::set<std::size_t> shapes;
    for (const auto& [s, t] : zip.pairs) shapes.insert(sources_[s].shape);
    Template each{.source_class = source.of->id,
                  .target_class = target.of->id,
                  .fixed = source.fixed,
                  .slots = {},
                  .pairs = zip.pairs,
                  .is_whole = true,
                  .support = 1,
                  .source_series = &source,
                  .target_series = &target,
                  .is_telling = shapes.size() > 1 && is_own_kind(sources_[zip.pairs.front().first]) &&
                                is_own_kind(targets_[zip.pairs.front().second])};
    for (const std::size_t number : target.fixed) each.slots.push_back({.from = no_id, .text = number});
    Items items{.source_list = list_of(sources_[zip.pairs.front().first], source.varying.back()),
                .target_list = list_of(targets_[zip.pairs.front().second], target.varying.back()),
                .pairs = {},
                .examples = zip.pairs,
                .source_modules = {},
                .target_modules = {}};
    for (const auto& [s, t] : zip.pairs)
      items.pairs.emplace(through_number(sources_[s].tensor->name, source.varying.back()),
                          through_number(targets_[t].tensor->name, target.varying.back()));
    const auto same = std::ranges::find_if(items_, [&](const Items& other) {
      return other.source_list == items.source_list && other.target_list == items.target_list &&
             other.pairs == items.pairs;
    });
    each.items = static_cast<std::size_t>(same - items_.begin());
    if (same == items_.end()) items_.push_back(std::move(items));
    items_[each.items].source_modules.insert(texts_.id(module_of(source.of->pattern())));
    items_[each.items].target_modules.insert(texts_.id(module_of(target.of->pattern())));
    if (zip.is_same) return;
    templates_.push_back(std::move(each));
  }

  /// The shapes of a series without their order, and without that of their dimensions.
  std::vector<std::size_t> shapes_of(const Series& series, const std::vector<Name>& names) {
    std::vector<std::size_t> shapes;
    for (const std::size_t member : series.members) {
      const auto [found, is_new] = unordered_shape_.try_emplace(names[member].shape, no_id);
      if (is_new) {
        Shape shape = names[member].tensor->shape;
        std::ranges::sort(shape);
        found->second = texts_.id("shape " + to_string(shape));
      }
      shapes.push_back(found->second);
    }
    std::ranges::sort(shapes);
    return shapes;
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
      slots.push_back({.from = k, .text = no_id});
      keep_numbers(source, target, k + 1, j + 1, slots, kept + 1, most, ways);
      slots.pop_back();
    }
    slots.push_back({.from = no_id, .text = target.numbers[j]});
    keep_numbers(source, target, i, j + 1, slots, kept, most, ways);
    slots.pop_back();
  }

  struct Way {
    std::size_t target = no_id;
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
      if (slot.from != no_id) candidate.fixed[slot.from] = no_id;
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
      if (slots[i].from == no_id) continue;
      std::vector<Slot> narrower = slots;
      narrower[i] = {.from = no_id, .text = sources_[example].numbers[slots[i].from], .meets = slots[i].from};
      add_template(source, target, example, narrower, tried);
    }
  }

  /// What the modules that two tensors belong to say, or else the modules around these: their other tensors
  /// are paired with each other, or with those of somebody else.
  double neighbour_score(const Name& source, const Name& target) const {
    if (source.module == no_id || target.module == no_id) return 0;
    if (const std::optional<bool> is_same = are_paired(source.module, target.module)) {
      if (*is_same) return neighbour_weight;
      // A weight and its bias are one module on both sides.
      return source.module_size > 1 && target.module_size > 1 ? -1 : -neighbour_weight;
    }
    const bool is_loose = !is_own_kind(source) && !is_own_kind(target);
    const bool is_beside = source.outer != no_id && are_paired(source.outer, target.outer).value_or(false);
    return (is_beside ? outer_weight : 0) - (is_loose ? loose_weight : 0);
  }

  /// Whether tensors of one module were paired with those of the other; nothing where none was paired.
  std::optional<bool> are_paired(std::size_t source, std::size_t target) const {
    const auto a = module_of_source_.find(source);
    if (a == module_of_source_.end() && !module_of_target_.contains(target)) return std::nullopt;
    return a != module_of_source_.end() && a->second.contains(target);
  }

  double score(const Template& candidate, std::size_t s, std::size_t t) {
    const Name& source = sources_[s];
    const Name& target = targets_[t];
    double sum = candidate.likeness + support_weight * candidate.support + neighbour_score(source, target);
    if (!is_transposed_ && source.shape == target.shape) sum += exact_weight;
    if (candidate.is_telling) sum += telling_series_weight;
    if (source.module_size > 1 && target.module_size > 1 && source.module_rank != target.module_rank)
      sum -= module_kind_weight;
    if (source.tensor->name == target.tensor->name) sum += 1;
    if (source.shape == target.shape && source.tensor->shape.size() > 1 &&
        shapes_of_source_.at(source.shape) == 1 && shapes_of_target_.at(target.shape) == 1)
      sum += unique_shape_weight;
    return sum;
  }

  Likeness::Segments source_words(const Template& of) const {
    return of.source_series != nullptr ? of.source_series->segments
                                       : sources_[of.pairs.front().first].segments;
  }
  Likeness::Segments target_words(const Template& of) const {
    return of.target_series != nullptr ? of.target_series->segments
                                       : targets_[of.pairs.front().second].segments;
  }

  struct Choice {
    std::size_t partner = no_id;
    std::size_t family = no_id;
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
  bool take_certain(bool with_vectors) {
    std::vector<Choice> of_source(sources_.size());
    std::vector<Choice> of_target(targets_.size());
    for (std::size_t f = 0; f < templates_.size(); ++f) {
      Template& candidate = templates_[f];
      std::erase_if(candidate.pairs, [&](const auto& pair) {
        return sources_[pair.first].is_taken || targets_[pair.second].is_taken;
      });
      if (candidate.pairs.empty()) continue;
      candidate.likeness = likeness_.of_names(source_words(candidate), target_words(candidate));
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
      if (choice.partner == no_id || (!with_vectors && sources_[s].tensor->shape.size() < 2)) continue;
      const Template& by = templates_[choice.family];
      if (choice.score < (by.source_series != nullptr && !by.is_telling ? least_series_score : least_score))
        continue;
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
    const auto pair_modules = [&](std::size_t a, std::size_t b) {
      if (a == no_id || b == no_id) return;
      module_of_source_[a].insert(b);
      module_of_target_[b].insert(a);
    };
    pair_modules(source.module, target.module);
    pair_modules(source.outer, target.outer);
    if (++taken_of_family_[pair.family] == 1) {
      const Template& by = templates_[pair.family];
      if (by.source_series != nullptr)
        likeness_.learn(by.source_series->segments, by.target_series->segments);
      else likeness_.learn(source.segments, target.segments);
      families_of_source_class_[source.name_class].push_back(pair.family);
      families_of_target_class_[target.name_class].push_back(pair.family);
    }
    result_.push_back(pair);
  }

  Texts texts_;
  NameParts source_parts_, target_parts_;
  std::vector<Name>& sources_ = source_parts_.names;
  std::vector<Name>& targets_ = target_parts_.names;
  std::vector<Series> source_series_{every_series(source_parts_, texts_)};
  std::vector<Series> target_series_{every_series(target_parts_, texts_)};
  Kinds source_kinds_{sources_}, target_kinds_{targets_};
  bool has_whole_sets_{has_whole_set(sources_) && has_whole_set(targets_)};
  Likeness likeness_{texts_, has_whole_sets_};
  std::unordered_map<std::size_t, const NamedShape*> shape_of_id_;
  std::unordered_map<std::size_t, std::size_t> unordered_shape_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> lists_;  // by class and place
  std::set<std::pair<std::size_t, std::size_t>> reversed_;            // lists, one of which counts down
  std::map<std::pair<const std::set<std::size_t>*, const std::set<std::size_t>*>, bool> differ_;
  bool is_transposed_ = false;
  std::vector<Items> items_;
  // By their lists, items that are each other.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<const Items*>> renumbered_;
  std::unordered_set<std::size_t> doubtful_;  // names that are on both sides, and may be different tensors
  std::unordered_map<std::string, std::size_t> target_by_name_;
  std::unordered_set<std::string_view> source_modules_, target_modules_;
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
class ListItems {
 public:
  ListItems(std::span<const NamedShape> source, std::span<const NamedShape> target)
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
  std::unordered_map<std::size_t, const NamedShape*> shape_of_id_;
  std::unordered_map<std::size_t, std::size_t> unordered_shape_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> lists_;  // by class and place
  std::set<std::pair<std::size_t, std::size_t>> reversed_;            // lists, one of which counts down
  std::map<std::pair<const std::set<std::size_t>*, const std::set<std::size_t>*>, bool> differ_;
  std::vector<Items> items_;
  // By their lists, items that are each other.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<const Items*>> renumbered_;
  std::unordered_set<std::size_t> doubtful_;  // names that are on both sides, and may be different tensors
  std::unordered_map<std::string, std::size_t> target_by_name_;
  std::unordered_set<std::string_view> source_modules_, target_modules_;
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
  ListItems items(source, target);
  std::erase_if(pairs, [&](const NamePair& pair) { return !items.can_be(pair); });
  drop_occupied(source, target, pairs);
  std::ranges::sort(pairs, {}, &NamePair::source);
  return pairs;
}

}  // namespace ckpt
