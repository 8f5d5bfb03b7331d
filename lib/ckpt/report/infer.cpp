#include "ckpt/report/infer.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ckpt/core/edit_distance.hpp"
#include "ckpt/report/both_lists.hpp"
#include "ckpt/report/name_rule.hpp"
#include "ckpt/report/pairing.hpp"

namespace ckpt {
namespace {

// Of a family, whose names differ in numbers only, so many stand for all while rules are sought.
constexpr std::size_t examples_of_a_family = 3;
constexpr std::size_t most_rules = 500;
// So often names that clash are left over and rules are sought for the others.
constexpr std::size_t most_rounds = 8;

/// Segments [begin, end) of one name that stand for [to_begin, to_end) of another.
struct Hunk {
  std::size_t begin, end, to_begin, to_end;
};

/// Where two names differ, by a longest common subsequence of segments.
std::vector<Hunk> hunks_of(const SegmentedName& a, const SegmentedName& b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> table((a.size() + 1) * width);
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      table[i * width + j] = a[i] == b[j] ? table[(i + 1) * width + j + 1] + 1
                                          : std::max(table[(i + 1) * width + j], table[i * width + j + 1]);
  std::vector<Hunk> hunks;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      ++i, ++j;
      continue;
    }
    Hunk hunk{i, i, j, j};
    while ((i < a.size() || j < b.size()) && !(i < a.size() && j < b.size() && a[i] == b[j])) {
      const bool may_skip_a = i < a.size();
      const bool prefers_a =
          may_skip_a && (j == b.size() || table[(i + 1) * width + j] >= table[i * width + j + 1]);
      if (prefers_a) ++i;
      else ++j;
    }
    hunk.end = i, hunk.to_end = j;
    hunks.push_back(hunk);
  }
  return hunks;
}

/// A name on its way, and where it should end.
struct Traveller {
  SegmentedName now;
  std::optional<SegmentedName> goal;  // none for a name that is left over
  std::size_t weight = 1;             // names that it stands for
  std::size_t source = 0;             // index
  bool is_renumbered = false;         // the goal has other numbers
};

class RuleSearch {
 public:
  RuleSearch(std::span<const NamedShape> source, std::span<const NamedShape> target,
             const std::vector<NamePair>& pairs)
      : source_(source), target_(target), pairs_(pairs) {
    for (std::size_t i = 0; i < target.size(); ++i) targets_.emplace(segments_.split(target[i].name), i);
    for (const NamePair& pair : pairs) paired_targets_.insert(pair.target);
  }

  /// Looks for rules; `with_all` follows every name instead of some of each family, `may_touch_rest` says
  /// whether names that are left over may be changed.
  std::vector<NameRule> run(bool with_all, bool may_touch_rest) {
    may_touch_rest_ = may_touch_rest;
    start(with_all);
    std::vector<NameRule> rules;
    // What leads astray at first may not when others have moved.
    while (find_rules(rules)) {
    }
    merge(rules);
    drop_idle(rules);
    return rules;
  }

  /// The rule that ends the most journeys at once.
  std::optional<NameRule> best() {
    may_touch_rest_ = true;
    start(true);
    std::optional<NameRule> best;
    std::size_t most = 0;
    for (auto& [text, rule] : candidates()) {
      const std::optional<Gain> gain = gain_of(rule);
      if (!gain || gain->arrived < most || gain->arrived == 0) continue;
      if (gain->arrived == most && best && !is_better(rule, text, *best, best->text(segments_))) continue;
      most = gain->arrived;
      best = rule;
    }
    return best;
  }

  std::string text(const NameRule& rule) const { return rule.text(segments_); }

 private:
  struct Gain {
    std::size_t nearer = 0;   // segments
    std::size_t arrived = 0;  // names
  };
  struct Hash {
    std::size_t operator()(const SegmentedName& name) const noexcept {
      std::size_t hash = name.size();
      for (const std::size_t segment : name) hash = hash * 1000003U + segment;
      return hash;
    }
  };

  void start(bool with_all) {
    travellers_.clear();
    std::map<std::size_t, std::vector<const NamePair*>> families;
    std::vector<bool> is_paired(source_.size());
    for (const NamePair& pair : pairs_) families[pair.family].push_back(&pair), is_paired[pair.source] = true;
    for (const auto& [family, members] : families) {
      const std::size_t count = with_all ? members.size() : std::min(members.size(), examples_of_a_family);
      for (std::size_t i = 0; i < count; ++i) {
        // The first, the last, and evenly between.
        const NamePair& pair = *members[count == 1 ? 0 : i * (members.size() - 1) / (count - 1)];
        travellers_.push_back({.now = segments_.split(source_[pair.source].name),
                               .goal = segments_.split(target_[pair.target].name),
                               .weight = std::max<std::size_t>(members.size() / count, 1),
                               .source = pair.source});
      }
    }
    for (std::size_t i = 0; i < source_.size(); ++i)
      if (!is_paired[i])
        travellers_.push_back(
            {.now = segments_.split(source_[i].name), .goal = {}, .weight = 0, .source = i});
    goal_items_.clear();
    for (Traveller& traveller : travellers_) {
      if (!traveller.goal) continue;
      traveller.is_renumbered = numbers_of(traveller.now) != numbers_of(*traveller.goal);
      for (std::size_t size = 1; size <= traveller.goal->size(); ++size)
        if (!segments_.numbers((*traveller.goal)[size - 1]).empty())
          goal_items_.emplace(traveller.goal->begin(),
                              traveller.goal->begin() + static_cast<std::ptrdiff_t>(size));
    }
    begun_ = travellers_;
    with_segment_.clear();
    with_shape_.clear();
    at_.clear();
    for (std::size_t i = 0; i < travellers_.size(); ++i) arrive(i);
  }

  /// Notes where a traveller is now.
  void arrive(std::size_t i) {
    const auto add_to = [i](std::vector<std::size_t>& with) {
      if (with.empty() || with.back() != i) with.push_back(i);
    };
    for (const std::size_t segment : travellers_[i].now) {
      add_to(with_segment_[segment]);
      if (!segments_.numbers(segment).empty()) add_to(with_shape_[segments_.shape(segment)]);
    }
    at_[travellers_[i].now] = i;
  }

  /// Moves all that a rule changes; returns them.
  std::vector<std::size_t> move(const NameRule& rule) {
    std::vector<std::size_t> all = near(rule);
    std::ranges::sort(all);
    const auto repeated = std::ranges::unique(all);
    all.erase(repeated.begin(), repeated.end());
    std::vector<std::size_t> moved;
    for (const std::size_t i : all)
      if (auto now = rule.apply(travellers_[i].now, segments_); now && *now != travellers_[i].now) {
        at_.erase(travellers_[i].now);
        travellers_[i].now = std::move(*now);
        moved.push_back(i);
      }
    for (const std::size_t i : moved) arrive(i);
    return moved;
  }

  SegmentPattern any_number(std::size_t id) const { return {id, !segments_.numbers(id).empty()}; }
  PatternList any_numbers(const SegmentedName& name, std::size_t begin, std::size_t end) const {
    PatternList list;
    for (std::size_t i = begin; i < end; ++i) list.push_back(any_number(name[i]));
    return list;
  }
  static PatternList literally(const SegmentedName& name, std::size_t begin, std::size_t end) {
    PatternList list;
    for (std::size_t i = begin; i < end; ++i) list.push_back({name[i], false});
    return list;
  }
  std::vector<std::string> numbers_of(const PatternList& list) const {
    std::vector<std::string> numbers;
    for (const SegmentPattern& p : list)
      std::ranges::copy(segments_.numbers(p.id), std::back_inserter(numbers));
    return numbers;
  }

  std::vector<std::string> numbers_of(const SegmentedName& name) const {
    return numbers_of(literally(name, 0, name.size()));
  }

  bool is_numbers(const PatternList& list) const {
    return std::ranges::all_of(list, [&](const SegmentPattern& p) {
      return std::ranges::all_of(segments_.text(p.id), [](char c) { return c >= '0' && c <= '9'; });
    });
  }

  using Candidates = std::map<std::string, NameRule>;

  /// Every rule that would turn one hunk of a name into what its goal has.
  void add_candidates(const Traveller& traveller, Candidates& found) {
    if (!traveller.goal || traveller.now == *traveller.goal) return;
    const std::vector<Hunk> hunks = hunks_of(traveller.now, *traveller.goal);
    for (const Hunk& hunk : hunks) add_parts(traveller, hunk, found);
    add(traveller, {hunks.front().begin, hunks.back().end, hunks.front().to_begin, hunks.back().to_end},
        found);
  }

  Candidates candidates() {
    Candidates found;
    for (const Traveller& traveller : travellers_) add_candidates(traveller, found);
    add_prefixes(found);
    return found;
  }

  /// Rules that turn a beginning that several names share into the one that all their goals share.
  void add_prefixes(Candidates& found) {
    struct Shared {
      SegmentedName goal;
      std::size_t names = 0;
    };
    std::map<SegmentedName, Shared> prefixes;
    for (const Traveller& traveller : travellers_) {
      if (!traveller.goal) continue;
      const SegmentedName& goal = *traveller.goal;
      for (std::size_t size = 1; size < traveller.now.size(); ++size) {
        Shared& shared = prefixes[SegmentedName(traveller.now.begin(),
                                                traveller.now.begin() + static_cast<std::ptrdiff_t>(size))];
        if (shared.names++ == 0) shared.goal.assign(goal.begin(), goal.end() - 1);
        const auto common = std::ranges::mismatch(shared.goal, goal);
        shared.goal.erase(common.in1, shared.goal.end());
      }
    }
    for (const auto& [prefix, shared] : prefixes) {
      if (shared.names < 2 || shared.goal.empty() || shared.goal == prefix) continue;
      NameRule rule{.is_inside = false,
                    .left = {},
                    .alternatives = {{literally(prefix, 0, prefix.size()),
                                      literally(shared.goal, 0, shared.goal.size())}},
                    .right = {},
                    .is_end = false};
      std::string text = rule.text(segments_);
      found.emplace(std::move(text), std::move(rule));
    }
  }

  void add_parts(const Traveller& traveller, const Hunk& hunk, Candidates& found) {
    add(traveller, hunk, found);
    const std::size_t from = hunk.end - hunk.begin;
    const std::size_t to = hunk.to_end - hunk.to_begin;
    if (from < 2 && to < 2) return;
    if (from == to) {
      for (std::size_t i = 0; i < from; ++i)
        add(traveller, {hunk.begin + i, hunk.begin + i + 1, hunk.to_begin + i, hunk.to_begin + i + 1}, found);
    } else if (from > 0 && to > 0) {
      add(traveller, {hunk.begin, hunk.begin + 1, hunk.to_begin, hunk.to_begin + 1}, found);
      add(traveller, {hunk.end - 1, hunk.end, hunk.to_end - 1, hunk.to_end}, found);
      // What one side has more stands before or after what both have.
      const std::size_t more_from = from > to ? from - to : 0;
      const std::size_t more_to = to > from ? to - from : 0;
      add(traveller, {hunk.begin, hunk.begin + more_from, hunk.to_begin, hunk.to_begin + more_to}, found);
      add(traveller, {hunk.end - more_from, hunk.end, hunk.to_end - more_to, hunk.to_end}, found);
      add(traveller, {hunk.begin, hunk.begin + more_from + 1, hunk.to_begin, hunk.to_begin + more_to + 1},
          found);
      add(traveller, {hunk.end - more_from - 1, hunk.end, hunk.to_end - more_to - 1, hunk.to_end}, found);
    }
  }

  /// A hunk with more or less of what stands around it.
  void add(const Traveller& traveller, const Hunk& hunk, Candidates& found) {
    const SegmentedName& now = traveller.now;
    const SegmentedName& goal = *traveller.goal;
    std::vector<NameRule::Alternative> changes{
        {literally(now, hunk.begin, hunk.end), literally(goal, hunk.to_begin, hunk.to_end)}};
    if (const auto numbers = numbers_of(changes.front().from);
        !numbers.empty() && numbers == numbers_of(changes.front().to))
      changes.push_back(
          {any_numbers(now, hunk.begin, hunk.end), any_numbers(goal, hunk.to_begin, hunk.to_end)});

    struct Left {
      bool is_inside;
      PatternList list;
    };
    std::vector<Left> lefts{{false, any_numbers(now, 0, hunk.begin)}, {true, {}}};
    if (hunk.begin > 0) {
      lefts.push_back({false, literally(now, 0, hunk.begin)});
      lefts.push_back({true, any_numbers(now, hunk.begin - 1, hunk.begin)});
    }
    struct Right {
      PatternList list;
      bool is_end;
    };
    std::vector<Right> rights{{any_numbers(now, hunk.end, now.size()), true}};
    if (hunk.end < now.size()) rights.push_back({{}, false});
    if (hunk.end + 1 < now.size()) rights.push_back({any_numbers(now, hunk.end, hunk.end + 1), false});

    for (const NameRule::Alternative& change : changes)
      for (const Left& left : lefts)
        for (const Right& right : rights) {
          // A number alone says nothing of where it stands.
          if (left.is_inside && left.list.empty() && is_numbers(change.from)) continue;
          // A rule that only puts in needs to know before what.
          if (change.from.empty() && right.list.empty() && (left.list.empty() || !right.is_end)) continue;
          NameRule rule{.is_inside = left.is_inside,
                        .left = left.list,
                        .alternatives = {change},
                        .right = right.list,
                        .is_end = right.is_end};
          std::string text = rule.text(segments_);
          found.emplace(std::move(text), std::move(rule));
        }
  }

  /// The travellers that a rule may match.
  const std::vector<std::size_t>& near(const NameRule& rule) {
    const std::vector<std::size_t>* fewest = nullptr;
    for (const PatternList* list : {&rule.left, &rule.alternatives.front().from, &rule.right})
      for (const SegmentPattern& p : *list)
        if (const auto& with = p.is_any_number ? with_shape_[segments_.shape(p.id)] : with_segment_[p.id];
            !fewest || with.size() < fewest->size())
          fewest = &with;
    if (fewest) return *fewest;
    everybody_.resize(travellers_.size());
    std::iota(everybody_.begin(), everybody_.end(), std::size_t{0});
    return everybody_;
  }

  /// How much nearer a rule brings the names; nothing where it leads one astray, or to where another is.
  std::optional<Gain> gain_of(const NameRule& rule) {
    Gain gain;
    std::unordered_set<std::size_t> seen;
    for (const std::size_t i : near(rule)) {
      const Traveller& traveller = travellers_[i];
      const std::optional<SegmentedName> moved = rule.apply(traveller.now, segments_);
      if (!moved || *moved == traveller.now || !seen.insert(i).second) continue;
      if (const auto other = at_.find(*moved); other != at_.end()) {
        const SegmentedName& there = travellers_[other->second].now;
        if (rule.apply(there, segments_).value_or(there) == there) return std::nullopt;
      }
      if (!traveller.goal) {
        if (!may_touch_rest_ || leads_astray(*moved)) return std::nullopt;
        continue;
      }
      if (traveller.is_renumbered && enters_other_item(*moved, traveller)) return std::nullopt;
      const std::size_t before = edit_distance(traveller.now, *traveller.goal);
      const std::size_t after = edit_distance(*moved, *traveller.goal);
      if (after >= before) return std::nullopt;
      gain.nearer += (before - after) * traveller.weight;
      if (after == 0) gain.arrived += traveller.weight;
    }
    return gain;
  }

  /// Whether a name would be below the item of a list that is not its own, where it was not before: who goes
  /// from `up.3` to `blocks.0` must not be at `blocks.3`, which others are to reach, in between.
  bool enters_other_item(const SegmentedName& moved, const Traveller& traveller) const {
    const auto has_prefix = [](const SegmentedName& name, const SegmentedName& prefix) {
      return name.size() >= prefix.size() && std::ranges::equal(prefix, std::span(name).first(prefix.size()));
    };
    SegmentedName prefix;
    for (const std::size_t segment : moved) {
      prefix.push_back(segment);
      if (!segments_.numbers(segment).empty() && goal_items_.contains(prefix) &&
          !has_prefix(*traveller.goal, prefix) && !has_prefix(traveller.now, prefix))
        return true;
    }
    return false;
  }

  /// Whether a name without a partner would end as a target that is somebody else's.
  bool leads_astray(const SegmentedName& moved) const {
    const auto found = targets_.find(moved);
    return found != targets_.end() && paired_targets_.contains(found->second);
  }

  /// Of two rules that do as much, the one that says more exactly where it applies, then the shorter one.
  bool is_better(const NameRule& a, const std::string& a_text, const NameRule& b, const std::string& b_text) {
    const auto key = [&](const NameRule& rule, const std::string& text) {
      return std::tuple(is_unstable(rule), rule.is_inside, text.size(), text);
    };
    return key(a, a_text) < key(b, b_text);
  }

  /// Whether a rule would change its own result again.
  bool is_unstable(const NameRule& rule) {
    for (const std::size_t i : near(rule))
      if (const auto once = rule.apply(travellers_[i].now, segments_); once && *once != travellers_[i].now)
        if (const auto twice = rule.apply(*once, segments_); twice && *twice != *once) return true;
    return false;
  }

  /// The most gain first, then as in is_better().
  struct Rank {
    std::size_t nearer = 0;
    bool is_unstable = false, is_inside = false;
    std::string text;
    bool operator<(const Rank& other) const {
      return std::tuple(other.nearer, is_unstable, is_inside, text.size(), std::cref(text).get()) <
             std::tuple(nearer, other.is_unstable, other.is_inside, other.text.size(),
                        std::cref(other.text).get());
    }
  };

  std::optional<Rank> rank_of(const NameRule& rule, const std::string& text) {
    const std::optional<Gain> gain = gain_of(rule);
    if (!gain || gain->nearer == 0) return std::nullopt;
    return Rank{gain->nearer, is_unstable(rule), rule.is_inside, text};
  }

  /// Takes rules while there are any that lead on, always the best, and says whether there was one. What a
  /// rule was worth is looked up again only when it is about to be taken, or names that it came from have
  /// moved.
  bool find_rules(std::vector<NameRule>& rules) {
    const std::size_t before = rules.size();
    Candidates all = candidates();
    std::set<Rank> queue;
    for (const auto& [text, rule] : all)
      if (auto rank = rank_of(rule, text)) queue.insert(std::move(*rank));
    while (!queue.empty() && rules.size() < most_rules) {
      const Rank best = *queue.begin();
      queue.erase(queue.begin());
      const NameRule& rule = all.at(best.text);
      const std::optional<Rank> now = rank_of(rule, best.text);
      if (!now) continue;
      if (best < *now) {
        queue.insert(*now);
        continue;
      }
      rules.push_back(rule);
      Candidates more;
      for (const std::size_t moved : move(rules.back())) add_candidates(travellers_[moved], more);
      for (auto& [text, candidate] : more) {
        if (auto rank = rank_of(candidate, text)) queue.insert(std::move(*rank));
        all.emplace(text, std::move(candidate));
      }
    }
    return rules.size() > before;
  }

  SegmentedName result(SegmentedName name, const std::vector<NameRule>& rules) {
    for (const NameRule& rule : rules)
      if (auto moved = rule.apply(name, segments_)) name = std::move(*moved);
    return name;
  }

  std::vector<SegmentedName> results(const std::vector<NameRule>& rules) {
    std::vector<SegmentedName> out;
    for (const Traveller& traveller : begun_) out.push_back(result(traveller.now, rules));
    return out;
  }

  /// Whether rules have these results. Who was the last to say no is asked first.
  bool have_results(const std::vector<NameRule>& rules, const std::vector<SegmentedName>& wanted) {
    std::size_t& last = last_no_;
    const auto agrees = [&](std::size_t i) { return result(begun_[i].now, rules) == wanted[i]; };
    if (last < begun_.size() && !agrees(last)) return false;
    for (std::size_t i = 0; i < begun_.size(); ++i)
      if (!agrees(i)) return last = i, false;
    return true;
  }

  /// Rules that differ in a word that they keep become one, where that changes nothing.
  void merge(std::vector<NameRule>& rules) {
    const std::vector<SegmentedName> wanted = results(rules);
    for (std::size_t i = 0; i < rules.size(); ++i)
      for (std::size_t j = i + 1; j < rules.size();) {
        const std::optional<NameRule> both = merged(rules[i], rules[j], segments_);
        bool is_done = false;
        for (const bool at_first : {true, false}) {
          if (!both) break;
          std::vector<NameRule> fewer = rules;
          fewer[at_first ? i : j] = *both;
          fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at_first ? j : i));
          if (!have_results(fewer, wanted)) continue;
          rules = std::move(fewer);
          is_done = true;
          break;
        }
        if (!is_done) ++j;
      }
  }

  /// What a later rule does anyway need not be done before. Only names that a rule changes can miss it.
  void drop_idle(std::vector<NameRule>& rules) {
    std::vector<std::vector<std::size_t>> changed(rules.size());
    const std::vector<SegmentedName> wanted = results(rules);
    for (std::size_t name = 0; name < begun_.size(); ++name) {
      SegmentedName now = begun_[name].now;
      for (std::size_t i = 0; i < rules.size(); ++i)
        if (auto moved = rules[i].apply(now, segments_); moved && *moved != now)
          now = std::move(*moved), changed[i].push_back(name);
    }
    for (std::size_t i = rules.size(); i-- > 0;) {
      std::vector<NameRule> fewer = rules;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (std::ranges::all_of(
              changed[i], [&](std::size_t name) { return result(begun_[name].now, fewer) == wanted[name]; }))
        rules = std::move(fewer);
    }
  }

  std::span<const NamedShape> source_, target_;
  const std::vector<NamePair>& pairs_;
  Segments segments_;
  std::unordered_map<SegmentedName, std::size_t, Hash> targets_;
  std::unordered_set<std::size_t> paired_targets_;
  std::vector<Traveller> travellers_, begun_;
  // Travellers by what is in their names, or was.
  std::unordered_map<std::size_t, std::vector<std::size_t>> with_segment_, with_shape_;
  std::unordered_map<SegmentedName, std::size_t, Hash> at_;  // where they are now
  std::unordered_set<SegmentedName, Hash> goal_items_;       // beginnings of goals that end in a number
  std::vector<std::size_t> everybody_;
  std::size_t last_no_ = SIZE_MAX;
  bool may_touch_rest_ = true;
};

std::vector<std::string> names_of(std::span<const NamedShape> tensors) {
  std::vector<std::string> names;
  for (const NamedShape& tensor : tensors) names.push_back(tensor.name);
  return names;
}

/// `1 0 2` of `layers.1.mlp.0.fc2`.
std::string numbers_of(std::string_view name) {
  std::string numbers;
  for (const char c : name)
    if (c >= '0' && c <= '9') numbers += c;
    else if (!numbers.empty() && numbers.back() != ' ') numbers += ' ';
  while (!numbers.empty() && numbers.back() == ' ') numbers.pop_back();
  return numbers;
}

/// How lists count, looked at when it is asked for.
class ListCounts {
 public:
  ListCounts(std::span<const NamedShape> source, std::span<const NamedShape> target)
      : source_(source), target_(target) {}

  bool are_alike(std::size_t source, std::size_t target) {
    if (!lists_) lists_.emplace(source_, target_);
    return lists_->count_alike(source, target);
  }

 private:
  std::span<const NamedShape> source_, target_;
  std::optional<BothLists> lists_;
};

/// What applying the rules to every name says; nothing where a name goes where it does not belong, and then
/// `astray` are the names that do.
std::optional<Inference> verified(std::span<const NamedShape> source, std::span<const NamedShape> target,
                                  const std::vector<NamePair>& pairs, const std::vector<std::string>& rules,
                                  const ApplyRules& apply, ListCounts& lists, std::set<std::size_t>& astray) {
  const std::vector<std::string> results = apply(rules, names_of(source));
  std::unordered_map<std::string_view, std::size_t> target_by_name;
  for (std::size_t i = 0; i < target.size(); ++i) target_by_name.emplace(target[i].name, i);
  std::unordered_map<std::size_t, std::size_t> goal, owner;  // of a source, of a target
  for (const NamePair& pair : pairs)
    goal.emplace(pair.source, pair.target), owner.emplace(pair.target, pair.source);

  Inference inference;
  astray.clear();
  std::unordered_map<std::string_view, std::size_t> seen;
  std::vector<bool> is_reached(target.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (results[i].empty() && !source[i].name.empty()) astray.insert(i);
    if (const auto [other, is_new] = seen.emplace(results[i], i); !is_new) {
      astray.insert(i);
      astray.insert(other->second);
      continue;
    }
    const auto found = target_by_name.find(results[i]);
    const auto wanted = goal.find(i);
    if (found == target_by_name.end()) {
      inference.left_in_source.push_back(source[i].name);
      continue;
    }
    // A name whose partner is not known may be led to one by rules that others have founded, but not by a
    // number that is another one; and where no rule led it, it is just called so.
    const bool is_free = wanted == goal.end() && !owner.contains(found->second);
    if (is_free && results[i] == source[i].name) {
      inference.left_in_source.push_back(source[i].name);
      continue;
    }
    const bool is_right = wanted != goal.end()
                              ? wanted->second == found->second
                              : is_free && numbers_of(results[i]) == numbers_of(source[i].name);
    if (is_right && is_free && !lists.are_alike(i, found->second)) {
      inference.left_in_source.push_back(source[i].name);
      continue;
    }
    if (!is_right) {
      astray.insert(i);
      if (const auto by = owner.find(found->second); by != owner.end()) astray.insert(by->second);
      continue;
    }
    // The right name, as far as anybody can tell, but another shape: a head of other classes.
    if (!may_be_same(source[i], target[found->second])) {
      inference.left_in_source.push_back(source[i].name);
      continue;
    }
    is_reached[found->second] = true;
    inference.pairs.emplace_back(source[i].name, results[i]);
  }
  if (!astray.empty()) return std::nullopt;
  for (std::size_t i = 0; i < target.size(); ++i)
    if (!is_reached[i]) inference.left_in_target.push_back(target[i].name);
  for (const std::string& rule : rules) inference.rules.push_back({rule, 0});
  return inference;
}

/// How many names each rule changes, as the others before it leave them.
void count_changes(std::span<const NamedShape> source, const ApplyRules& apply, Inference& inference) {
  std::vector<std::string> names = names_of(source);
  for (InferredRule& rule : inference.rules) {
    std::vector<std::string> after = apply({rule.text}, names);
    for (std::size_t i = 0; i < names.size(); ++i) rule.names += names[i] != after[i] ? 1U : 0U;
    names = std::move(after);
  }
}

/// The rules that explain the most of the pairs; nothing where those found clash, and then `astray` are the
/// names that do when no name without a partner is touched.
std::optional<Inference> inferred(std::span<const NamedShape> source, std::span<const NamedShape> target,
                                  const std::vector<NamePair>& pairs, const ApplyRules& apply,
                                  ListCounts& lists, std::set<std::size_t>& astray) {
  std::optional<Inference> best;
  // Some names of each family, then all of them, then without touching any other.
  for (const auto& [with_all, may_touch_rest] : {std::pair(false, true), {true, true}, {true, false}}) {
    RuleSearch search(source, target, pairs);
    std::vector<std::string> rules;
    for (const NameRule& rule : search.run(with_all, may_touch_rest)) rules.push_back(search.text(rule));
    std::optional<Inference> inference = verified(source, target, pairs, rules, apply, lists, astray);
    if (!inference) continue;
    if (!best || inference->pairs.size() > best->pairs.size()) best = std::move(inference);
    if (best->pairs.size() >= pairs.size()) break;
  }
  return best;
}

std::vector<NamedShape> joined(std::span<const NamedShape> some, std::span<const NamedShape> more) {
  std::vector<NamedShape> all(some.begin(), some.end());
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

Inference infer_rules(std::span<const NamedShape> source, std::span<const NamedShape> target,
                      const ApplyRules& apply) {
  auto [pairs, is_cut] = pair_names(source, target);
  ListCounts lists(source, target);
  const auto moves = [&](const NamePair& pair) {
    return source[pair.source].name != target[pair.target].name;
  };
  std::set<std::size_t> astray;
  for (std::size_t round = 0; round < most_rounds; ++round) {
    if (std::optional<Inference> found = inferred(source, target, pairs, apply, lists, astray)) {
      found->is_cut = is_cut;
      count_changes(source, apply, *found);
      return *found;
    }
    // Names that get into each other's way are left over; the others need not suffer.
    if (std::erase_if(pairs, [&](const NamePair& p) { return moves(p) && astray.contains(p.source); }) == 0)
      break;
  }
  // Without a rule nothing moves, and nothing clashes.
  std::erase_if(pairs, moves);
  Inference nothing = verified(source, target, pairs, {}, apply, lists, astray).value();
  nothing.is_cut = is_cut;
  return nothing;
}

std::optional<BestRule> best_rule(std::span<const NamedShape> missing, std::span<const NamedShape> unused,
                                  std::span<const NamedShape> fitting, const ApplyRules& apply) {
  std::vector<NamePair> pairs = pair_names(unused, missing).pairs;
  if (pairs.empty()) return std::nullopt;
  // What fits is its own partner: a rule that moved it would lead it astray.
  for (std::size_t i = 0; i < fitting.size(); ++i)
    pairs.push_back({unused.size() + i, missing.size() + i, no_id});
  const std::vector<NamedShape> source = joined(unused, fitting);
  const std::vector<NamedShape> target = joined(missing, fitting);
  RuleSearch search(source, target, pairs);
  const std::optional<NameRule> rule = search.best();
  if (!rule) return std::nullopt;
  const std::string text = search.text(*rule);
  ListCounts lists(source, target);
  std::set<std::size_t> astray;
  const std::optional<Inference> inference = verified(source, target, pairs, {text}, apply, lists, astray);
  if (!inference || inference->pairs.size() <= fitting.size()) return std::nullopt;
  return BestRule{text, inference->pairs.size() - fitting.size()};
}

}  // namespace ckpt
