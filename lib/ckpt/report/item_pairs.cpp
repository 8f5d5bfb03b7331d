#include "ckpt/report/item_pairs.hpp"

#include <algorithm>

namespace ckpt {
namespace {

// Series are not even thought of as each other's if they are called less alike.
constexpr double least_zip_likeness = 0.25;
// Lists that count down are called so much alike.
constexpr double least_list_likeness = 0.5;
// Longer lists have no item of another number for a partner, if they count the same.
constexpr std::size_t most_crossed = 64;
// Series, and members of those that may be each other, that are held against each other.
constexpr std::size_t most_compared = 500'000;

}  // namespace

/// Where a list has lost items, and as many things of their shape stand beside it that were not there, its
/// items may have got names: with `layers.1` gone and `proj_in` new, who knows what `layers.0` is.
void ItemPairs::doubt_named_items() {
  std::unordered_set<std::string_view> in_source, in_target;
  for (const Name& name : lists_.sources) in_source.insert(name.tensor->name);
  for (const Name& name : lists_.targets) in_target.insert(name.tensor->name);
  struct Place {
    std::string around;  // the name without the list and the number, or without one segment
    std::size_t shape;
    auto operator<=>(const Place&) const = default;
  };
  const auto gather = [](const std::vector<Name>& names, const std::unordered_set<std::string_view>& others) {
    std::set<Place> named;
    for (const Name& name : names)
      if (const std::string_view text = name.tensor->name; !others.contains(text))
        if (const std::string_view module = module_of(text); !module.empty())
          named.insert({std::string(module_of(module)).append(text.substr(module.size())), name.shape});
    return named;
  };
  const std::set<Place> new_names = gather(lists_.targets, in_source);
  const std::set<Place> old_names = gather(lists_.sources, in_target);
  for (std::size_t s = 0; s < lists_.sources.size(); ++s) {
    const Name& name = lists_.sources[s];
    if (name.numbers.empty() || !in_target.contains(name.tensor->name)) continue;
    const std::size_t t = lists_.target_by_name.at(name.tensor->name);
    const std::set<std::size_t>& a = lists_.source_kinds.numbers(s, name.numbers.size() - 1);
    const std::set<std::size_t>& b = lists_.target_kinds.numbers(t, name.numbers.size() - 1);
    if (a.size() == b.size()) continue;
    const std::string_view text = name.tensor->name;
    const std::string_view item = through_number(text, name.numbers.size() - 1);
    const std::string_view list = module_of(item);
    if (list.empty() || list.size() + 1 == item.size()) continue;
    const Place place{std::string(module_of(list)).append(text.substr(item.size())), name.shape};
    if ((a.size() > b.size() ? new_names : old_names).contains(place)) doubtful_.insert(s);
  }
}

/// What series have in common that are the same but for the items of which they are parts: the class, what
/// varies, and how the lists count of which they are of one item.
ItemPairs::Form ItemPairs::form_of(const Series& series, const Kinds& kinds) {
  Form form{series.of->id};
  for (std::size_t place = 0; place < series.fixed.size(); ++place) {
    if (series.fixed[place] == no_id) {
      form.push_back(no_id);
      continue;
    }
    const std::set<std::size_t>& numbers = kinds.numbers(series.members.front(), place);
    const auto [known, is_new] = numbers_id_.try_emplace(&numbers, 0);
    if (is_new) known->second = numbers_.try_emplace(numbers, numbers_.size()).first->second;
    form.push_back(known->second);
  }
  return form;
}

/// The series that one may be, in order: parts of one item of a long list that counts the same on both sides
/// are parts of that item there. In a short one, what two items have in common raises doubts.
std::vector<const Series*> ItemPairs::partners_of(const Series& source, const Forms& forms,
                                                  bool is_of_one_class) {
  const Form form = form_of(source, lists_.source_kinds);
  std::vector<const Series*> partners;
  const std::size_t first = is_of_one_class ? source.of->id : 0;
  for (auto each = forms.lower_bound({first}); each != forms.end(); ++each) {
    const auto& [other, series] = *each;
    if (is_of_one_class && other.front() != first) break;
    ++compared_;
    if (series.size() > most_crossed &&
        std::ranges::equal(form.begin() + 1, form.end(), other.begin() + 1, other.end())) {
      if (const auto same = series.find(source.fixed); same != series.end()) partners.push_back(same->second);
      continue;
    }
    compared_ += series.size();
    if (compared_ > most_compared) break;
    for (const auto& [fixed, target] : series) partners.push_back(target);
  }
  std::ranges::sort(partners);
  return partners;
}

/// Series that may be each other item by item, or those of one class; nothing if there are too many.
std::optional<std::vector<ItemPairs::Candidate>> ItemPairs::candidates(bool is_of_one_class) {
  compared_ = 0;
  std::map<std::vector<std::size_t>, Forms> by_shapes;
  for (const Series& target : target_series_)
    by_shapes[shapes_of(target, lists_.targets)][form_of(target, lists_.target_kinds)].emplace(target.fixed,
                                                                                               &target);
  const auto fits = [&](std::size_t s, std::size_t t) { return lists_.fits(s, t); };
  std::vector<Candidate> found;
  // What is paired as a part of more needs no pairing as a part of less: how many are paired with a source,
  // by the class of their partners.
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> covered;
  for (const Series& source : source_series_) {
    const auto alike = by_shapes.find(shapes_of(source, lists_.sources));
    if (alike == by_shapes.end()) continue;
    for (const Series* target : partners_of(source, alike->second, is_of_one_class)) {
      if (const auto by = covered.find({source.members.front(), target->of->id});
          by != covered.end() && by->second > source.members.size())
        continue;
      if (!may_zip(source, *target)) continue;
      compared_ += source.members.size();
      std::vector<Zip> ways = zips(source, lists_.sources, *target, lists_.targets, lists_.texts, fits);
      if (!ways.empty()) found.push_back({&source, target, std::move(ways)});
      if (compared_ > most_compared) return std::nullopt;
    }
    if (compared_ > most_compared) return std::nullopt;
    for (auto each = found.rbegin(); each != found.rend() && each->source == &source; ++each)
      for (const std::size_t member : source.members)
        covered.try_emplace({member, each->target->of->id}, source.members.size());
  }
  return found;
}

bool ItemPairs::may_zip(const Series& source, const Series& target) {
  if (likeness_.of_names(source.segments, target.segments) < least_zip_likeness) return false;
  // Lists of one form may well count the same, with a tensor missing here and there.
  return source.varying.size() != target.varying.size() ||
         (has_all(source, lists_.sources, lists_.source_kinds) &&
          has_all(target, lists_.targets, lists_.target_kinds));
}

/// See is_complete().
bool ItemPairs::has_all(const Series& series, const std::vector<Name>& names, const Kinds& kinds) {
  const auto [known, is_new] = has_all_.try_emplace(&series, false);
  if (is_new) known->second = is_complete(series, names, kinds);
  return known->second;
}

/// A list counts down where shapes leave no other way for the series of several modules, and for none the
/// other.
void ItemPairs::find_reversed(const std::vector<Candidate>& candidates) {
  constexpr std::size_t least_items = 3;
  std::map<ListPair, std::set<std::string>> down, up;
  for (const Candidate& each : candidates) {
    if (each.source->varying.size() != each.target->varying.size()) continue;
    if (likeness_.of_names(each.source->segments, each.target->segments) < least_list_likeness) continue;
    for (std::size_t i = 0; i < each.source->varying.size(); ++i) {
      std::set<std::size_t> numbers;
      for (const std::size_t member : each.source->members)
        numbers.insert(lists_.sources[member].numbers[each.source->varying[i]]);
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
}

bool ItemPairs::runs_as_known(const Candidate& candidate, const Zip& way) {
  const bool is_one_by_one = candidate.source->varying.size() == candidate.target->varying.size();
  for (std::size_t i = 0; i < way.is_reversed.size(); ++i)
    if (way.is_reversed[i] !=
        (is_one_by_one && reversed_.contains(lists_of(*candidate.source, *candidate.target, i))))
      return false;
  return true;
}

bool ItemPairs::find(std::vector<Template>& templates) {
  std::optional<std::vector<Candidate>> all = candidates(false);
  const bool is_cut = !all;
  // Whether equal names are the same tensor needs to be known all the same.
  if (!all) all = candidates(true);
  if (!all) {
    for (std::size_t s = 0; s < lists_.sources.size(); ++s)
      if (!lists_.sources[s].numbers.empty()) doubtful_.insert(s);
    return false;
  }
  find_reversed(*all);
  const auto may_count_so = [&](const auto& pair) {
    return structure_.may_count_so(pair.first, pair.second);
  };
  for (const Candidate& each : *all)
    for (const Zip& way : each.ways)
      if (way.is_sound && runs_as_known(each, way) && std::ranges::all_of(way.pairs, may_count_so))
        add_zip(*each.source, *each.target, way, templates);
  drop_outnumbered_items(templates);
  doubt_named_items();
  if (is_cut) templates.clear();
  return !is_cut;
}

/// What the series of few modules say of the items of lists is not so where more say something else.
void ItemPairs::drop_outnumbered_items(std::vector<Template>& templates) {
  std::vector<const Items*> by_voices;
  for (const Items& items : items_) by_voices.push_back(&items);
  std::ranges::stable_sort(by_voices, std::ranges::greater(), &Items::voices);
  std::unordered_set<const Items*> dropped;
  for (const Items* items : by_voices) {
    if (std::ranges::any_of(items->examples, [&](const auto& pair) {
          return is_renumbered(pair.first, pair.second, items->voices() + 1);
        }))
      dropped.insert(items);
    else
      for (auto& known = renumbered_[{items->source_list, items->target_list}];
           const auto& [from, to] : items->pairs)
        known[from].push_back(items);
  }
  std::erase_if(templates, [&](const Template& each) { return dropped.contains(&items_[each.items]); });
}

/// Whether series of several modules say of an item that a name is below that it is one of those meant.
bool ItemPairs::any_known(std::size_t s, const std::function<bool(std::string_view)>& is_meant) {
  if (renumbered_.empty()) return false;
  const Name& source = lists_.sources[s];
  for (std::size_t i = 0; i < source.numbers.size(); ++i) {
    const std::size_t list = lists_.list_of(source, i);
    const std::string_view item = through_number(source.tensor->name, i);
    for (auto known = renumbered_.lower_bound({list, 0});
         known != renumbered_.end() && known->first.first == list; ++known)
      if (const auto found = known->second.find(item); found != known->second.end())
        for (const Items* items : found->second)
          if (items->voices() >= 2 && is_meant(items->pairs.at(item))) return true;
  }
  return false;
}

bool ItemPairs::is_known_item(std::size_t s, std::size_t t) {
  const std::string& name = lists_.targets[t].tensor->name;
  return any_known(
      s, [&](std::string_view item) { return name.starts_with(item) && !is_digit(name[item.size()]); });
}

bool ItemPairs::knows_item_of(std::size_t s) {
  return any_known(s, [](std::string_view) { return true; });
}

bool ItemPairs::is_renumbered(std::size_t s, std::size_t t, std::size_t least) {
  if (renumbered_.empty()) return false;
  const Name& source = lists_.sources[s];
  const Name& target = lists_.targets[t];
  for (std::size_t i = 0; i < source.numbers.size(); ++i)
    for (std::size_t j = 0; j < target.numbers.size(); ++j) {
      const auto known = renumbered_.find({lists_.list_of(source, i), lists_.list_of(target, j)});
      if (known == renumbered_.end()) continue;
      const std::string_view item = through_number(source.tensor->name, i);
      const auto found = known->second.find(item);
      if (found == known->second.end()) continue;
      for (const Items* items : found->second)
        if (items->voices() >= least && items->pairs.at(item) != through_number(target.tensor->name, j))
          return true;
    }
  return false;
}

ItemPairs::ListPair ItemPairs::lists_of(const Series& source, const Series& target, std::size_t i) {
  return {lists_.list_of(lists_.sources[source.members.front()], source.varying[i]),
          lists_.list_of(lists_.targets[target.members.front()], target.varying[i])};
}

/// Whether two series of one class are parts of different items of a list that counts the same on both sides:
/// what they say of each other, any two items would.
bool ItemPairs::is_of_another_item(const Series& source, const Series& target) const {
  if (source.fixed == target.fixed) return false;
  for (std::size_t place = 0; place < source.fixed.size(); ++place)
    if (source.fixed[place] != target.fixed[place] &&
        lists_.source_kinds.numbers(source.members.front(), place) !=
            lists_.target_kinds.numbers(target.members.front(), place))
      return false;
  return true;
}

void ItemPairs::add_zip(const Series& source, const Series& target, const Zip& zip,
                        std::vector<Template>& templates) {
  if (source.of->id == target.of->id) {
    if (zip.is_same && is_of_another_item(source, target)) return;
    for (const auto& [s, t] : zip.pairs)
      if (!lists_.have_one_name(s, t)) doubtful_.insert(s);
    // The same list from another number on: nothing tells it from another part of the list.
    if (zip.is_shift) {
      for (const auto& [s, t] : zip.pairs) doubtful_.insert(s);
      return;
    }
  }
  std::set<std::size_t> shapes;
  for (const auto& [s, t] : zip.pairs) shapes.insert(lists_.sources[s].shape);
  Template each{.source_class = source.of->id,
                .target_class = target.of->id,
                .fixed = source.fixed,
                .slots = {},
                .pairs = zip.pairs,
                .is_whole = true,
                .support = 1,
                .source_series = &source,
                .target_series = &target,
                .is_telling = shapes.size() > 1 && lists_.sources[zip.pairs.front().first].is_own_kind() &&
                              lists_.targets[zip.pairs.front().second].is_own_kind()};
  for (const std::size_t number : target.fixed) each.slots.push_back({.from = no_id, .text = number});
  each.items = add_items(source, target, zip);
  if (zip.is_same) return;
  templates.push_back(std::move(each));
}

/// What a series says of its items, as one of the voices for it: an index.
std::size_t ItemPairs::add_items(const Series& source, const Series& target, const Zip& zip) {
  Items items{.source_list = lists_.list_of(lists_.sources[zip.pairs.front().first], source.varying.back()),
              .target_list = lists_.list_of(lists_.targets[zip.pairs.front().second], target.varying.back()),
              .pairs = {},
              .examples = zip.pairs,
              .source_modules = {},
              .target_modules = {}};
  for (const auto& [s, t] : zip.pairs)
    items.pairs.emplace(through_number(lists_.sources[s].tensor->name, source.varying.back()),
                        through_number(lists_.targets[t].tensor->name, target.varying.back()));
  const auto& [from, to] = *items.pairs.begin();
  std::vector<std::size_t>& alike = items_by_first_[{items.source_list, items.target_list, from, to}];
  const auto same =
      std::ranges::find_if(alike, [&](std::size_t i) { return items_[i].pairs == items.pairs; });
  const std::size_t at = same == alike.end() ? items_.size() : *same;
  if (same == alike.end()) {
    alike.push_back(at);
    items_.push_back(std::move(items));
  }
  items_[at].source_modules.insert(lists_.texts.id(module_of(source.of->pattern())));
  items_[at].target_modules.insert(lists_.texts.id(module_of(target.of->pattern())));
  return at;
}

/// The shapes of a series without their order, and without that of their dimensions.
std::vector<std::size_t> ItemPairs::shapes_of(const Series& series, const std::vector<Name>& names) {
  std::vector<std::size_t> shapes;
  for (const std::size_t member : series.members) {
    const auto [found, is_new] = unordered_shape_.try_emplace(names[member].shape, no_id);
    if (is_new) {
      Shape shape = names[member].tensor->shape;
      std::ranges::sort(shape);
      found->second = lists_.texts.id("shape " + to_string(shape));
    }
    shapes.push_back(found->second);
  }
  std::ranges::sort(shapes);
  return shapes;
}

}  // namespace ckpt
