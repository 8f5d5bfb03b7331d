// Where a checkpoint keeps its state dicts. Training frameworks put them under names that are known (below);
// where there are none, the whole object is one state dict, however deep its dicts are nested.
#include "ckpt/formats/pytorch/roots.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace ckpt::pytorch {
namespace {

using Role = Root::Role;

/// A row matches keys that are equal to, begin with, end with or contain its text.
enum class Match { equal, prefix, suffix, inside };
struct RoleName {
  std::string_view text;
  Match match;
  Role role;
};
// Rows are tried in order: `optimizer_state_dict` is an optimizer, not a state dict.
constexpr std::array role_names{
    RoleName{"optim", Match::inside, Role::optimizer},
    RoleName{"scheduler", Match::inside, Role::optimizer},
    RoleName{"scaler", Match::inside, Role::optimizer},
    RoleName{"hyper_parameters", Match::equal, Role::other},
    RoleName{"hparams", Match::equal, Role::other},
    RoleName{"callbacks", Match::equal, Role::other},
    RoleName{"loops", Match::equal, Role::other},
    RoleName{"state_dict", Match::prefix, Role::model},
    RoleName{"_state_dict", Match::suffix, Role::model},
    RoleName{"model", Match::prefix, Role::model},
    RoleName{"_model", Match::suffix, Role::model},
    RoleName{"ema", Match::equal, Role::model},
    RoleName{"ema_", Match::prefix, Role::model},
    RoleName{"_ema", Match::suffix, Role::model},
    RoleName{"net", Match::prefix, Role::model},
    RoleName{"module", Match::equal, Role::model},
    RoleName{"weights", Match::equal, Role::model},
    RoleName{"params", Match::prefix, Role::model},
    RoleName{"teacher", Match::prefix, Role::model},
    RoleName{"student", Match::prefix, Role::model},
    RoleName{"generator", Match::equal, Role::model},
    RoleName{"discriminator", Match::equal, Role::model},
    RoleName{"g_ema", Match::equal, Role::model},
    RoleName{"critic", Match::equal, Role::model},
    RoleName{"actor", Match::equal, Role::model},
    RoleName{"policy", Match::equal, Role::model},
};

bool matches(const RoleName& row, std::string_view key) {
  switch (row.match) {
    case Match::equal:
      return key == row.text;
    case Match::prefix:
      return key.starts_with(row.text);
    case Match::suffix:
      return key.ends_with(row.text);
    case Match::inside:
      return key.find(row.text) != std::string_view::npos;
  }
  return false;
}

std::optional<Role> named_role(const Place& place) {
  if (place.is_optimizer) return Role::optimizer;
  for (const RoleName& row : role_names)
    if (matches(row, place.name) && !(place.is_sequence && row.role == Role::model)) return row.role;
  return std::nullopt;
}

class Finder {
 public:
  explicit Finder(std::span<const Place> places)
      : places_(places), children_(places.size()), totals_(places.size()) {
    for (std::size_t i = places.size(); i-- > 0;) {
      totals_[i].first += places[i].tensors;
      totals_[i].second += places[i].bytes;
      if (i == 0) continue;
      totals_[places[i].parent].first += totals_[i].first;
      totals_[places[i].parent].second += totals_[i].second;
    }
    for (std::size_t i = 1; i < places.size(); ++i)
      if (totals_[i].first != 0) children_[places[i].parent].push_back(i);
  }

  std::vector<Root> find() {
    if (!places_.empty() && totals_.front().first != 0) {
      // A stack instead of recursion: places nest as deep as the file says. Children are pushed last first.
      std::vector<Task> tasks{{0, "", places_.front().is_optimizer ? Role::optimizer : Role::model}};
      while (!tasks.empty()) {
        const Task task = std::move(tasks.back());
        tasks.pop_back();
        visit(task, tasks);
      }
    }
    return std::move(roots_);
  }

 private:
  struct Task {
    std::size_t place;
    std::string key;
    Role role;
  };

  void record(const Task& task) {
    roots_.push_back({task.key, task.role, totals_[task.place].first, totals_[task.place].second});
  }

  void visit(const Task& task, std::vector<Task>& tasks) {
    const Place& place = places_[task.place];
    const std::vector<std::size_t>& children = children_[task.place];
    if (task.role == Role::optimizer || place.is_module) return record(task);
    bool splits = false;
    for (const std::size_t child : children)
      splits |= places_[child].is_module || named_role(places_[child]).has_value();
    if (!splits && (place.tensors != 0 || children.size() != 1)) return record(task);
    const Role nameless = has_named_model(children) ? Role::other : Role::model;
    for (std::size_t i = children.size(); i-- > 0;) {
      const Place& child = places_[children[i]];
      const Role role = task.role == Role::other ? Role::other : named_role(child).value_or(nameless);
      tasks.push_back({children[i], task.key.empty() ? child.name : task.key + "." + child.name, role});
    }
  }

  /// Whether some child is a model by its name: what has no name beside it is then something else.
  bool has_named_model(const std::vector<std::size_t>& children) const {
    for (const std::size_t child : children)
      if (named_role(places_[child]) == Role::model) return true;
    return false;
  }

  std::span<const Place> places_;
  std::vector<std::vector<std::size_t>> children_;               // those that hold tensors
  std::vector<std::pair<std::uint64_t, std::uint64_t>> totals_;  // tensors and bytes with everything below
  std::vector<Root> roots_;
};

}  // namespace

std::vector<Root> find_roots(std::span<const Place> places) { return Finder(places).find(); }

}  // namespace ckpt::pytorch
