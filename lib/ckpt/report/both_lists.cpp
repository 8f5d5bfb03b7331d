#include "ckpt/report/both_lists.hpp"

namespace ckpt {

BothLists::BothLists(std::span<const NamedShape> source, std::span<const NamedShape> target)
    : source_parts(source, texts), target_parts(target, texts) {
  for (std::size_t i = 0; i < targets.size(); ++i) target_by_name.emplace(target[i].name, i);
  for (const Name& name : sources) shape_of_id_[name.shape] = name.tensor;
  for (const Name& name : targets) shape_of_id_[name.shape] = name.tensor;
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

}  // namespace ckpt
