#include "ckpt/stages/variants.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "ckpt/stages/names.hpp"

namespace ckpt {
namespace {

std::vector<std::string_view> segments(std::string_view name) {
  std::vector<std::string_view> all;
  for_each_segment(name, [&](std::string_view, std::string_view segment) { all.push_back(segment); });
  return all;
}

/// The paths of some names, segment by segment. Nodes are indices, so that no depth is one of calls.
class Tree {
 public:
  using Index = std::size_t;
  static constexpr Index root = 0;
  static constexpr Index none = SIZE_MAX;
  using Child = std::pair<const std::string, Index>;

  explicit Tree(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      Index node = root;
      for (const std::string_view segment : segments(name)) {
        const auto [child, is_new] = children_[node].emplace(segment, children_.size());
        node = child->second;
        if (is_new) children_.emplace_back();
      }
    }
  }
  Index child(Index node, std::string_view segment) const {
    if (node == none) return none;
    const auto found = children_[node].find(segment);
    return found == children_[node].end() ? none : found->second;
  }
  /// The variant below a node, when that is all there is.
  const Child* variant(Index node) const;

 private:
  std::vector<std::map<std::string, Index, std::less<>>> children_{1};
};

/// `Batch`, `BaseConv`: how Rust spells a variant.
bool is_camel_case(std::string_view segment) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  return segment.size() > 1 && segment.front() >= 'A' && segment.front() <= 'Z' &&
         segment.find('_') == std::string_view::npos && std::ranges::any_of(segment, is_lower);
}

const Tree::Child* Tree::variant(Index node) const {
  if (node == none || children_[node].size() != 1) return nullptr;
  const Child& only = *children_[node].begin();
  return is_camel_case(only.first) && !children_[only.second].empty() ? &only : nullptr;
}

std::string fitted(std::string_view name, const Tree& target, const Tree& source) {
  const std::vector<std::string_view> all = segments(name);
  std::string out;
  bool is_first = true;  // `.a` begins with an empty segment
  const auto add = [&](std::string_view segment) {
    (out += std::exchange(is_first, false) ? "" : ".") += segment;
  };
  Tree::Index wanted = Tree::root;
  Tree::Index found = Tree::root;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Tree::Child* own = target.variant(wanted); own != nullptr && own->first != all[i];
         own = target.variant(wanted)) {
      add(own->first);
      wanted = own->second;
    }
    const bool is_foreign = wanted != Tree::none && i + 1 < all.size() &&
                            target.child(wanted, all[i]) == Tree::none && source.variant(found) != nullptr;
    if (!is_foreign) {
      add(all[i]);
      wanted = target.child(wanted, all[i]);
    }
    found = source.child(found, all[i]);
  }
  return out;
}

}  // namespace

std::vector<std::string> fit_variants(const std::vector<std::string>& names,
                                      const std::vector<std::string>& target) {
  const Tree wanted(target);
  const Tree found(names);
  std::vector<std::string> out;
  out.reserve(names.size());
  for (const std::string& name : names) out.push_back(fitted(name, wanted, found));
  return out;
}

}  // namespace ckpt
