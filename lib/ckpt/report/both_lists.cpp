#include "ckpt/report/both_lists.hpp"

#include <algorithm>

namespace ckpt {

BothLists::BothLists(std::span<const NamedShape> source, std::span<const NamedShape> target)
    : source_parts(source, texts), target_parts(target, texts) {
  for (std::size_t i = 0; i < targets.size(); ++i) target_by_name.emplace(target[i].name, i);
  for (const Name& name : sources) shape_of_id_[name.shape] = name.tensor;
  for (const Name& name : targets) shape_of_id_[name.shape] = name.tensor;
  source_numbers_ = numbers_in(sources);
  target_numbers_ = numbers_in(targets);
}

BothLists::Numbers BothLists::numbers_in(const std::vector<Name>& names) {
  Numbers numbers;
  for (const Name& name : names)
    for (std::size_t place = 0; place < name.numbers.size(); ++place)
      numbers[list_of(name, place)].insert(name.numbers[place]);
  return numbers;
}

bool BothLists::differ(std::size_t source_list, std::size_t target_list) {
  const auto [known, is_new] = differ_.try_emplace({source_list, target_list}, false);
  if (is_new) {
    const std::set<std::size_t>& a = source_numbers_.at(source_list);
    const std::set<std::size_t>& b = target_numbers_.at(target_list);
    known->second = !std::ranges::includes(a, b) && !std::ranges::includes(b, a);
  }
  return known->second;
}

bool BothLists::have_different_counts(std::size_t source, std::size_t target, std::size_t place) {
  const std::set<std::size_t>& a = source_kinds.numbers(source, place);
  const std::set<std::size_t>& b = target_kinds.numbers(target, place);
  const auto [known, is_new] = counts_.try_emplace({&a, &b}, false);
  if (is_new) known->second = count_differently(a, b, texts);
  return known->second;
}

bool BothLists::fits(std::size_t source, std::size_t target) {
  const std::size_t a = sources[source].shape;
  const std::size_t b = targets[target].shape;
  if (a == b) return true;
  const auto [found, is_new] = fits_.try_emplace(static_cast<std::uint64_t>(a) << 32U | b, false);
  if (is_new) found->second = may_be_same(*shape_of_id_.at(a), *shape_of_id_.at(b));
  return found->second;
}

std::size_t BothLists::list_of(const Name& name, std::size_t place) {
  const auto [found, is_new] = lists_.try_emplace({name.name_class, place}, no_id);
  if (is_new) {
    std::string text = "list ";
    for (const char c : before_number(name.tensor->name, place)) text += is_digit(c) ? '#' : c;
    found->second = texts.id(text);
  }
  return found->second;
}

bool BothLists::count_alike(std::size_t source, std::size_t target) {
  const Name& a = sources[source];
  const Name& b = targets[target];
  if (a.numbers != b.numbers) return false;
  for (std::size_t place = 0; place < a.numbers.size(); ++place)
    if (differ(list_of(a, place), list_of(b, place))) return false;
  return true;
}

}  // namespace ckpt
