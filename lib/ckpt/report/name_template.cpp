#include "ckpt/report/name_template.hpp"

#include <algorithm>

#include "ckpt/report/item_pairs.hpp"

namespace ckpt {
namespace {

// Steps of comparing names.
constexpr std::size_t most_compared = 8'000'000;
// Candidates that are weighed against each other, several times; a UNet's names have 40 000.
constexpr std::size_t most_templates = 120'000;

/// Every way to keep as many numbers as can be kept in order between two names, as slots of the target.
void keep_numbers(const Name& source, const Name& target, std::size_t i, std::size_t j,
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

}  // namespace

std::vector<Slot> all_kept(const Name& source) {
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < source.numbers.size(); ++i) slots.push_back({.from = i, .text = no_id});
  return slots;
}

std::string name_of(const NameClass& target, const std::vector<Slot>& slots, const Name& source,
                    const Texts& texts) {
  std::string name = target.literals.front();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    name += texts.text(slots[i].from != no_id ? source.numbers[slots[i].from] : slots[i].text);
    name += target.literals[i + 1];
  }
  return name;
}

std::string origin_of(const NameClass& source, const Template& by, const Name& target, const Texts& texts) {
  std::vector<std::size_t> numbers = by.fixed;
  for (std::size_t i = 0; i < by.slots.size(); ++i)
    if (by.slots[i].from != no_id) numbers[by.slots[i].from] = target.numbers[i];
  std::string name = source.literals.front();
  for (std::size_t i = 0; i < numbers.size(); ++i)
    name += (numbers[i] == no_id ? "" : texts.text(numbers[i])) + source.literals[i + 1];
  return name;
}

bool is_meant(const Template& candidate, const Name& source) {
  for (std::size_t i = 0; i < candidate.fixed.size(); ++i)
    if (candidate.fixed[i] != no_id && candidate.fixed[i] != source.numbers[i]) return false;
  return true;
}

bool is_result(const Template& candidate, const Name& target) {
  for (std::size_t i = 0; i < candidate.slots.size(); ++i)
    if (candidate.slots[i].text != no_id && candidate.slots[i].text != target.numbers[i]) return false;
  return true;
}

ClassIndex::ClassIndex(const NameClass& of, const std::vector<Name>& names) : of_(&of), names_(&names) {
  std::set<std::size_t> seen;
  for (const std::size_t member : of.members)
    if (seen.insert(names[member].shape).second) of_each_shape_.push_back(member);
  if (of.members.size() == 1) return;
  by_number_.assign(of.literals.size() - 1, of.members);
  for (std::size_t place = 0; place < by_number_.size(); ++place)
    std::ranges::stable_sort(by_number_[place], {}, [&](std::size_t i) { return names[i].numbers[place]; });
}

std::span<const std::size_t> ClassIndex::with_number(std::size_t place, std::size_t number) const {
  const auto number_of = [&](std::size_t i) { return (*names_)[i].numbers[place]; };
  const std::vector<std::size_t>& members = by_number_.empty() ? of_->members : by_number_[place];
  const auto found = std::ranges::equal_range(members, number, {}, number_of);
  return {found.begin(), found.end()};
}

std::size_t ClassIndex::find(const std::vector<std::size_t>& numbers) const {
  std::span<const std::size_t> fewest = of_->members;
  for (std::size_t place = 0; place < numbers.size(); ++place)
    if (const auto with = with_number(place, numbers[place]); with.size() < fewest.size()) fewest = with;
  for (const std::size_t member : fewest)
    if ((*names_)[member].numbers == numbers) return member;
  return no_id;
}

const ClassIndex& TemplateFinder::index(const NameClass& of, const std::vector<Name>& names) {
  const auto found = indices_.find(&of);
  return found != indices_.end() ? found->second : indices_.emplace(&of, ClassIndex(of, names)).first->second;
}

bool TemplateFinder::is_exhausted() const noexcept {
  return compared_ > most_compared || found_.size() > most_templates;
}

bool TemplateFinder::find_all() {
  // Classes by the shapes that they hold, without the order of dimensions.
  std::map<std::pair<DTypeClass, Shape>, std::vector<const NameClass*>> by_shape;
  const auto bare = [](const Name& name) {
    Shape shape = name.tensor->shape;
    std::ranges::sort(shape);
    return std::pair(info(name.tensor->dtype).kind, std::move(shape));
  };
  for (const auto& [id, target] : lists_.target_parts.classes)
    for (const std::size_t t : index(target, lists_.targets).of_each_shape()) {
      std::vector<const NameClass*>& with = by_shape[bare(lists_.targets[t])];
      if (with.empty() || with.back() != &target) with.push_back(&target);
    }
  for (const auto& [id, source] : lists_.source_parts.classes) {
    std::map<std::size_t, const NameClass*> near;
    for (const std::size_t s : index(source, lists_.sources).of_each_shape())
      if (const auto with = by_shape.find(bare(lists_.sources[s])); with != by_shape.end())
        for (const NameClass* target : with->second) near.emplace(target->id, target);
    for (const auto& [target_id, target] : near) {
      find(source, *target);
      if (is_exhausted()) return false;
    }
  }
  return true;
}

/// Whether any two members may be the same: most classes have nothing to do with each other.
bool TemplateFinder::shapes_meet(const NameClass& source, const NameClass& target) {
  for (const std::size_t s : index(source, lists_.sources).of_each_shape())
    for (const std::size_t t : index(target, lists_.targets).of_each_shape())
      if (++compared_; lists_.fits(s, t)) return true;
  return false;
}

/// The members of a target's class with a number that the source has too, in order.
std::vector<std::size_t> TemplateFinder::with_number_of(const Name& source, const NameClass& target) {
  const ClassIndex& members = index(target, lists_.targets);
  std::vector<std::size_t> found;
  for (const std::size_t number : source.numbers)
    for (std::size_t place = 0; place + 1 < target.literals.size() && found.size() <= most_compared;
         ++place) {
      const auto with = members.with_number(place, number);
      found.insert(found.end(), with.begin(), with.end());
    }
  std::ranges::sort(found);
  const auto repeated = std::ranges::unique(found);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

/// Whether a number that two names share says nothing, as either list has numbers that the other has not,
/// and shapes do not tell the items apart: 1, 2, 3 may be 0, 1, 2, and 0, 2, 4 as well. And whether two
/// numbers of such lists were to be each other although they are not the same.
bool TemplateFinder::counts_otherwise(std::size_t s, std::size_t t, const std::vector<Slot>& slots) {
  if (items_.is_doubtful(s) && lists_.have_one_name(s, t)) return true;
  std::vector<bool> is_free(lists_.sources[s].numbers.size(), true);
  for (const Slot& slot : slots)
    if (const std::size_t number = slot.from != no_id ? slot.from : slot.meets; number != no_id)
      is_free[number] = false;
  bool has_free_list = false;
  for (std::size_t i = 0; i < is_free.size(); ++i)
    has_free_list |= is_free[i] && lists_.source_kinds.numbers(s, i).size() > 1;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const std::size_t number = slots[i].from != no_id ? slots[i].from : slots[i].meets;
    const std::set<std::size_t>& b = lists_.target_kinds.numbers(t, i);
    if (number == no_id) {
      if (has_free_list && b.size() > 1 && !items_.is_known_item(s, t)) return true;
      continue;
    }
    const std::size_t source_list = lists_.list_of(lists_.sources[s], number);
    const std::size_t target_list = lists_.list_of(lists_.targets[t], i);
    if (items_.is_reversed(source_list, target_list) || lists_.differ(source_list, target_list)) return true;
    const std::set<std::size_t>& a = lists_.source_kinds.numbers(s, number);
    const auto [known, is_new] = differ_.try_emplace({&a, &b}, false);
    if (is_new) known->second = !std::ranges::includes(a, b) && !std::ranges::includes(b, a);
    if (known->second) return true;
  }
  return false;
}

/// The pairs of names that a template makes of each other, whatever else speaks against them, in order.
TemplateFinder::Found TemplateFinder::names_of(const NameClass& source, const NameClass& target,
                                               const Template& candidate) {
  const ClassIndex& sources = index(source, lists_.sources);
  const ClassIndex& targets = index(target, lists_.targets);
  std::span<const std::size_t> members = source.members;
  std::span<const std::size_t> others = target.members;
  const auto narrow = [](std::span<const std::size_t>& all, std::span<const std::size_t> some) {
    if (some.size() < all.size()) all = some;
  };
  std::size_t fixed = 0;
  for (std::size_t place = 0; place < candidate.fixed.size(); ++place)
    if (candidate.fixed[place] != no_id)
      narrow(members, sources.with_number(place, candidate.fixed[place])), ++fixed;
  for (std::size_t place = 0; place < candidate.slots.size(); ++place)
    if (candidate.slots[place].text != no_id)
      narrow(others, targets.with_number(place, candidate.slots[place].text));
  Found found;
  // With one number fixed, or none, those that have it are known to be meant; from the other side there may
  // be fewer to look at.
  if (fixed <= 1 && others.size() < members.size()) {
    compared_ += others.size();
    found.meant = members.size();
    for (const std::size_t t : others) {
      if (!is_result(candidate, lists_.targets[t])) continue;
      std::vector<std::size_t> numbers = candidate.fixed;
      for (std::size_t i = 0; i < candidate.slots.size(); ++i)
        if (candidate.slots[i].from != no_id) numbers[candidate.slots[i].from] = lists_.targets[t].numbers[i];
      if (const std::size_t s = sources.find(numbers); s != no_id) found.pairs.emplace_back(s, t);
    }
    std::ranges::sort(found.pairs);
    return found;
  }
  compared_ += members.size();
  for (const std::size_t s : members) {
    const Name& name = lists_.sources[s];
    if (!is_meant(candidate, name)) continue;
    ++found.meant;
    const auto t = lists_.target_by_name.find(name_of(target, candidate.slots, name, lists_.texts));
    if (t != lists_.target_by_name.end() && lists_.targets[t->second].name_class == target.id)
      found.pairs.emplace_back(s, t->second);
  }
  return found;
}

/// Fills in the pairs of a template; false where it yields a name of another shape.
bool TemplateFinder::hold(const NameClass& source, const NameClass& target, Template& candidate) {
  const Found found = names_of(source, target, candidate);
  candidate.pairs.clear();
  std::set<std::size_t> reached;
  for (const auto& [s, t] : found.pairs) {
    if (!lists_.fits(s, t) || !reached.insert(t).second) return false;
    if (counts_otherwise(s, t, candidate.slots) || items_.is_renumbered(s, t, 2) ||
        !structure_.may_count_so(s, t))
      continue;
    candidate.pairs.emplace_back(s, t);
  }
  candidate.is_whole = candidate.pairs.size() == found.meant;
  if (candidate.pairs.empty()) return true;
  // A template for one name of several says nothing that the names do not.
  const auto pairs = static_cast<double>(candidate.pairs.size());
  candidate.support =
      pairs / static_cast<double>(found.meant) * (source.members.size() == 1 ? 1 : (pairs - 1) / pairs);
  return true;
}

void TemplateFinder::find(const NameClass& source, const NameClass& target) {
  if (!shapes_meet(source, target)) return;
  std::set<std::string> tried;
  for (const std::size_t s : source.members) {
    find_for(s, source, target, tried);
    if (is_exhausted()) return;
  }
}

/// Where the name with the source's own numbers is there, it may be that and none that counts otherwise:
/// lists that run another way are not guessed at.
void TemplateFinder::find_for(std::size_t s, const NameClass& source, const NameClass& target,
                              std::set<std::string>& tried) {
  const Name& name = lists_.sources[s];
  ++compared_;
  std::vector<std::size_t> members;
  bool is_there = false;
  if (source.literals.size() == target.literals.size())
    if (const auto same = lists_.target_by_name.find(name_of(target, all_kept(name), name, lists_.texts));
        same != lists_.target_by_name.end()) {
      if (lists_.targets[same->second].name_class != target.id) return;
      members = {same->second};
      is_there = true;
    }
  if (!is_there) members = with_number_of(name, target);
  compared_ += members.size();
  if (is_exhausted()) return;
  std::vector<Way> ways;
  std::size_t most = 0;
  for (const std::size_t t : members) {
    if (!lists_.fits(s, t)) continue;
    Way way{.target = t, .kept = 0, .slots = {}};
    std::vector<Slot> slots;
    keep_numbers(name, lists_.targets[t], 0, 0, slots, 0, way.kept, way.slots);
    most = std::max(most, way.kept);
    ways.push_back(std::move(way));
  }
  for (const Way& way : ways)
    if (way.kept == most || (most > 1 && way.kept + 1 == most))
      for (const std::vector<Slot>& slots : way.slots) add(source, target, s, slots, tried);
  if (ways.empty() && !is_there) find_strangers(s, source, target);
}

/// Whether some number of a name counts the items of a kind.
bool TemplateFinder::counts_items(const Kinds& kinds, const Name& name, std::size_t index) const {
  for (std::size_t place = 0; place < name.numbers.size(); ++place)
    if (kinds.numbers(index, place).size() > 1) return true;
  return false;
}

/// Partners that share no number with a source. An item of a list is none of another list, unless it is
/// known to be (see counts_otherwise()): such classes have nothing to do with each other, however large.
void TemplateFinder::find_strangers(std::size_t s, const NameClass& source, const NameClass& target) {
  const std::vector<std::size_t>* members = &target.members;
  if (counts_items(lists_.source_kinds, lists_.sources[s], s) && !items_.knows_item_of(s)) {
    const auto [found, is_new] = uncounted_.try_emplace(&target);
    if (is_new)
      for (const std::size_t t : target.members)
        if (!counts_items(lists_.target_kinds, lists_.targets[t], t)) found->second.push_back(t);
    members = &found->second;
  }
  for (const std::size_t t : *members) {
    ++compared_;
    if (!lists_.fits(s, t)) continue;
    Template candidate{.source_class = source.id,
                       .target_class = target.id,
                       .fixed = lists_.sources[s].numbers,
                       .slots = {},
                       .pairs = {}};
    for (const std::size_t number : lists_.targets[t].numbers)
      candidate.slots.push_back({.from = no_id, .text = number});
    if (!hold(source, target, candidate) || candidate.pairs.empty()) continue;
    found_.push_back(std::move(candidate));
    if (is_exhausted()) return;
  }
}

/// The template, and where it does not hold, or not for all names of its form, those that fix one more
/// number.
void TemplateFinder::add(const NameClass& source, const NameClass& target, std::size_t example,
                         const std::vector<Slot>& slots, std::set<std::string>& tried) {
  Template candidate{.source_class = source.id,
                     .target_class = target.id,
                     .fixed = lists_.sources[example].numbers,
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
    found_.push_back(std::move(candidate));
    if (is_whole) return;
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].from == no_id) continue;
    std::vector<Slot> narrower = slots;
    narrower[i] = {
        .from = no_id, .text = lists_.sources[example].numbers[slots[i].from], .meets = slots[i].from};
    add(source, target, example, narrower, tried);
  }
}

}  // namespace ckpt
