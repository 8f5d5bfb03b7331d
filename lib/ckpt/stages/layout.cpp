#include "ckpt/stages/layout.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "ckpt/codec/regex.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/quoted.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/stages/cast.hpp"
#include "ckpt/stages/names.hpp"
#include "ckpt/stages/remap.hpp"

namespace ckpt {
namespace {

/// One module as both worlds name it.
struct Instance {
  const ModuleKind* kind = nullptr;
  std::size_t decision = 0;
  std::string torch_path;
  std::string torch_suffix;  // `_l0`, `_l0_reverse` of a recurrent module
  std::string burn_path;

  std::string torch_name(const ParameterRow& row) const {
    return join_path(torch_path, row.torch) + torch_suffix;
  }
  std::string burn_name(const ParameterRow& row) const { return join_path(burn_path, row.burn); }
};

/// A row of the table at one instance.
struct Place {
  const Instance* instance = nullptr;
  const ParameterRow* row = nullptr;
};

using Places = std::unordered_map<std::string, std::vector<Place>>;
using Index = std::unordered_map<std::string, std::size_t>;

[[noreturn]] void refuse(const Checkpoint& checkpoint, std::string what, std::string hint) {
  throw Error(ErrorKind::refused, std::move(what)).in_file(checkpoint.file).with_hint(std::move(hint));
}

bool is_recurrent_mark(std::string_view leaf) {
  return std::ranges::any_of(module_table(), [&](const ModuleKind& kind) {
    return kind.gates != 0 && std::ranges::find(kind.owner.torch, leaf) != kind.owner.torch.end();
  });
}

/// `^layers\.\d+$` for `layers.3`: what holds for one layer mostly holds for all.
std::string pattern_of_all(std::string_view path) {
  std::string pattern;
  for_each_segment(path, [&](std::string_view, std::string_view segment) {
    const std::string one = anchored_pattern(segment);
    pattern += (pattern.empty() ? "" : "\\.") +
               (is_index(segment) ? std::string("\\d+") : one.substr(1, one.size() - 2));
  });
  return "^" + pattern + "$";
}

void refuse_undecided(const Checkpoint& checkpoint, const std::vector<KindDecision>& decisions) {
  constexpr std::size_t most = 10;
  std::size_t count = 0;
  std::vector<std::string> tensors;
  std::vector<std::string> lines;
  bool is_order_of_norms = false;
  for (const KindDecision& decision : decisions) {
    if (decision.kind != nullptr) continue;
    if (++count <= most) {
      const auto tensor = std::ranges::find(checkpoint.tensors, decision.tensor, &Tensor::name);
      tensors.push_back(
          fmt::format("{} {} ({})", printable(tensor->name), to_string(tensor->shape), decision.evidence));
    }
    const bool is_owner = decision.likely != nullptr && decision.likely->is_owner();
    is_order_of_norms = is_order_of_norms || is_owner;
    std::string line =
        module_option(is_owner ? pattern_of_all(decision.path) : anchored_pattern(decision.path),
                      decision.likely == nullptr ? "KIND" : decision.likely->name);
    if (lines.size() < most && (lines.empty() || lines.back() != line)) lines.push_back(std::move(line));
  }
  if (count == 0) return;
  const std::string more = count > most ? fmt::format(", and {} more", count - most) : "";
  refuse(checkpoint,
         fmt::format("the layout of {} tensor{} is undecided: {}{}", count, count == 1 ? "" : "s",
                     fmt::join(tensors, "; "), more),
         fmt::format("say what they are ({}Linear is transposed; Embedding and Conv1D are not; none is left "
                     "alone): {}",
                     is_order_of_norms ? "KIND(norm_first) is a layer with norm_first=True; " : "",
                     fmt::join(lines, " ")));
}

class Layout {
 public:
  Layout(Checkpoint checkpoint, Direction direction, const std::vector<KindRule>& rules, const Target* target,
         const Checkpoint* source, Undecided undecided)
      : checkpoint_(std::move(checkpoint)), quantised_(checkpoint_, source) {
    report_.direction = direction;
    report_.decisions = decide_kinds(checkpoint_, direction, rules, target, source);
    if (undecided == Undecided::guessed) guess();
    refuse_undecided(checkpoint_, report_.decisions);
    for (std::size_t i = 0; i < checkpoint_.tensors.size(); ++i)
      index_.emplace(checkpoint_.tensors[i].name, i);
    for (std::size_t i = 0; i < report_.decisions.size(); ++i) {
      decision_of_path_.emplace(report_.decisions[i].path, i);
      add_instances(i);
    }
    for (const Instance& instance : instances_)
      for (const ParameterRow& row : instance.kind->parameters) {
        by_torch_[instance.torch_name(row)].push_back({&instance, &row});
        if (!row.burn.empty()) by_burn_[instance.burn_name(row)].push_back({&instance, &row});
      }
  }

  LaidOut run() {
    const std::vector<Tensor> tensors = std::move(checkpoint_.tensors);
    sources_ = &tensors;
    for (const Tensor& tensor : tensors) {
      if (report_.direction == Direction::pytorch_to_burn) to_burn(tensor);
      else to_torch(tensor);
    }
    checkpoint_.tensors = std::move(results_);
    checkpoint_.metadata[std::string(layout_key)] =
        report_.direction == Direction::pytorch_to_burn ? "burn" : "pytorch";
    checkpoint_.metadata[std::string(kinds_key)] = record_kinds(applied_decisions());
    find_not_applied();
    std::ranges::move(dropped_steps_, std::back_inserter(report_.steps));
    require_unique_names(checkpoint_, [&](std::size_t i) {
      return fmt::format("{}", fmt::join(report_.steps[i].from, " + "));
    });
    return {std::move(checkpoint_), std::move(report_)};
  }

 private:
  void guess() {
    for (KindDecision& decision : report_.decisions) {
      if (decision.kind != nullptr) continue;
      decision.kind = decision.likely != nullptr ? decision.likely : find_kind("none");
      report_.guessed.push_back(decision.path.empty() ? "." : decision.path);
    }
  }

  /// What was done to each module. One whose tensors have names that its kind does not know was left alone,
  /// and the way back has to leave it alone too (BERT's `gamma` and `beta` are PyTorch's names there).
  std::vector<KindDecision> applied_decisions() const {
    std::vector<KindDecision> applied = report_.decisions;
    for (std::size_t i = 0; i < applied.size(); ++i)
      if (!applied_.contains(i)) applied[i].kind = find_kind("none");
    return applied;
  }

  /// Kinds of which no tensor of the module has a name. A norm of burn's has gamma and beta; one with a
  /// weight and a bias was named by PyTorch.
  void find_not_applied() {
    for (std::size_t i = 0; i < report_.decisions.size(); ++i) {
      const KindDecision& decision = report_.decisions[i];
      if (applied_.contains(i) || decision.kind->parameters.empty()) continue;
      const std::string path = decision.path.empty() ? "." : decision.path;
      if (decision.strength == Strength::given) report_.idle.push_back(path);
      if (decision.strength == Strength::siblings && report_.direction == Direction::burn_to_pytorch &&
          decision.kind->parameters.front().burn == "gamma")
        report_.foreign.push_back(path);
    }
  }

  void add_instances(std::size_t decision) {
    const KindDecision& d = report_.decisions[decision];
    if (d.kind->parameters.empty()) return;
    const auto has = [&](const std::string& name) { return index_.contains(name); };
    const std::string suffix(d.kind->suffix);
    if (!suffix.empty() && report_.direction == Direction::pytorch_to_burn &&
        has(join_path(d.path, "weight_ih" + suffix + "_reverse"))) {
      instances_.push_back({d.kind, decision, d.path, suffix, join_path(d.path, "forward")});
      instances_.push_back({d.kind, decision, d.path, suffix + "_reverse", join_path(d.path, "reverse")});
    } else if (!suffix.empty() && report_.direction == Direction::burn_to_pytorch &&
               is_half_of_bidirectional(d)) {
      const bool is_reverse = leaf_name(d.path) == "reverse";
      instances_.push_back({d.kind, decision, std::string(module_path(d.path)),
                            is_reverse ? suffix + "_reverse" : suffix, d.path});
    } else {
      instances_.push_back({d.kind, decision, d.path, suffix, d.path});
    }
  }

  bool is_half_of_bidirectional(const KindDecision& d) const {
    const std::string_view leaf = leaf_name(d.path);
    if (leaf != "forward" && leaf != "reverse") return false;
    const std::string other = join_path(module_path(d.path), leaf == "forward" ? "reverse" : "forward");
    return index_.contains(join_path(other, d.kind->owner.burn.front()));
  }

  /// The decision on the module that owns a tensor, nearest path first.
  std::size_t decision_of(std::string_view name) const {
    for (std::string_view path = module_path(name);; path = module_path(path)) {
      if (const auto at = decision_of_path_.find(std::string(path)); at != decision_of_path_.end())
        return at->second;
      if (path.empty()) return 0;
    }
  }

  void require_whole_elements(const Tensor& tensor, std::string_view what) const {
    if (!tensor.pieces.empty())
      refuse(checkpoint_,
             fmt::format("tensor {} is joined from others and cannot be {}", printable(tensor.name), what),
             "write what was joined to a file first, then convert that");
    if (element_size(tensor.view.stored) == 0 || info(tensor.dtype).kind == DTypeClass::quantized)
      refuse(checkpoint_,
             fmt::format("tensor {}: {} data is packed and cannot be {}", printable(tensor.name),
                         name(tensor.dtype), what),
             "leave it as it is with " + module_option(anchored_pattern(module_path(tensor.name)), "none"));
  }

  Tensor transposed_matrix(const Tensor& tensor, const Instance& instance) const {
    const std::size_t rank = tensor.shape.size();
    if (rank != 2 && rank != 3)  // three dimensions are a stack of matrices
      refuse(checkpoint_,
             fmt::format("tensor {} {} of a {} is not a matrix", printable(tensor.name),
                         to_string(tensor.shape), instance.kind->name),
             "say what it is with " + module_option(anchored_pattern(module_path(tensor.name)), "KIND"));
    require_whole_elements(tensor, "transposed");
    if (quantised_.find(tensor) != nullptr)
      refuse(checkpoint_,
             fmt::format("tensor {} is part of a quantised weight: its rows and columns are packed in an "
                         "order of their own",
                         printable(tensor.name)),
             "leave it as it is with " + module_option(anchored_pattern(module_path(tensor.name)), "none"));
    return transposed(tensor, rank - 2, rank - 1);
  }

  void keep(const Tensor& tensor) {
    const std::size_t decision = decision_of(tensor.name);
    refuse_unknown_part(tensor, decision);
    report_.steps.push_back({tensor.name, {tensor.name}, "unchanged", decision});
    results_.push_back(tensor);
  }

  /// A tensor below a fused module that the table has no row for would be lost on the other side.
  void refuse_unknown_part(const Tensor& tensor, std::size_t decision) const {
    if (report_.decisions.empty()) return;
    const KindDecision& d = report_.decisions[decision];
    if (report_.direction == Direction::pytorch_to_burn && d.strength != Strength::given &&
        is_recurrent_mark(leaf_name(tensor.name)))
      refuse(checkpoint_,
             fmt::format("tensor {} is a recurrent module's, but its weight_hh_l0 fits none that burn has",
                         printable(tensor.name)),
             "leave the module as it is with " +
                 module_option(anchored_pattern(module_path(tensor.name)), "none"));
    if (!d.kind->is_owner()) return;
    const bool is_to_burn = report_.direction == Direction::pytorch_to_burn;
    const std::string pattern = anchored_pattern(d.path);
    // A further layer is a module of its own in burn, and rules can make it one here.
    const bool is_layer =
        is_to_burn && d.kind->gates != 0 && Regex("_l[1-9]\\d*(_reverse)?$").matches(tensor.name);
    const auto layers_of = [&] {
      const std::string before = d.path.empty() ? "^" : pattern.substr(0, pattern.size() - 1) + "\\.";
      return shell_word(
          fmt::format("{}(\\w+)_l(\\d+)(_reverse)?$ => {}", before, join_path(d.path, "$2.${1}_l0$3")));
    };
    const std::string other = is_layer
                                  ? "make a list of layers of it, as burn has it: --rename " + layers_of()
                                  : "drop the tensor with --exclude";
    refuse(checkpoint_,
           fmt::format("tensor {}: {}'s {} has no place for it", printable(tensor.name),
                       is_to_burn ? "burn" : "PyTorch", d.kind->name),
           fmt::format("leave the module as it is with {}, or {}", module_option(pattern, "none"), other));
  }

  void to_burn(const Tensor& tensor) {
    const auto found = by_torch_.find(tensor.name);
    if (found == by_torch_.end()) return keep(tensor);
    applied_.insert(found->second.front().instance->decision);
    for (const auto& [instance, row] : found->second) {
      if (row->operation == Operation::drop) {
        report_.dropped.push_back(tensor.name);
        dropped_steps_.push_back({.name = {},
                                  .from = {tensor.name},
                                  .what = "dropped: burn has no such tensor",
                                  .decision = instance->decision,
                                  .is_dropped = true});
        continue;
      }
      Tensor piece = tensor;
      LayoutStep step{instance->burn_name(*row), {tensor.name}, "", instance->decision};
      if (row->parts > 1) {
        if (tensor.shape.empty() || tensor.shape[0] % row->parts != 0)
          refuse(checkpoint_,
                 fmt::format("tensor {} {} cannot be cut into {} equal parts", printable(tensor.name),
                             to_string(tensor.shape), row->parts),
                 "leave the module as it is with " +
                     module_option(anchored_pattern(instance->torch_path), "none"));
        require_whole_elements(tensor, "cut");
        const std::uint64_t count = tensor.shape[0] / row->parts;
        piece = rows(std::move(piece), row->part * count, count);
        step.what =
            fmt::format("rows {} to {} of {}", row->part * count, (row->part + 1U) * count, tensor.shape[0]);
        if (row->part == 0) ++report_.split;
        ++report_.parts;
      }
      finish(std::move(piece), std::move(step), *row, *instance);
    }
  }

  void to_torch(const Tensor& tensor) {
    const auto found = by_burn_.find(tensor.name);
    if (found == by_burn_.end()) return keep(tensor);
    const Place* place = choose(found->second);
    applied_.insert(place->instance->decision);
    const std::string name = place->instance->torch_name(*place->row);
    if (place->row->parts == 1) {
      LayoutStep step{name, {tensor.name}, "", place->instance->decision};
      return finish(tensor, std::move(step), *place->row, *place->instance);
    }
    if (!joined_.emplace(name, true).second) return;  // made when its first part was met
    std::vector<Tensor> pieces;
    LayoutStep step{name, {}, "", place->instance->decision};
    for (const Place& part : by_torch_.at(name)) {
      const Tensor* piece = find(part.instance->burn_name(*part.row));
      if (piece == nullptr)
        refuse(checkpoint_,
               fmt::format("{} of PyTorch's {} needs {}, which is missing", printable(name),
                           part.instance->kind->name, printable(part.instance->burn_name(*part.row))),
               "leave the module as it is with " +
                   module_option(anchored_pattern(part.instance->burn_path), "none"));
      step.from.push_back(piece->name);
      pieces.push_back(part.row->operation == Operation::transpose ? transposed_matrix(*piece, *part.instance)
                                                                   : *piece);
      require_whole_elements(pieces.back(), "joined");
    }
    step.what = fmt::format("joined from {}{}", pieces.size(),
                            place->row->operation == Operation::transpose ? ", each transposed" : "");
    step.is_transposed = place->row->operation == Operation::transpose;
    report_.merged += pieces.size();
    ++report_.wholes;
    results_.push_back(joined(name, std::move(pieces)));
    results_.back().param_id.reset();
    report_.steps.push_back(std::move(step));
  }

  /// The fused row, or the alternative one where the parts differ in shape.
  const Place* choose(const std::vector<Place>& places) const {
    const auto is_alternative = [](const Place& place) { return place.row->is_alternative; };
    const auto alternative = std::ranges::find_if(places, is_alternative);
    if (alternative == places.end()) return &places.front();
    const Place& fused = *std::ranges::find_if_not(places, is_alternative);
    const Tensor* first = nullptr;
    for (const Place& part : by_torch_.at(fused.instance->torch_name(*fused.row))) {
      const Tensor* piece = find(part.instance->burn_name(*part.row));
      if (piece == nullptr) continue;
      if (first != nullptr && piece->shape != first->shape) return &*alternative;
      first = piece;
    }
    return &fused;
  }

  const Tensor* find(const std::string& name) const {
    const auto at = index_.find(name);
    return at == index_.end() ? nullptr : &(*sources_)[at->second];
  }

  void finish(Tensor tensor, LayoutStep step, const ParameterRow& row, const Instance& instance) {
    const std::string before = tensor.name;
    if (row.operation == Operation::transpose) {
      tensor = transposed_matrix(tensor, instance);
      step.is_transposed = true;
    }
    step.is_renamed = step.name != before;
    for (const auto& [is_so, word] :
         {std::pair{step.is_transposed, "transposed"}, std::pair{step.is_renamed, "renamed"}})
      if (is_so) step.what += (step.what.empty() ? "" : ", ") + std::string(word);
    if (step.what.empty()) step.what = "unchanged";
    if (row.parts > 1) tensor.param_id.reset();
    tensor.name = step.name;
    results_.push_back(std::move(tensor));
    report_.steps.push_back(std::move(step));
  }

  Checkpoint checkpoint_;
  QuantisedParts quantised_;
  LayoutReport report_;
  Index index_;
  Index decision_of_path_;
  std::unordered_set<std::size_t> applied_;  // decisions that some tensor follows
  std::vector<Instance> instances_;
  Places by_torch_;
  Places by_burn_;
  std::unordered_map<std::string, bool> joined_;
  const std::vector<Tensor>* sources_ = nullptr;
  std::vector<Tensor> results_;
  std::vector<LayoutStep> dropped_steps_;
};

}  // namespace

LaidOut lay_out(Checkpoint checkpoint, Direction direction, const std::vector<KindRule>& rules,
                const Target* target, const Checkpoint* source, Undecided undecided) {
  if (direction == Direction::none) return {std::move(checkpoint), {}};
  return Layout(std::move(checkpoint), direction, rules, target, source, undecided).run();
}

}  // namespace ckpt
