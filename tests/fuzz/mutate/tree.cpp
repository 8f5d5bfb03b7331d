#include "mutate/tree.hpp"

#include <algorithm>
#include <utility>

namespace ckpt::fuzz {
namespace {

using Kind = Item::Kind;

void collect(Item& item, std::vector<Item*>& into) {
  into.push_back(&item);
  for (Item& part : item.items) collect(part, into);
}

/// Items come alone in an array, in pairs in a map.
std::size_t stride(const Item& parent) { return parent.kind == Kind::map ? 2 : 1; }

void nest(Item& item, Random& random) {
  const Kind kind = random.one_in(3) ? Kind::map : Kind::array;
  for (std::size_t depth = random.one_in(8) ? 100 + random.below(60) : 1 + random.below(4); depth > 0;
       --depth) {
    Item outer{.kind = kind, .is_open = random.one_in(4)};
    if (kind == Kind::map) outer.items.push_back({.kind = Kind::text, .text = "param"});
    outer.items.push_back(std::move(item));
    item = std::move(outer);
  }
}

void mutate_leaf(Item& item, Random& random) {
  switch (item.kind) {
    case Kind::text:
    case Kind::bytes:
      if (random.one_in(3)) item.text = random.pick(odd_names);
      else if (random.one_in(8)) item.text += std::string(random.below(300), 'n');
      else item.text = mutate_text(std::move(item.text));
      return;
    case Kind::natural:
    case Kind::negative:
    case Kind::real:
    case Kind::tag:
      item.text.clear();
      if (random.one_in(2)) item.number += random.one_in(2) ? 1 : ~std::uint64_t{0};
      else item.number = random.edge();
      if (random.one_in(8)) item.kind = random.one_in(2) ? Kind::negative : Kind::real;
      return;
    default:
      item = {.kind = static_cast<Kind>(random.below(7)), .number = random.edge()};
  }
}

void mutate_parts(Item& item, Random& random, const std::vector<Item*>& all) {
  const std::size_t step = stride(item);
  const std::size_t count = item.items.size() / step;
  const auto at = [&](std::size_t i) { return item.items.begin() + static_cast<std::ptrdiff_t>(i * step); };
  if (count == 0) {
    for (std::size_t i = 0; i < step; ++i) item.items.push_back({.kind = Kind::text, .text = "x"});
    return;
  }
  const std::size_t one = random.below(count);
  switch (random.below(6)) {
    case 0:
      item.items.erase(at(one), at(one + 1));
      return;
    case 1: {
      const std::vector<Item> copy(at(one), at(one + 1));
      for (std::size_t n = random.one_in(10) ? random.below(200) : 1; n > 0; --n)
        item.items.insert(at(random.below(item.items.size() / step)), copy.begin(), copy.end());
      return;
    }
    case 2:
      std::swap_ranges(at(one), at(one + 1), at(random.below(count)));
      return;
    case 3: {  // a key, or an item, as another has it
      const Item copy = item.items[random.below(count) * step];
      item.items[one * step] = copy;
      return;
    }
    case 4: {
      const Item copy = *random.pick(all);
      if (copy.items.size() < 100) item.items[random.below(item.items.size())] = copy;
      return;
    }
    default:
      item.is_open = !item.is_open;
  }
}

}  // namespace

void mutate_item(Item& root, Random& random) {
  std::vector<Item*> all;
  collect(root, all);
  Item& item = *random.pick(all);
  if (random.one_in(12)) return nest(item, random);
  if (item.kind == Kind::array || item.kind == Kind::map) mutate_parts(item, random, all);
  else mutate_leaf(item, random);
}

}  // namespace ckpt::fuzz
