#include "ckpt/report/item_structure.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

namespace ckpt {
namespace {

/// A shape without its order and without what says nothing: a linear layer may be a convolution of one pixel.
/// Scalars are counters, which only some keep.
Shape bare_shape(Shape shape) {
  std::erase(shape, 1);
  std::ranges::sort(shape);
  return shape;
}

/// The beginnings of a name that hold several: its modules, down to none, and its lists.
std::vector<std::string_view> beginnings(const Name& name) {
  const std::string_view text = name.tensor->name;
  std::vector<std::string_view> all;
  for (std::string_view module = text; !module.empty();) all.push_back(module = module_of(module));
  for (std::size_t place = 0; place < name.numbers.size(); ++place)
    if (const std::string_view list = before_number(text, place); !list.ends_with('.')) all.push_back(list);
  return all;
}

/// The places of a name's numbers that are not the same in all names of its form.
std::vector<std::size_t> counted(const Name& name, const Kinds& kinds) {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < name.numbers.size(); ++place)
    if (kinds.is_counted(name, place)) places.push_back(place);
  return places;
}

/// Whether a number stands alone between dots: `resnets.0.` and not `norm1.`.
bool is_item(std::string_view name, std::size_t place) {
  const std::string_view list = before_number(name, place);
  const std::string_view item = through_number(name, place);
  return list.ends_with('.') && item.size() < name.size() && name[item.size()] == '.';
}

}  // namespace

ItemStructure::ItemStructure(BothLists& lists)
    : lists_(lists),
      source_holders_(holders_of(lists.sources, lists.texts)),
      target_holders_(holders_of(lists.targets, lists.texts)) {}

ItemStructure::Holders ItemStructure::holders_of(const std::vector<Name>& names, Texts& texts) {
  std::unordered_map<std::string_view, std::vector<std::size_t>> below;
  for (const Name& name : names) {
    const Shape shape = bare_shape(name.tensor->shape);
    if (shape.empty()) continue;
    const std::size_t id = texts.id("shape " + to_string(shape));
    for (const std::string_view beginning : beginnings(name)) below[beginning].push_back(id);
  }
  std::unordered_map<std::string_view, std::size_t> id_of;
  for (auto& [beginning, shapes] : below) {
    std::ranges::sort(shapes);
    std::string text = "holds";
    for (const std::size_t shape : shapes) text += ' ' + std::to_string(shape);
    id_of[beginning] = texts.id(text);
  }
  Holders all;
  for (const Name& name : names) {
    auto& holders = all.emplace_back();
    for (const std::string_view beginning : beginnings(name))
      if (const auto found = id_of.find(beginning); found != id_of.end())
        holders.push_back({beginning.size(), found->second});
  }
  return all;
}

bool ItemStructure::may_count_so(std::size_t source, std::size_t target) const {
  const Name& a = lists_.sources[source];
  const Name& b = lists_.targets[target];
  const std::vector<std::size_t> from = counted(a, lists_.source_kinds);
  const std::vector<std::size_t> to = counted(b, lists_.target_kinds);
  std::size_t i = 0;
  while (i < from.size() && i < to.size() && a.numbers[from[i]] == b.numbers[to[i]]) ++i;
  const auto has_item = [i](const Name& name, const std::vector<std::size_t>& places) {
    return i < places.size() && is_item(name.tensor->name, places[i]);
  };
  const bool is_either_over = i == from.size() || i == to.size();
  if (is_either_over && !has_item(a, from) && !has_item(b, to)) return true;
  const auto up_to = [i](const Name& name, const std::vector<std::size_t>& places) {
    return i < places.size() ? before_number(name.tensor->name, places[i]).size() : name.tensor->name.size();
  };
  const std::size_t most = up_to(a, from);
  const std::size_t most_here = up_to(b, to);
  return std::ranges::any_of(source_holders_[source], [&](const Holder& holder) {
    return holder.length <= most && std::ranges::any_of(target_holders_[target], [&](const Holder& other) {
             return other.length <= most_here && other.holds == holder.holds;
           });
  });
}

}  // namespace ckpt
