#include "ckpt/report/name_template.hpp"

#include <algorithm>

#include "ckpt/report/item_pairs.hpp"

namespace ckpt {
namespace {

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

/// Whether any two members may be the same: most classes have nothing to do with each other.
bool TemplateFinder::shapes_meet(const NameClass& source, const NameClass& target) {
  std::set<std::size_t> seen;
  for (const std::size_t s : source.members) {
    if (!seen.insert(lists_.sources[s].shape).second) continue;
    for (const std::size_t t : target.members)
      if (lists_.fits(s, t)) return true;
  }
  return false;
}

/// The members of a target's class that a source may be: where the name with the source's own numbers is
/// there, none that counts otherwise. Lists that run another way are not guessed at.
std::vector<std::size_t> TemplateFinder::possible(const NameClass& target, const Name& source) const {
  if (source.numbers.size() + 1 != target.literals.size()) return target.members;
  const auto same = lists_.target_by_name.find(name_of(target, all_kept(source), source, lists_.texts));
  if (same == lists_.target_by_name.end()) return target.members;
  if (lists_.targets[same->second].name_class != target.id) return {};
  return {same->second};
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

/// Fills in the pairs of a template; false where it yields a name of another shape.
bool TemplateFinder::hold(const NameClass& source, const NameClass& target, Template& candidate) {
  candidate.pairs.clear();
  std::size_t meant = 0;
  std::set<std::size_t> reached;
  for (const std::size_t s : source.members) {
    const Name& name = lists_.sources[s];
    if (!is_meant(candidate, name)) continue;
    ++meant;
    const auto found = lists_.target_by_name.find(name_of(target, candidate.slots, name, lists_.texts));
    if (found == lists_.target_by_name.end() || lists_.targets[found->second].name_class != target.id)
      continue;
    if (!lists_.fits(s, found->second) || !reached.insert(found->second).second) return false;
    if (counts_otherwise(s, found->second, candidate.slots) || items_.is_renumbered(s, found->second, 2) ||
        !structure_.may_count_so(s, found->second))
      continue;
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

void TemplateFinder::find(const NameClass& source, const NameClass& target, std::vector<Template>& found) {
  ++compared_;
  if (!shapes_meet(source, target)) return;
  std::set<std::string> tried;
  for (const std::size_t s : source.members) {
    std::vector<Way> ways;
    std::size_t most = 0;
    const std::vector<std::size_t> members = possible(target, lists_.sources[s]);
    compared_ += members.size();
    if (is_exhausted()) return;
    for (const std::size_t t : members) {
      if (!lists_.fits(s, t)) continue;
      Way way{.target = t, .kept = 0, .slots = {}};
      std::vector<Slot> slots;
      keep_numbers(lists_.sources[s], lists_.targets[t], 0, 0, slots, 0, way.kept, way.slots);
      most = std::max(most, way.kept);
      ways.push_back(std::move(way));
    }
    for (const Way& way : ways)
      if (way.kept == most || (most > 1 && way.kept + 1 == most))
        for (const std::vector<Slot>& slots : way.slots) add(source, target, s, slots, tried, found);
  }
}

/// The template, and where it does not hold, or not for all names of its form, those that fix one more
/// number.
void TemplateFinder::add(const NameClass& source, const NameClass& target, std::size_t example,
                         const std::vector<Slot>& slots, std::set<std::string>& tried,
                         std::vector<Template>& found) {
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
    found.push_back(std::move(candidate));
    if (is_whole) return;
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].from == no_id) continue;
    std::vector<Slot> narrower = slots;
    narrower[i] = {
        .from = no_id, .text = lists_.sources[example].numbers[slots[i].from], .meets = slots[i].from};
    add(source, target, example, narrower, tried, found);
  }
}

}  // namespace ckpt
