#include "ckpt/stages/kinds.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include <fmt/ranges.h>

#include "ckpt/core/error.hpp"
#include "ckpt/core/quoted.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/stages/cast.hpp"
#include "ckpt/stages/families.hpp"
#include "ckpt/stages/names.hpp"
#include "ckpt/stages/rule.hpp"

namespace ckpt {
namespace {

/// A module: the tensors directly below one path.
struct Module {
  std::string_view path;
  std::vector<const Tensor*> tensors;
  bool has_children = false;  // some other module lies below it

  const Tensor* find(std::string_view leaf) const {
    for (const Tensor* tensor : tensors)
      if (leaf_name(tensor->name) == leaf) return tensor;
    return nullptr;
  }
};

struct Verdict {
  const ModuleKind* kind = nullptr;
  std::string evidence;
};

bool is_vector(const Tensor* tensor) { return tensor != nullptr && tensor->shape.size() == 1; }

Verdict kind(std::string_view name, std::string evidence) { return {find_kind(name), std::move(evidence)}; }

bool is_torch_class(std::string_view name) { return name.starts_with("torch.nn."); }

/// What the pickled class of the owning module says.
std::optional<Verdict> by_class(const Module& module) {
  for (const Tensor* tensor : module.tensors) {
    if (tensor->module_class.empty()) continue;
    const std::string_view whole = tensor->module_class;
    const std::string_view last = whole.substr(whole.rfind('.') + 1);
    const ModuleKind* found = find_kind(last);
    // Llama's, T5's and others' own classes of the same arithmetic.
    if (found == nullptr && (last.ends_with("RMSNorm") || last.ends_with("RmsNorm")))
      found = find_kind("RmsNorm");
    if (found == nullptr && last.ends_with("LayerNorm") && module.find("weight") != nullptr)
      found = find_kind("LayerNorm");
    // A class of somebody's own that owns others is told by their names, or is none of PyTorch's.
    if (found == nullptr || (found->is_owner() && !is_torch_class(whole))) return std::nullopt;
    return Verdict{found, fmt::format("pickled as {}", printable(whole))};
  }
  return std::nullopt;
}

constexpr std::string_view recorded_evidence = "recorded in the file's metadata";
constexpr std::string_view pickled_evidence = "said by attributes of the pickled module";

/// What an earlier conversion noted. Where a rule has brought a bare parameter to a layer, the layer counts.
std::optional<Verdict> by_record(const Module& module) {
  const ModuleKind* noted = nullptr;
  for (const Tensor* tensor : module.tensors)
    if (const ModuleKind* found = find_kind(tensor->recorded_kind); found != nullptr && !found->is_owner())
      if (noted == nullptr || noted->parameters.empty()) noted = found;
  if (noted == nullptr) return std::nullopt;
  return Verdict{noted, std::string(recorded_evidence)};
}

/// The path of which `name` is `path.tail`.
std::optional<std::string> path_before(std::string_view name, std::string_view tail) {
  if (name == tail) return std::string();
  if (!name.ends_with(tail) || name[name.size() - tail.size() - 1] != '.') return std::nullopt;
  return std::string(name.substr(0, name.size() - tail.size() - 1));
}

/// What a matrix and its bias prove. `rows` is the dimension that the bias of a Linear has in this layout.
std::optional<Verdict> by_bias(const Tensor& weight, const Tensor* bias, Direction direction) {
  if (!is_vector(bias)) return std::nullopt;
  const std::uint64_t length = bias->shape[0];
  const bool is_first = length == weight.shape[0];
  const bool is_second = length == weight.shape[1];
  if (is_first == is_second) return std::nullopt;
  const std::string evidence =
      fmt::format("bias {} is as long as the {} dimension of weight {}", to_string(bias->shape),
                  is_first ? "first" : "second", to_string(weight.shape));
  if (direction == Direction::pytorch_to_burn) return kind(is_first ? "Linear" : "Conv1D", evidence);
  // burn keeps [in, out]; the other way round would be a Linear saved in column layout.
  if (is_second) return kind("Linear", evidence);
  return std::nullopt;
}

/// What names and shapes of the module's own tensors prove, before anything rests on what it is called.
std::optional<Verdict> by_siblings(const Module& module, Direction direction) {
  const Tensor* weight = module.find("weight");
  const Tensor* bias = module.find("bias");
  const Tensor* gamma = module.find("gamma");
  const Tensor* beta = module.find("beta");
  if (module.find("running_mean") != nullptr && module.find("running_var") != nullptr)
    return kind("BatchNorm", "running_mean and running_var stand beside it");
  if (is_vector(gamma) && is_vector(beta) && gamma->shape == beta->shape)
    return kind("LayerNorm", "gamma and beta of one length");
  if (weight == nullptr) {
    const bool is_alpha = direction == Direction::burn_to_pytorch && is_vector(module.find("alpha")) &&
                          module.tensors.size() == 1 && !module.has_children;
    if (is_alpha) return kind("PRelu", "alpha stands alone");
    if (direction == Direction::burn_to_pytorch && is_vector(gamma)) {
      if (module.has_children)
        return kind("none", "gamma of a module that holds others: a parameter of its own");
      return std::nullopt;
    }
    return kind("none", "no weight of a layer");
  }
  switch (weight->shape.size()) {
    case 0:
      return kind("none", "a scalar");
    case 1:
      if (is_vector(bias) && bias->shape == weight->shape)
        return kind("LayerNorm", fmt::format("weight and bias are both {}", to_string(weight->shape)));
      return std::nullopt;
    case 2:
      return by_bias(*weight, bias, direction);
    default:
      return kind("Conv", fmt::format("weight has {} dimensions", weight->shape.size()));
  }
}

/// The part of a weight that PyTorch keeps in several and burn does not: of weight_norm or spectral_norm, as
/// hooks or as a parametrization.
const Tensor* reparametrised_part(const Module& module) {
  if (leaf_name(module_path(module.path)) == "parametrizations")
    for (const std::string_view leaf : {"original", "original0"})
      if (const Tensor* part = module.find(leaf)) return part;
  if (const Tensor* part = module.find("weight_orig")) return part;
  return module.find("weight_g") != nullptr ? module.find("weight_v") : nullptr;
}

/// Why a weight, and the bias beside it where there is one, cannot be those of a module of that kind.
std::optional<std::string> misfit_of_shapes(const Tensor& weight, const Tensor* bias, const ModuleKind& kind,
                                            Direction direction) {
  const std::size_t rank = weight.shape.size();
  const std::string shown = fmt::format("{} {}", leaf_name(weight.name), to_string(weight.shape));
  // Conv1D in another case is PyTorch's convolution; both are copied.
  if (kind.name == "Conv" || (kind.name == "Conv1D" && rank > 2))
    return rank > 2 ? std::nullopt : std::optional(shown + " has less than three dimensions");
  if (kind.name == "PRelu" && bias != nullptr) return "a bias stands beside it";
  if (!is_matrix_kind(kind)) return rank == 1 ? std::nullopt : std::optional(shown + " is no vector");
  if (rank == 3 && kind.name == "Linear") return std::nullopt;  // a stack of matrices
  if (rank != 2) return shown + " is no matrix";
  if (bias == nullptr) return std::nullopt;
  if (kind.name == "Embedding") return "a bias stands beside it";
  if (!is_vector(bias)) return fmt::format("bias {} is no vector", to_string(bias->shape));
  const bool is_first = kind.name == "Linear" && direction == Direction::pytorch_to_burn;
  if (bias->shape[0] == weight.shape[is_first ? 0 : 1]) return std::nullopt;
  return fmt::format("bias {} is not as long as the {} dimension of {}", to_string(bias->shape),
                     is_first ? "first" : "second", shown);
}

/// Why a module cannot be of the kind that it is said to be; nothing where it can.
std::optional<std::string> misfit(const Module& module, const ModuleKind& kind, Direction direction) {
  const bool is_to_burn = direction == Direction::pytorch_to_burn;
  if (kind.parameters.empty()) return std::nullopt;
  if (kind.is_owner())
    return fmt::format("no {} stands below it",
                       fmt::join(is_to_burn ? kind.owner.torch : kind.owner.burn.first(1), " or "));
  if (const Tensor* part = is_to_burn ? reparametrised_part(module) : nullptr)
    return fmt::format("{} is part of a weight that weight_norm or spectral_norm keeps in several",
                       leaf_name(part->name));
  constexpr std::string_view statistics = "running_mean";
  if (module.find(statistics) != nullptr &&
      std::ranges::find(kind.parameters, statistics, &ParameterRow::torch) == kind.parameters.end())
    return fmt::format("{} stands beside it", statistics);
  const ParameterRow& own = kind.parameters.front();
  const Tensor* weight = module.find(is_to_burn ? own.torch : own.burn);
  if (weight != nullptr) return misfit_of_shapes(*weight, module.find("bias"), kind, direction);
  for (const ModuleKind& owner : module_table())
    for (const std::string_view mark : owner.owner.torch)
      if (is_to_burn && module.find(mark) != nullptr) return fmt::format("{} is {}'s", mark, owner.name);
  return std::nullopt;
}

/// `layers.#.fc1` for `layers.12.fc1`.
std::string without_indices(std::string_view path) {
  std::string out;
  bool is_start = true;
  for (std::size_t i = 0; i < path.size();) {
    std::size_t end = path.find('.', i);
    if (end == std::string_view::npos) end = path.size();
    const std::string_view segment = path.substr(i, end - i);
    if (!is_start) out += '.';
    out += is_index(segment) ? std::string_view("#") : segment;
    is_start = false;
    i = end + 1;
  }
  return out;
}

/// `fc#` for `fc2`; empty for a name that ends in no digit, or is nothing but digits.
std::string without_number(std::string_view segment) {
  const std::size_t end = segment.find_last_not_of("0123456789") + 1;
  return end == 0 || end == segment.size() ? std::string() : std::string(segment.substr(0, end)) + "#";
}

/// `attention.query` for `layers.12.attention.query`: the last two parts that are no index; empty where there
/// are no two.
std::string with_parent(std::string_view path) {
  std::string_view parent = module_path(path);
  while (is_index(leaf_name(parent))) parent = module_path(parent);
  return parent.empty() ? std::string() : join_path(leaf_name(parent), leaf_name(path));
}

/// Kinds that are proven for some module, by how it is named; null where two kinds share a name.
class Neighbours {
 public:
  void add(std::string_view path, const ModuleKind* kind) {
    // One item of a list says nothing of the others: a Sequential holds whatever it likes.
    if (is_index(leaf_name(path))) return;
    put(by_path_, without_indices(path), kind);
    put(by_segment_, std::string(leaf_name(path)), kind);
    if (std::string name = with_parent(path); !name.empty()) put(by_parent_, std::move(name), kind);
    if (const std::string name = without_number(leaf_name(path)); !name.empty())
      put(by_number_, join_path(without_indices(module_path(path)), name), kind);
  }
  /// A module beside it that differs in the number at the end of its name: `fc1` beside `fc2`.
  std::optional<Verdict> find_numbered(std::string_view path) const {
    const std::string name = without_number(leaf_name(path));
    if (name.empty()) return std::nullopt;
    const auto found = by_number_.find(join_path(without_indices(module_path(path)), name));
    if (found == by_number_.end() || found->second == nullptr) return std::nullopt;
    return Verdict{found->second,
                   fmt::format("{} is proven to be one for other numbers", printable(found->first))};
  }
  std::optional<Verdict> find(std::string_view path) const {
    if (const auto found = by_path_.find(without_indices(path));
        found != by_path_.end() && found->second != nullptr)
      return Verdict{found->second,
                     fmt::format("{} is proven to be one for other indices", printable(found->first))};
    if (const auto found = by_parent_.find(with_parent(path));
        found != by_parent_.end() && found->second != nullptr)
      return Verdict{found->second,
                     fmt::format("every other {} is proven to be one", printable(found->first))};
    return std::nullopt;
  }
  /// A module elsewhere of the same name: what holds it may be of another sort.
  std::optional<Verdict> find_named(std::string_view path) const {
    if (const auto found = by_segment_.find(leaf_name(path));
        found != by_segment_.end() && found->second != nullptr)
      return Verdict{found->second,
                     fmt::format("every other {} is proven to be one", printable(found->first))};
    return std::nullopt;
  }

 private:
  using Kinds = std::map<std::string, const ModuleKind*, std::less<>>;
  static void put(Kinds& kinds, std::string name, const ModuleKind* kind) {
    const auto [at, is_new] = kinds.emplace(std::move(name), kind);
    if (!is_new && at->second != kind) at->second = nullptr;
  }
  Kinds by_path_;
  Kinds by_segment_;
  Kinds by_parent_;
  Kinds by_number_;
};

/// Whether a weight of so many dimensions can be one of that kind.
bool holds_rank(const ModuleKind& kind, std::size_t rank) {
  const bool is_matrix = is_matrix_kind(kind);
  return kind.name == "none" || (rank == 2 ? is_matrix : !is_matrix && kind.name != "Conv");
}

/// Whether the same happens to both: of a LayerNorm and an RmsNorm, say.
bool is_same_layout(const ModuleKind& a, const ModuleKind& b) {
  return a.parameters.data() == b.parameters.data();
}

/// burn has the outputs of a matrix in its columns, whatever its kind.
bool fits_a_side(const Tensor& weight, const Tensor& bias, Direction direction) {
  return bias.shape[0] == weight.shape[1] ||
         (direction == Direction::pytorch_to_burn && bias.shape[0] == weight.shape[0]);
}

/// What the catalogue says of the modules that tensors come from, under the names that they had before any
/// was changed and beside all that stood beside them.
class SourceEvidence {
 public:
  SourceEvidence(const Checkpoint& source, Direction direction)
      : source_(source), decisions_(decide_kinds(source, direction, {})) {
    for (const KindDecision& decision : decisions_) by_path_.emplace(decision.path, &decision);
  }

  /// The tensor as it was; null for one that was made of others.
  const Tensor* before(const Tensor& tensor) const {
    return tensor.origin ? &source_.tensors[*tensor.origin] : nullptr;
  }

  /// The decision on the module that the tensors come from; null where they come from several, or as parts.
  const KindDecision* find(const Module& module) const {
    const KindDecision* found = nullptr;
    for (const Tensor* tensor : module.tensors) {
      const Tensor* const was = before(*tensor);
      if (was == nullptr || was->shape.size() != tensor->shape.size()) return nullptr;
      const auto at = by_path_.find(module_path(was->name));
      if (at == by_path_.end() || (found != nullptr && found != at->second)) return nullptr;
      found = at->second;
    }
    return found;
  }

 private:
  const Checkpoint& source_;
  std::vector<KindDecision> decisions_;
  std::unordered_map<std::string_view, const KindDecision*> by_path_;
};

std::string undecided_reason(const Module& module) {
  const Tensor* weight = module.find("weight");
  const Tensor* bias = module.find("bias");
  if (weight == nullptr) return "gamma may be a norm's or a parameter of its own";
  if (weight->shape.size() == 1) return "a vector without a bias may be a norm's or an activation's";
  if (weight->shape[0] == weight->shape[1]) return "a square matrix: its shape cannot tell";
  if (!is_vector(bias)) return "a matrix without a bias may be a Linear's or an Embedding's";
  if (bias->shape[0] == weight->shape[0])
    return fmt::format("bias {} is as long as the first dimension, but burn keeps [in, out]",
                       to_string(bias->shape));
  return fmt::format("bias {} fits neither way", to_string(bias->shape));
}

class Decider {
 public:
  Decider(const Checkpoint& checkpoint, Direction direction, const std::vector<KindRule>& rules,
          const Target* target, const Checkpoint* source)
      : file_(checkpoint.file), direction_(direction), rules_(rules), quantised_(checkpoint, source) {
    if (source != nullptr) source_.emplace(*source, direction);
    if (target != nullptr)
      for (const TargetTensor& tensor : target->tensors) {
        target_.emplace(tensor.name, &tensor.shape);
        if (const ModuleKind* kind = find_kind(tensor.kind); kind != nullptr && !kind->parameters.empty())
          target_kinds_.emplace(
              kind->is_owner() ? owner_path(tensor.name, *kind) : std::string(module_path(tensor.name)),
              kind);
      }
    names_.reserve(checkpoint.tensors.size());
    for (const Tensor& tensor : checkpoint.tensors) names_.emplace(tensor.name, &tensor);
    for (const Tensor& tensor : checkpoint.tensors) sorted_names_.push_back(tensor.name);
    std::ranges::sort(sorted_names_);
    for (const Tensor& tensor : checkpoint.tensors) {
      const std::string_view path = module_path(tensor.name);
      const auto [at, is_new] = index_.emplace(path, modules_.size());
      if (is_new) modules_.push_back({path, {}, false});
      modules_[at->second].tensors.push_back(&tensor);
    }
    for (const Module& module : modules_)
      for (std::string_view path = module.path; !path.empty();) {
        path = module_path(path);
        if (const auto parent = index_.find(path); parent != index_.end())
          modules_[parent->second].has_children = true;
      }
  }

  std::vector<KindDecision> run() {
    find_owners();
    std::vector<std::size_t> open;  // decisions that only neighbours or names can settle
    Neighbours neighbours;
    for (const Module& module : modules_) {
      if (is_owned(module.path)) continue;
      KindDecision decision{std::string(module.path), nullptr, Strength::undecided, {}};
      const auto settle = [&](std::optional<Verdict> verdict, Strength strength) {
        if (!verdict || decision.kind != nullptr) return;
        decision.kind = verdict->kind;
        decision.strength = strength;
        decision.evidence = std::move(verdict->evidence);
      };
      settle(by_rule(module.path), Strength::given);
      settle(by_target(module), Strength::target);
      if (decision.kind != nullptr)
        if (const std::optional<std::string> against = misfit(module, *decision.kind, direction_))
          refuse_told(decision, *against);
      const std::optional<std::string> against =
          decision.kind == nullptr ? against_class(module) : std::nullopt;
      if (!against) settle(by_class(module), Strength::pickled_class);
      settle(by_record(module), Strength::recorded);
      const Tensor* part = direction_ == Direction::pytorch_to_burn ? reparametrised_part(module) : nullptr;
      if (part != nullptr && (decision.kind == nullptr || !decision.kind->parameters.empty())) {
        decisions_.push_back(
            {decision.path, nullptr, Strength::undecided,
             "part of a weight that weight_norm or spectral_norm keeps in several: fold them "
             "first, with torch.nn.utils.remove_weight_norm or its like",
             part->name, find_kind("none")});
        continue;
      }
      if (decision.kind == nullptr && against) {
        const std::optional<Verdict> siblings = by_siblings(module, direction_);
        decisions_.push_back({decision.path, nullptr, Strength::undecided, *against,
                              module.tensors.front()->name, siblings ? siblings->kind : find_kind("none")});
        continue;
      }
      if (decision.kind == nullptr && is_quantised(module))
        settle(kind("none", "a quantised weight: its numbers are packed in an order of their own"),
               Strength::siblings);
      if (decision.kind == nullptr) take_from_source(decision, module);
      if (decision.kind == nullptr) settle(by_siblings(module, direction_), Strength::siblings);
      if (decision.kind == nullptr && is_cut(module)) {
        leave_open(decision, module, *module.find("weight"));
        decision.evidence = "cut from a stack: nothing tells whether its rows are inputs or outputs";
        decisions_.push_back(std::move(decision));
        continue;
      }
      if (decision.kind == nullptr) {
        open.push_back(decisions_.size());
        open_modules_.push_back(&module);
      } else {
        neighbours.add(module.path, decision.kind);
      }
      decisions_.push_back(std::move(decision));
    }
    find_families();
    for (std::size_t i = 0; i < open.size(); ++i)
      settle_open(decisions_[open[i]], *open_modules_[i], neighbours);
    return std::move(decisions_);
  }

 private:
  /// Throws what speaks against a kind that was given.
  [[noreturn]] void refuse_told(const KindDecision& told, std::string_view against) const {
    throw Error(ErrorKind::refused,
                fmt::format("module {} cannot be {} ({}): {}", told.path.empty() ? "." : printable(told.path),
                            told.kind->name, told.evidence, against))
        .in_file(file_)
        .with_hint("narrow the pattern, or leave the module alone with " +
                   module_option(anchored_pattern(told.path), "none"));
  }

  /// What a module's own tensors say against its class, where that is not PyTorch's own: a class of the same
  /// name may keep its weight the other way round.
  std::optional<std::string> against_class(const Module& module) const {
    const std::optional<Verdict> said = by_class(module);
    if (!said || is_torch_class(module.tensors.front()->module_class)) return std::nullopt;
    const std::optional<std::string> against = misfit(module, *said->kind, direction_);
    if (!against) return std::nullopt;
    return fmt::format("{}, but {}", said->evidence, *against);
  }

  bool is_quantised(const Module& module) const {
    return std::ranges::any_of(module.tensors,
                               [&](const Tensor* t) { return quantised_.find(*t) != nullptr; });
  }

  /// Whether a matrix is a part of a tensor of more dimensions.
  bool is_cut(const Module& module) const {
    const Tensor* weight = module.find("weight");
    if (!source_ || weight == nullptr || weight->shape.size() != 2) return false;
    const Tensor* before = source_->before(*weight);
    return before != nullptr && before->shape.size() > 2;
  }

  /// What was proven of the module under the names of the file. Owners need their names, and a parameter that
  /// belonged to no layer may have become one's.
  void take_from_source(KindDecision& decision, const Module& module) const {
    const KindDecision* said = source_ ? source_->find(module) : nullptr;
    if (said == nullptr || said->kind == nullptr || said->strength <= Strength::name ||
        said->kind->is_owner() || said->kind->parameters.empty() || misfit(module, *said->kind, direction_))
      return;
    const std::optional<Verdict> own = by_siblings(module, direction_);
    if (own && own->kind == said->kind) return;  // proven by what is here as well
    decision.kind = said->kind;
    decision.strength = said->strength;
    decision.evidence = said->evidence;
    if (said->path == module.path) return;
    decision.evidence = fmt::format("as {} in the file: {}", printable(said->path), said->evidence);
    const Tensor* weight = module.find("weight");
    const NameHint* hint =
        weight == nullptr ? nullptr : find_name_hint(leaf_name(module.path), weight->shape.size());
    if (hint != nullptr && !is_same_layout(*find_kind(hint->kind), *said->kind))
      decision.contrary = hint->kind;
  }

  std::optional<Verdict> by_rule(std::string_view path) const {
    for (const KindRule& rule : rules_)
      if (rule.path.matches(path))
        return Verdict{rule.kind, fmt::format("given by `{}`", printable(rule.text))};
    return std::nullopt;
  }

  const Shape* target_shape(const Module& module, std::string_view leaf) const {
    const auto at = target_.find(join_path(module.path, leaf));
    return at == target_.end() ? nullptr : at->second;
  }

  const ModuleKind* target_kind(std::string_view path) const {
    const auto at = target_kinds_.find(std::string(path));
    return at == target_kinds_.end() ? nullptr : at->second;
  }

  /// What the names and shapes of the target say. A square matrix fits either way and says nothing.
  std::optional<Verdict> by_target(const Module& module) const {
    if (target_.empty()) return std::nullopt;
    if (const ModuleKind* noted = target_kind(module.path); noted != nullptr && !noted->is_owner())
      return Verdict{noted, "as the target notes it"};
    const Tensor* weight = module.find("weight");
    const Tensor* vector = weight != nullptr ? weight : module.find("gamma");
    const std::string_view norm_leaf = direction_ == Direction::pytorch_to_burn ? "gamma" : "weight";
    if (is_vector(vector) && target_shape(module, norm_leaf) != nullptr && vector != module.find(norm_leaf))
      return kind(module.find("running_mean") != nullptr ? "BatchNorm" : "LayerNorm",
                  fmt::format("the target has {} there", norm_leaf));
    if (is_vector(vector) && vector == module.find("gamma") && target_shape(module, "gamma") != nullptr)
      return kind("none", "the target has gamma there as well");
    if (is_vector(weight) && target_shape(module, "alpha") != nullptr)
      return kind("PRelu", "the target has alpha there");
    const Shape* wanted = target_shape(module, "weight");
    if (weight == nullptr || wanted == nullptr || weight->shape.size() != 2 || wanted->size() != 2 ||
        weight->shape[0] == weight->shape[1])
      return std::nullopt;
    const std::string evidence =
        fmt::format("the target's weight is {}, this one {}", to_string(*wanted), to_string(weight->shape));
    if (*wanted == weight->shape)
      return kind(module.find("bias") != nullptr ? "Conv1D" : "Embedding", evidence);
    if ((*wanted)[0] == weight->shape[1] && (*wanted)[1] == weight->shape[0]) return kind("Linear", evidence);
    return std::nullopt;
  }

  /// Modules that own all below their path (attention, recurrent layers): told by marks, or given. Those that
  /// hold others come first in the table.
  void find_owners() {
    for (const ModuleKind& kind : module_table()) {
      if (!kind.is_owner()) continue;
      const std::span<const std::string_view> marks =
          direction_ == Direction::pytorch_to_burn ? kind.owner.torch : kind.owner.burn.first(1);
      for (const Module& module : modules_)
        for (const Tensor* tensor : module.tensors)
          for (const std::string_view mark : marks)
            if (const std::optional<std::string> path = path_before(tensor->name, mark))
              consider_owner(*path, kind, *tensor);
    }
  }

  bool has_all(std::string_view path, std::span<const std::string_view> names) const {
    return std::ranges::all_of(names,
                               [&](std::string_view name) { return names_.contains(join_path(path, name)); });
  }

  /// What somebody who knows said of a module that owns others: the user, or an earlier conversion.
  std::optional<KindDecision> told_owner(const std::string& path, const Tensor& mark) const {
    if (std::optional<Verdict> given = by_rule(path))
      return KindDecision{path, given->kind, Strength::given, std::move(given->evidence)};
    if (const ModuleKind* noted = target_kind(path); noted != nullptr && noted->is_owner())
      return KindDecision{path, noted, Strength::target, "as the target notes it"};
    const ModuleKind* recorded = find_kind(mark.recorded_kind);
    if (recorded == nullptr || !recorded->is_owner()) return std::nullopt;
    return KindDecision{path, recorded, Strength::recorded,
                        std::string(mark.module_class.empty() ? recorded_evidence : pickled_evidence)};
  }

  /// What the names below `path` prove of it being of that kind; nothing when they do not.
  std::optional<std::string> owner_evidence(const std::string& path, const ModuleKind& kind,
                                            const Tensor& mark, bool is_told) const {
    if (direction_ == Direction::burn_to_pytorch) {
      if (!has_all(path, kind.owner.burn) || (!is_told && !holds_nothing_else(path, kind)))
        return std::nullopt;
      return fmt::format("{} stand below it", fmt::join(kind.owner.burn, ", "));
    }
    if (!has_all(path, kind.owner.torch_needs)) return std::nullopt;
    if (kind.gates == 0) return fmt::format("{} stands below it", leaf_name(mark.name));
    const std::string hidden_leaf = "weight_hh" + std::string(kind.suffix);
    const auto hidden = names_.find(join_path(path, hidden_leaf));
    if (hidden == names_.end() || hidden->second->shape.size() != 2 || mark.shape.size() != 2)
      return std::nullopt;
    const Shape& shape = hidden->second->shape;
    if (mark.shape[0] != shape[0] || shape[0] != shape[1] * kind.gates) return std::nullopt;
    return fmt::format("{} {} stacks {} gate{}", hidden_leaf, to_string(shape), kind.gates,
                       kind.gates == 1 ? "" : "s");
  }

  /// Whether all below `path` is of the kind: what holds more is a module of the user's own.
  bool holds_nothing_else(const std::string& path, const ModuleKind& kind) const {
    const std::string below = path.empty() ? path : path + ".";
    for (auto at = std::ranges::lower_bound(sorted_names_, std::string_view(below));
         at != sorted_names_.end() && at->starts_with(below); ++at)
      if (std::ranges::find(kind.parameters, at->substr(below.size()), &ParameterRow::burn) ==
          kind.parameters.end())
        return false;
    return true;
  }

  void consider_owner(const std::string& path, const ModuleKind& kind, const Tensor& mark) {
    if (is_owned(path)) return;
    std::optional<KindDecision> told = told_owner(path, mark);
    // The part has notes of its own, so it was no part of another module.
    if (const ModuleKind* noted = find_kind(mark.recorded_kind);
        !told && noted != nullptr && !noted->is_owner())
      return;
    std::optional<std::string> evidence = owner_evidence(path, kind, mark, told.has_value());
    const bool is_given = told && told->strength == Strength::given;
    if (!evidence && is_given && told->kind == &kind)
      refuse_told(*told, fmt::format("its names are those of one, but not its shapes ({} {})",
                                     leaf_name(mark.name), to_string(mark.shape)));
    if (!evidence) return;
    if (told && told->kind != &kind) {
      if (is_given && told->kind->is_owner() && !owner_evidence(path, *told->kind, mark, true))
        refuse_told(*told, fmt::format("{}, as of {}", *evidence, kind.name));
      // `none` takes the module apart, and its parts speak for themselves.
      if (told->kind->parameters.empty() && !index_.contains(path) && taken_apart_.insert(path).second)
        decisions_.push_back(std::move(*told));
      return;
    }
    const bool needs_telling = kind.owner.proof != Owner::Proof::marks;
    // A target without burn's names is a module of the user's own, made of the parts.
    if (needs_telling && !told && !target_.empty() && direction_ == Direction::pytorch_to_burn &&
        !std::ranges::all_of(kind.owner.burn,
                             [&](std::string_view leaf) { return target_.contains(join_path(path, leaf)); }))
      return;
    if (kind.owner.proof == Owner::Proof::told && !told) return;
    owners_.insert({path, decisions_.size()});
    if (told) decisions_.push_back(std::move(*told));
    else if (needs_telling)
      decisions_.push_back(
          {path, nullptr, Strength::undecided,
           "norm_first=True gives its norms other places, and neither names nor shapes tell",
           join_path(path, direction_ == Direction::pytorch_to_burn ? "norm1.weight" : "norm_1.gamma"),
           &kind});
    else decisions_.push_back({path, &kind, Strength::siblings, std::move(*evidence)});
  }

  bool is_owned(std::string_view path) const {
    for (std::string_view at = path;; at = module_path(at)) {
      if (owners_.contains(at)) return true;
      if (at.empty()) return false;
    }
  }

  void settle_open(KindDecision& decision, const Module& module, const Neighbours& neighbours) const {
    const Tensor* weight = module.find("weight");
    const Tensor* subject = weight != nullptr ? weight : module.find("gamma");
    const std::size_t rank = weight != nullptr ? weight->shape.size() : 1;
    // A bias that fits neither dimension contradicts whatever a name may say.
    if (rank == 2 && is_vector(module.find("bias")) &&
        !fits_a_side(*weight, *module.find("bias"), direction_)) {
      leave_open(decision, module, *subject);
      return;
    }
    const auto settle = [&](std::optional<Verdict> verdict, Strength strength) {
      if (decision.kind != nullptr || !verdict || !holds_rank(*verdict->kind, rank) ||
          misfit(module, *verdict->kind, direction_))
        return;
      decision.kind = verdict->kind;
      decision.strength = strength;
      decision.evidence = std::move(verdict->evidence);
    };
    settle(by_family(module.path), Strength::family);
    settle(neighbours.find(module.path), Strength::neighbour);
    std::optional<Verdict> named = neighbours.find_named(module.path);
    // An Embedding has no bias, and of what is left neither the number nor the place says anything.
    if (is_vector(module.find("bias"))) {
      settle(named, Strength::neighbour);
      settle(neighbours.find_numbered(module.path), Strength::neighbour);
    }
    if (decision.kind != nullptr) return;
    const NameHint* hint = find_name_hint(leaf_name(module.path), rank);
    if (named && !holds_rank(*named->kind, rank)) named.reset();
    if (hint != nullptr && named && !is_same_layout(*find_kind(hint->kind), *named->kind)) {
      leave_open(decision, module, *subject);
      decision.evidence =
          fmt::format("its name says {} ({}), but every other {} is proven to be {}", hint->kind, hint->why,
                      printable(leaf_name(module.path)), named->kind->name);
      return;
    }
    if (hint != nullptr)
      settle(kind(hint->kind, fmt::format("by its name alone ({})", hint->why)), Strength::name);
    if (named) named->evidence = fmt::format("by its name alone ({})", named->evidence);
    settle(std::move(named), Strength::name);
    if (decision.kind == nullptr) leave_open(decision, module, *subject);
    else hold_against_source(decision, module, *subject);
  }

  /// Of two names that say different things neither is to be believed.
  void hold_against_source(KindDecision& decision, const Module& module, const Tensor& subject) const {
    const KindDecision* said =
        source_ && decision.strength == Strength::name ? source_->find(module) : nullptr;
    if (said == nullptr || said->kind == nullptr || said->strength != Strength::name ||
        is_same_layout(*said->kind, *decision.kind))
      return;
    const std::string evidence =
        fmt::format("{} {}, but as {} in the file {} {}", decision.kind->name, decision.evidence,
                    printable(said->path), said->kind->name, said->evidence);
    decision.kind = nullptr;
    decision.strength = Strength::undecided;
    leave_open(decision, module, subject);
    decision.likely = nullptr;
    decision.evidence = evidence;
  }

  /// The families that the names are of. One of whose modules is proven to be something else is another
  /// model that happens to have the names.
  void find_families() {
    FamilyEvidence evidence;
    for (const Module& module : modules_) {
      const Tensor* weight = module.find("weight");
      evidence.add(module.path, weight == nullptr ? nullptr : &weight->shape);
    }
    for (const Family& family : family_table()) {
      if (family.is_pytorch_only && direction_ != Direction::pytorch_to_burn) continue;
      const bool is_one =
          std::ranges::all_of(family.marks, [&](const FamilyMark& mark) { return evidence.has(mark); });
      if (is_one && std::ranges::none_of(decisions_, [&](const KindDecision& decision) {
            return contradicts(decision, kind_in_family(family, decision.path));
          }))
        families_.push_back(&family);
    }
  }

  bool contradicts(const KindDecision& decision, std::string_view said) const {
    if (said.empty() || decision.kind == nullptr || decision.kind->parameters.empty()) return false;
    // A convolution or norm where the family has a matrix is another module of that name.
    return !is_same_layout(*decision.kind, *find_kind(said)) && holds_rank(*decision.kind, 2) &&
           holds_rank(*find_kind(said), 2);
  }

  std::optional<Verdict> by_family(std::string_view path) const {
    for (const Family* family : families_)
      if (const std::string_view said = kind_in_family(*family, path); !said.empty()) {
        std::vector<std::string_view> marks;
        for (const FamilyMark& mark : family->marks) marks.push_back(mark.path);
        return kind(said,
                    fmt::format("the names are those of {} ({})", family->name, fmt::join(marks, ", ")));
      }
    return std::nullopt;
  }

  void leave_open(KindDecision& decision, const Module& module, const Tensor& subject) const {
    decision.evidence = undecided_reason(module);
    decision.tensor = subject.name;
    // A PReLU has one number more often than a norm.
    decision.likely = find_kind(subject.shape.size() == 2   ? "Linear"
                                : subject.shape == Shape{1} ? "PRelu"
                                                            : "RmsNorm");
    if (misfit(module, *decision.likely, direction_)) decision.likely = find_kind("none");
  }

  const std::string& file_;
  Direction direction_;
  const std::vector<KindRule>& rules_;
  QuantisedParts quantised_;
  std::optional<SourceEvidence> source_;
  std::unordered_map<std::string, const Shape*> target_;
  std::unordered_map<std::string, const ModuleKind*> target_kinds_;  // by path, where the target notes it
  std::unordered_map<std::string_view, const Tensor*> names_;
  std::vector<std::string_view> sorted_names_;
  std::unordered_map<std::string_view, std::size_t> index_;
  std::vector<Module> modules_;
  std::vector<const Module*> open_modules_;
  std::vector<const Family*> families_;
  std::map<std::string, std::size_t, std::less<>> owners_;
  std::set<std::string> taken_apart_;
  std::vector<KindDecision> decisions_;
};

}  // namespace

bool is_matrix_kind(const ModuleKind& kind) {
  return kind.name == "Linear" || kind.name == "Conv1D" || kind.name == "Embedding";
}

std::string owner_path(std::string_view name, const ModuleKind& kind) {
  const std::string reverse = std::string(kind.suffix) + "_reverse";
  for (const ParameterRow& row : kind.parameters)
    for (const std::string& tail : {std::string(row.torch) + std::string(kind.suffix),
                                    std::string(row.torch) + reverse, std::string(row.burn)})
      if (std::optional<std::string> path = path_before(name, tail)) return *path;
  return std::string(module_path(name));
}

std::string_view module_path(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

std::string_view leaf_name(std::string_view name) { return name.substr(name.rfind('.') + 1); }

KindRule parse_kind_rule(std::string_view line) {
  const RuleText halves = [&] {
    try {
      return split_rule(line);
    } catch (Error& error) {
      throw error.with_hint("write REGEX => KIND");
    }
  }();
  if (halves.left.empty())
    throw Error(ErrorKind::usage, fmt::format("the rule `{}` has no pattern", printable(line)))
        .with_hint("write REGEX => KIND; ^$ is the module at the top level");
  const ModuleKind* kind = find_kind(halves.right);
  if (kind == nullptr) {
    std::vector<std::string_view> all;
    for (const ModuleKind& row : module_table()) all.push_back(row.name);
    throw Error(ErrorKind::usage, fmt::format("`{}` is not a kind of module", printable(halves.right)))
        .with_hint(fmt::format("one of {}", fmt::join(all, ", ")));
  }
  Regex path(halves.left);
  return {halves.left + " => " + halves.right, std::move(path), kind};
}

std::vector<KindRule> parse_kind_rules(std::string_view text, std::string_view file) {
  std::vector<KindRule> rules;
  for (const NumberedLine& line : rule_lines(text)) {
    try {
      rules.push_back(parse_kind_rule(line.text));
    } catch (Error& error) {
      throw error.in(fmt::format("line {}", line.number)).in_file(file);
    }
  }
  return rules;
}

std::string anchored_pattern(std::string_view path) {
  std::string pattern = "^";
  for (const char c : path) {
    // A > may be half of the arrow between a pattern and a kind.
    if (std::string_view("\\.^$|()[]{}*+?#>").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern + "$";
}

std::unordered_map<std::string, std::string> recorded_kinds(const Checkpoint& checkpoint) {
  std::unordered_map<std::string, std::string> kinds;
  const auto note = checkpoint.metadata.find(std::string(kinds_key));
  if (note == checkpoint.metadata.end()) return kinds;
  for (const NumberedLine& line : rule_lines(note->second)) {
    const std::size_t arrow = line.text.rfind(" => ");
    if (arrow != std::string::npos) kinds.emplace(line.text.substr(0, arrow), line.text.substr(arrow + 4));
  }
  return kinds;
}

std::string module_option(std::string_view pattern, std::string_view kind) {
  return "--module " + shell_word(fmt::format("{} => {}", pattern, kind));
}

Checkpoint take_recorded_kinds(Checkpoint checkpoint) {
  const auto note = checkpoint.metadata.find(std::string(kinds_key));
  if (note == checkpoint.metadata.end()) return checkpoint;
  const std::unordered_map<std::string, std::string> kinds = recorded_kinds(checkpoint);
  for (Tensor& tensor : checkpoint.tensors)
    for (std::string_view path = module_path(tensor.name);; path = module_path(path)) {
      if (const auto note_of = kinds.find(std::string(path)); note_of != kinds.end()) {
        const ModuleKind* kind = find_kind(note_of->second);
        // Of a module further up it is the tensor's kind too when that one owns all below it.
        if (path == module_path(tensor.name) || (kind != nullptr && kind->is_owner()))
          tensor.recorded_kind = note_of->second;
        break;
      }
      if (path.empty()) break;
    }
  checkpoint.metadata.erase(note);
  return checkpoint;
}

Checkpoint put_recorded_kinds(Checkpoint checkpoint) {
  std::string text;
  std::string last = "\n";  // no path
  for (const Tensor& tensor : checkpoint.tensors) {
    if (tensor.recorded_kind.empty()) continue;
    const ModuleKind* kind = find_kind(tensor.recorded_kind);
    std::string path = kind != nullptr && kind->is_owner() ? owner_path(tensor.name, *kind)
                                                           : std::string(module_path(tensor.name));
    if (path == last) continue;
    last = std::move(path);
    text += fmt::format("{} => {}\n", last, tensor.recorded_kind);
  }
  if (!text.empty()) checkpoint.metadata[std::string(kinds_key)] = text;
  return checkpoint;
}

std::string record_kinds(const std::vector<KindDecision>& decisions) {
  std::string text;
  for (const KindDecision& decision : decisions)
    if (decision.kind != nullptr) text += fmt::format("{} => {}\n", decision.path, decision.kind->name);
  return text;
}

std::string modules_file(const std::vector<KindDecision>& decisions, std::string_view source) {
  std::string text =
      fmt::format("# Kinds of the modules of {}: PATTERN of the path => KIND; the first match wins.\n",
                  printable(source));
  for (const KindDecision& decision : decisions) {
    if (decision.kind == nullptr) continue;
    if (decision.strength <= Strength::neighbour) text += fmt::format("# {}\n", printable(decision.evidence));
    text += fmt::format("{} => {}\n", anchored_pattern(decision.path), decision.kind->name);
  }
  return text;
}

std::vector<KindDecision> decide_kinds(const Checkpoint& checkpoint, Direction direction,
                                       const std::vector<KindRule>& rules, const Target* target,
                                       const Checkpoint* source) {
  return Decider(checkpoint, direction, rules, target, source).run();
}

}  // namespace ckpt
