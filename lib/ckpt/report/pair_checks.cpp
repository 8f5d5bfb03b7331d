#include "ckpt/report/pair_checks.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ckpt/report/likeness.hpp"

namespace ckpt {
namespace {

// So many pairs exchange the same unlike words, or it is taken for chance: a weight alone has many like it,
// a weight and a bias that both fit are a module.
constexpr std::size_t least_exchanges = 2;

/// Items of lists that a pair says are each other, and whether that can be.
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
  std::unordered_map<std::string_view, std::size_t> target_by_name_;
  std::unordered_map<std::string_view, std::vector<std::size_t>> members_;
  std::map<std::pair<std::string_view, std::string_view>, bool> known_;
};

}  // namespace

void drop_unfounded(const BothLists& lists, bool has_whole_sets, std::vector<NamePair>& pairs) {
  using Exchange = Likeness::Exchange;
  Likeness untaught(lists.texts, has_whole_sets);
  std::map<Exchange, std::size_t> seen;
  std::vector<std::set<Exchange>> exchanges;
  for (const NamePair& pair : pairs) {
    exchanges.emplace_back();
    if (lists.have_one_name(pair.source, pair.target)) continue;
    exchanges.back() =
        untaught.exchanged(lists.sources[pair.source].segments, lists.targets[pair.target].segments);
    for (const Exchange& exchange : exchanges.back()) ++seen[exchange];
  }
  // Others may exchange the same, of which one side has more here: `transformer => model` is behind
  // `transformer.embd => model`.
  const auto is_common = [&](const std::string& from, const std::string& to) {
    const auto found = seen.find({from, to});
    return found != seen.end() && found->second >= least_exchanges;
  };
  const auto is_founded = [&](const Exchange& exchange) {
    const auto& [from, to] = exchange;
    if (is_common(from, to)) return true;
    for (std::size_t dot = to.find('.', 1); dot != std::string::npos; dot = to.find('.', dot + 1))
      if (is_common(from, to.substr(0, dot))) return true;
    for (std::size_t dot = from.find('.', 1); dot != std::string::npos; dot = from.find('.', dot + 1))
      if (is_common(from.substr(0, dot), to)) return true;
    return false;
  };
  std::size_t at = 0;
  std::erase_if(pairs, [&](const NamePair&) { return !std::ranges::all_of(exchanges[at++], is_founded); });
}

void drop_other_items(std::span<const NamedShape> source, std::span<const NamedShape> target,
                      std::vector<NamePair>& pairs) {
  ListItems items(source, target);
  std::erase_if(pairs, [&](const NamePair& pair) { return !items.can_be(pair); });
}

void drop_occupied(std::span<const NamedShape> source, std::span<const NamedShape> target,
                   std::vector<NamePair>& pairs) {
  std::unordered_set<std::string_view> staying;
  for (const NamedShape& tensor : source) staying.insert(tensor.name);
  std::unordered_map<std::string_view, std::string_view> who_goes_to;
  for (const NamePair& pair : pairs) {
    staying.erase(source[pair.source].name);
    who_goes_to.emplace(target[pair.target].name, source[pair.source].name);
  }
  // Who cannot leave stays too.
  std::vector<std::string_view> found(staying.begin(), staying.end());
  while (!found.empty()) {
    const auto blocked = who_goes_to.find(found.back());
    found.pop_back();
    if (blocked != who_goes_to.end() && staying.insert(blocked->second).second)
      found.push_back(blocked->second);
  }
  std::erase_if(pairs, [&](const NamePair& pair) { return staying.contains(target[pair.target].name); });
}

}  // namespace ckpt
