#include "ckpt/stages/variants.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>

#include "ckpt/stages/names.hpp"

namespace ckpt {
namespace {

/// The paths of some names, segment by segment.
struct Node {
  std::map<std::string, std::unique_ptr<Node>, std::less<>> children;

  const Node* child(std::string_view segment) const {
    const auto found = children.find(segment);
    return found == children.end() ? nullptr : found->second.get();
  }
};

std::vector<std::string_view> segments(std::string_view name) {
  std::vector<std::string_view> all;
  for_each_segment(name, [&](std::string_view, std::string_view segment) { all.push_back(segment); });
  return all;
}

std::unique_ptr<Node> tree(const std::vector<std::string>& names) {
  auto root = std::make_unique<Node>();
  for (const std::string& name : names) {
    Node* node = root.get();
    for (const std::string_view segment : segments(name)) {
      std::unique_ptr<Node>& child = node->children[std::string(segment)];
      if (!child) child = std::make_unique<Node>();
      node = child.get();
    }
  }
  return root;
}

/// `Batch`, `BaseConv`: how Rust spells a variant.
bool is_camel_case(std::string_view segment) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  return segment.size() > 1 && segment.front() >= 'A' && segment.front() <= 'Z' &&
         segment.find('_') == std::string_view::npos && std::ranges::any_of(segment, is_lower);
}

/// The variant below a path, when that is all there is.
const std::pair<const std::string, std::unique_ptr<Node>>* variant(const Node& node) {
  if (node.children.size() != 1) return nullptr;
  const auto& only = *node.children.begin();
  return is_camel_case(only.first) && !only.second->children.empty() ? &only : nullptr;
}

std::string fitted(std::string_view name, const Node* target, const Node* source) {
  const std::vector<std::string_view> all = segments(name);
  std::string out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (target != nullptr)
      for (const auto* own = variant(*target); own != nullptr && own->first != all[i];
           own = variant(*target)) {
        out = join_path(out, own->first);
        target = own->second.get();
      }
    const bool is_foreign = target != nullptr && i + 1 < all.size() && target->child(all[i]) == nullptr &&
                            source != nullptr && variant(*source) != nullptr;
    if (!is_foreign) {
      out = join_path(out, all[i]);
      if (target != nullptr) target = target->child(all[i]);
    }
    if (source != nullptr) source = source->child(all[i]);
  }
  return out;
}

}  // namespace

std::vector<std::string> fit_variants(const std::vector<std::string>& names,
                                      const std::vector<std::string>& target) {
  const std::unique_ptr<Node> wanted = tree(target);
  const std::unique_ptr<Node> found = tree(names);
  std::vector<std::string> out;
  out.reserve(names.size());
  for (const std::string& name : names) out.push_back(fitted(name, wanted.get(), found.get()));
  return out;
}

}  // namespace ckpt
