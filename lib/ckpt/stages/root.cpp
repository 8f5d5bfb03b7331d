#include "ckpt/stages/root.hpp"

#include <algorithm>
#include <string_view>

#include "ckpt/core/error.hpp"
#include "ckpt/core/quoted.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt {
namespace {

std::string list_roots(const std::vector<const Root*>& roots) {
  std::string text;
  for (const Root* root : roots) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} ({} tensor{}, {})", root->key.empty() ? "." : printable(root->key), root->tensors,
                        root->tensors == 1 ? "" : "s", human_size(root->bytes));
  }
  return text;
}

std::vector<const Root*> roots_of(const Checkpoint& checkpoint, bool only_models) {
  std::vector<const Root*> roots;
  for (const Root& root : checkpoint.roots)
    if (!only_models || root.role == Root::Role::model) roots.push_back(&root);
  return roots;
}

/// The part of `name` below `key`; nothing when it does not lie there.
std::optional<std::string_view> below(std::string_view name, std::string_view key) {
  if (key.empty()) return name;
  if (name == key) return name;
  if (name.size() > key.size() && name.starts_with(key) && name[key.size()] == '.')
    return name.substr(key.size() + 1);
  return std::nullopt;
}

Checkpoint take(Checkpoint checkpoint, const std::string& key, std::vector<std::string>& dropped) {
  std::erase_if(checkpoint.tensors, [&](Tensor& tensor) {
    const std::optional<std::string_view> rest = below(tensor.name, key);
    if (!rest) {
      dropped.push_back(tensor.name);
      return true;
    }
    tensor.name = std::string(*rest);
    return false;
  });
  std::erase_if(checkpoint.refused, [&](Refused& refused) {
    const std::optional<std::string_view> rest = below(refused.name, key);
    if (rest) refused.name = std::string(*rest);
    return !rest;
  });
  return checkpoint;
}

}  // namespace

Checkpoint select_root(Checkpoint checkpoint, const std::optional<std::string>& key,
                       std::vector<std::string>& dropped) {
  if (key) {
    const std::string place = *key == "." ? "" : *key;
    const bool exists =
        std::ranges::any_of(checkpoint.tensors,
                            [&](const Tensor& t) { return below(t.name, place).has_value(); }) ||
        std::ranges::any_of(checkpoint.refused,
                            [&](const Refused& r) { return below(r.name, place).has_value(); });
    if (!exists) {
      const std::vector<const Root*> roots = roots_of(checkpoint, false);
      Error error(ErrorKind::refused, fmt::format("there are no tensors under {}", printable(*key)));
      error.in_file(checkpoint.file);
      if (!roots.empty()) error.with_hint("tensors lie under " + list_roots(roots));
      throw error;
    }
    return take(std::move(checkpoint), place, dropped);
  }
  const std::vector<const Root*> models = roots_of(checkpoint, true);
  if (models.size() > 1)
    throw Error(ErrorKind::refused,
                fmt::format("{} places hold tensors of a model: {}", models.size(), list_roots(models)))
        .in_file(checkpoint.file)
        .with_hint(fmt::format("--top-level-key {} takes one of them, --top-level-key . all",
                               models.front()->key.empty() ? "." : shell_word(models.front()->key)));
  if (models.empty()) return checkpoint;  // nothing nests, or all there is belongs to an optimizer
  if (models.front()->key.empty()) {
    // The top level is the model: what lies under another place is not part of it.
    std::erase_if(checkpoint.tensors, [&](const Tensor& tensor) {
      const bool is_elsewhere = std::ranges::any_of(checkpoint.roots, [&](const Root& root) {
        return !root.key.empty() && below(tensor.name, root.key).has_value();
      });
      if (is_elsewhere) dropped.push_back(tensor.name);
      return is_elsewhere;
    });
    return checkpoint;
  }
  const std::string place = models.front()->key;
  return take(std::move(checkpoint), place, dropped);
}

}  // namespace ckpt
