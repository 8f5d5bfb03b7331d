#include "ckpt/report/numbering.hpp"

#include <algorithm>
#include <bit>
#include <compare>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace ckpt {
namespace {

constexpr int most_fixed = 2;
// More numbers than this are not reversed one by one.
constexpr std::size_t most_reversible = 3;

/// Compares numbers that may be longer than any integer.
std::pair<std::size_t, std::string_view> value(std::string_view digits) {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return {digits.size(), digits};
}

/// The members' numbers that vary, in order of the members.
std::vector<std::vector<std::size_t>> numbers_of(const Series& series, std::span<const Name> names) {
  std::vector<std::vector<std::size_t>> all;
  for (const std::size_t member : series.members) {
    auto& numbers = all.emplace_back();
    for (const std::size_t place : series.varying) numbers.push_back(names[member].numbers[place]);
  }
  return all;
}

void sort_by_numbers(std::vector<std::size_t>& members, std::span<const Name> names,
                     std::span<const std::size_t> places, const std::vector<bool>& is_reversed,
                     const Texts& texts) {
  std::ranges::stable_sort(members, [&](std::size_t a, std::size_t b) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto x = value(texts.text(names[a].numbers[places[i]]));
      const auto y = value(texts.text(names[b].numbers[places[i]]));
      if (x != y) return is_reversed[i] ? y < x : x < y;
    }
    return false;
  });
}

std::vector<std::size_t> segments_with_marks(const Name& name, const std::vector<std::size_t>& fixed,
                                             Texts& texts) {
  std::vector<std::size_t> segments;
  std::size_t place = 0;
  for (const std::size_t segment : name.segments) {
    const std::string text = texts.text(segment);
    std::string marked;
    bool has_mark = false;
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t end = std::min(text.find_first_not_of("0123456789", i), text.size());
      const bool varies = end > i && place < fixed.size() && fixed[place] == no_id;
      if (end > i) ++place;
      has_mark |= varies;
      if (varies) marked += '#';
      else marked += text.substr(i, std::max<std::size_t>(end - i, 1));
      i = std::max(end, i + 1);
    }
    // A number that is the same in all says nothing, be it the same in the other series or not.
    if (has_mark || !texts.is_number(segment)) segments.push_back(has_mark ? texts.id(marked) : segment);
  }
  return segments;
}

/// 0, 1, 2, … or from any other number.
bool is_without_gaps(const std::set<std::string_view>& numbers) {
  std::set<std::size_t> values;
  for (const std::string_view number : numbers) {
    if (number.size() > 9) return false;
    values.insert(std::stoul(std::string(number)));
  }
  return *values.rbegin() - *values.begin() + 1 == values.size();
}

bool counts_from(const std::set<std::string_view>& numbers, std::string_view first) {
  return numbers.contains(first) && (first == "0" || !numbers.contains("0"));
}

/// Where two lists share most numbers, and one has a gap, a tensor may as well be missing.
bool share_few(const std::set<std::string_view>& a, const std::set<std::string_view>& b) {
  std::size_t shared = 0;
  for (const std::string_view number : a) shared += b.count(number);
  return 2 * shared <= a.size() + b.size() - shared;
}

/// What one number of the source becomes, if it is always the same; nothing if not, or if two become one.
std::optional<std::map<std::string_view, std::string_view>> renumbering(
    const std::vector<std::vector<std::size_t>>& from, const std::vector<std::vector<std::size_t>>& to,
    std::size_t place, const Texts& texts) {
  std::map<std::string_view, std::string_view> map, back;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::string_view a = texts.text(from[i][place]);
    const std::string_view b = texts.text(to[i][place]);
    if (map.emplace(a, b).first->second != b || back.emplace(b, a).first->second != a) return std::nullopt;
  }
  return map;
}

}  // namespace

Kinds::Kinds(std::span<const Name> names) {
  first_.reserve(names.size());
  std::size_t numbers = 0;
  for (const Name& name : names) first_.push_back(std::exchange(numbers, numbers + name.numbers.size()));
  kinds_.resize(numbers);
  std::unordered_map<std::string_view, std::size_t> items;
  std::vector<std::pair<std::size_t, std::size_t>> rows_of_items;
  std::vector<std::size_t> item_of(kinds_.size());
  std::vector<std::vector<std::size_t>> rows;
  std::size_t most_places = 0;
  for (const Name& name : names) most_places = std::max(most_places, name.numbers.size());
  for (std::size_t place = 0; place < most_places; ++place) {
    // Names of one class and shape that differ in this number only stand together, as a row.
    std::vector<std::size_t> sorted;
    for (std::size_t i = 0; i < names.size(); ++i)
      if (place < names[i].numbers.size()) sorted.push_back(i);
    const auto order = [&](std::size_t a, std::size_t b) {
      const Name& x = names[a];
      const Name& y = names[b];
      if (x.name_class != y.name_class) return x.name_class <=> y.name_class;
      if (x.shape != y.shape) return x.shape <=> y.shape;
      for (std::size_t i = 0; i < x.numbers.size(); ++i)
        if (i != place && x.numbers[i] != y.numbers[i]) return x.numbers[i] <=> y.numbers[i];
      return std::strong_ordering::equal;
    };
    std::ranges::stable_sort(sorted, [&](std::size_t a, std::size_t b) { return order(a, b) < 0; });
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const Name& name = names[sorted[i]];
      if (i == 0 || order(sorted[i - 1], sorted[i]) != 0) rows.emplace_back();
      rows.back().push_back(name.numbers[place]);
      if (i > 0 && names[sorted[i - 1]].name_class == name.name_class &&
          names[sorted[i - 1]].numbers[place] != name.numbers[place])
        counted_.emplace(name.name_class, place);
      const auto item =
          items.try_emplace(through_number(name.tensor->name, place), items.size()).first->second;
      item_of[first_[sorted[i]] + place] = item;
      // Scalars are alike in everything.
      if (!name.tensor->shape.empty()) rows_of_items.emplace_back(item, rows.size() - 1);
    }
  }
  std::ranges::sort(rows_of_items);
  const auto repeated = std::ranges::unique(rows_of_items);
  rows_of_items.erase(repeated.begin(), repeated.end());
  // Items that have the same rows are of one kind, with the numbers of all of them.
  std::map<std::vector<std::size_t>, const std::set<std::size_t>*> unions;
  std::vector<const std::set<std::size_t>*> kind_of(items.size());
  auto row = rows_of_items.begin();
  for (std::size_t item = 0; item < kind_of.size(); ++item) {
    std::vector<std::size_t> of;
    for (; row != rows_of_items.end() && row->first == item; ++row) of.push_back(row->second);
    const auto [found, is_new] = unions.try_emplace(std::move(of), nullptr);
    if (is_new) {
      std::set<std::size_t>& all = sets_.emplace_back();
      for (const std::size_t each : found->first) all.insert(rows[each].begin(), rows[each].end());
      found->second = &all;
    }
    kind_of[item] = found->second;
  }
  for (std::size_t i = 0; i < kinds_.size(); ++i) kinds_[i] = kind_of[item_of[i]];
}

std::vector<Series> every_series(const NameParts& parts, Texts& texts) {
  std::vector<Series> all;
  for (const auto& [id, of] : parts.classes) {
    const std::size_t places = parts.names[of.members.front()].numbers.size();
    std::set<std::vector<std::size_t>> seen;
    for (unsigned mask = 0; mask < 1U << places; ++mask) {
      if (std::popcount(mask) > most_fixed) continue;
      std::map<std::vector<std::size_t>, std::vector<std::size_t>> groups;
      for (const std::size_t member : of.members) {
        std::vector<std::size_t> fixed(places, no_id);
        for (std::size_t place = 0; place < places; ++place)
          if ((mask >> place & 1U) != 0) fixed[place] = parts.names[member].numbers[place];
        groups[std::move(fixed)].push_back(member);
      }
      for (auto& [fixed, members] : groups) {
        if (members.size() < 2) continue;
        Series series{
            .of = &of, .fixed = fixed, .varying = {}, .members = std::move(members), .segments = {}};
        const Name& first = parts.names[series.members.front()];
        for (std::size_t place = 0; place < places; ++place) {
          if (fixed[place] != no_id) continue;
          const bool varies = std::ranges::any_of(series.members, [&](std::size_t member) {
            return parts.names[member].numbers[place] != first.numbers[place];
          });
          if (varies) series.varying.push_back(place);
          else series.fixed[place] = first.numbers[place];
        }
        if (!seen.insert(series.fixed).second) continue;
        sort_by_numbers(series.members, parts.names, series.varying,
                        std::vector<bool>(series.varying.size(), false), texts);
        series.segments = segments_with_marks(first, series.fixed, texts);
        all.push_back(std::move(series));
      }
    }
  }
  // The largest first.
  std::ranges::stable_sort(all, std::ranges::greater(),
                           [](const Series& series) { return series.members.size(); });
  return all;
}

bool count_differently(const std::set<std::size_t>& a, const std::set<std::size_t>& b, const Texts& texts) {
  if (std::ranges::includes(a, b) || std::ranges::includes(b, a)) return false;
  std::set<std::string_view> x, y;
  for (const std::size_t number : a) x.insert(texts.text(number));
  for (const std::size_t number : b) y.insert(texts.text(number));
  return (is_without_gaps(x) && is_without_gaps(y)) || share_few(x, y);
}

bool is_complete(const Series& series, std::span<const Name> names, const Kinds& kinds) {
  for (const std::size_t place : series.varying) {
    std::set<std::size_t> numbers;
    for (const std::size_t member : series.members) numbers.insert(names[member].numbers[place]);
    std::set<const std::set<std::size_t>*> seen;
    for (const std::size_t member : series.members) {
      const std::set<std::size_t>& kind = kinds.numbers(member, place);
      if (!seen.insert(&kind).second) continue;
      if (kind.size() > numbers.size() || !std::ranges::includes(numbers, kind)) return false;
    }
  }
  return true;
}

std::vector<Zip> zips(const Series& source, std::span<const Name> sources, const Series& target,
                      std::span<const Name> targets, const Texts& texts, const Fits& fits) {
  const std::size_t places = source.varying.size();
  const bool is_one_by_one = places == target.varying.size();
  if (source.members.size() != target.members.size()) return {};
  // Names with as many numbers vary in the same of them.
  if (is_one_by_one && source.fixed.size() == target.fixed.size() && source.varying != target.varying)
    return {};
  if (!is_one_by_one && std::min(places, target.varying.size()) != 1) return {};
  const auto from = numbers_of(source, sources);

  std::vector<Zip> all;
  const unsigned ways = is_one_by_one && places <= most_reversible ? 1U << places : 1U;
  for (unsigned way = 0; way < ways; ++way) {
    Series turned = target;
    Zip zip{.pairs = {}, .is_reversed = {}, .is_same = false, .is_shift = false, .is_sound = true};
    for (std::size_t i = 0; i < target.varying.size(); ++i) zip.is_reversed.push_back((way >> i & 1U) != 0);
    if (way != 0) sort_by_numbers(turned.members, targets, turned.varying, zip.is_reversed, texts);
    bool is_fit = true;
    for (std::size_t i = 0; i < source.members.size() && is_fit; ++i) {
      is_fit = fits(source.members[i], turned.members[i]);
      zip.pairs.emplace_back(source.members[i], turned.members[i]);
    }
    if (!is_fit) continue;
    if (is_one_by_one) {
      const auto to = numbers_of(turned, targets);
      zip.is_same = from == to;
      std::map<std::vector<std::size_t>, std::size_t> by_number;
      for (std::size_t i = 0; i < to.size(); ++i) by_number.emplace(to[i], turned.members[i]);
      bool is_proven = false;  // equal numbers are different things
      for (std::size_t i = 0; i < from.size(); ++i)
        if (const auto same = by_number.find(from[i]); same != by_number.end())
          is_proven |= !fits(source.members[i], same->second);
      for (std::size_t place = 0; place < places && is_fit; ++place) {
        const auto map = renumbering(from, to, place, texts);
        is_fit = map.has_value();
        if (!map || zip.is_reversed[place]) continue;
        std::set<std::string_view> a, b;
        for (const auto& [x, y] : *map) a.insert(x), b.insert(y);
        if (a == b) continue;
        const bool one = is_without_gaps(a);
        const bool other = is_without_gaps(b);
        zip.is_shift |= one && other && !is_proven && !(counts_from(a, "0") && counts_from(b, "1")) &&
                        !(counts_from(a, "1") && counts_from(b, "0"));
        zip.is_sound &= (one && other) || ((one || other) && (is_proven || share_few(a, b)));
      }
    }
    if (is_fit) all.push_back(std::move(zip));
    if (is_fit && all.back().is_same) break;
  }
  return all;
}

}  // namespace ckpt
