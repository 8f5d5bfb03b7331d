#include "ckpt/report/pairing.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ckpt/report/both_lists.hpp"
#include "ckpt/report/item_pairs.hpp"
#include "ckpt/report/likeness.hpp"
#include "ckpt/report/name_template.hpp"
#include "ckpt/report/pair_checks.hpp"

namespace ckpt {
namespace {

// Two partners that are no further apart than this cannot be told apart.
constexpr double margin = 0.04;
// A partner that is less like than this is none, also where it is the only one.
constexpr double least_score = 0.38;
// What a module whose other tensors are paired says of the rest.
constexpr double neighbour_weight = 0.3;
// A bias is taken before the weight that it belongs to.
constexpr double loose_weight = 0.15;
// What modules say that stand beside it in the same one.
constexpr double outer_weight = 0.1;
// A template that finds a place for all names of its form, against one that fits some by chance.
constexpr double support_weight = 0.1;
// A matrix whose shape nothing else has.
constexpr double unique_shape_weight = 0.3;
// A matrix that need not be transposed, where none is known to be.
constexpr double exact_weight = 0.05;
// A series of matrices that are not all of one shape.
constexpr double telling_series_weight = 0.3;
// Series of one shape are each other's only if they are called more alike, or their modules are.
constexpr double least_series_score = 0.6;
// A tensor of a norm, or of a layer with a matrix, against one of the other kind.
constexpr double module_kind_weight = 0.3;

/// Takes pairs, the likeliest first, while what is taken teaches about the others.
class Pairing {
 public:
  Pairing(std::span<const NamedShape> source, std::span<const NamedShape> target) : lists_(source, target) {
    for (const NamedShape& tensor : source) source_modules_.insert(module_of(tensor.name));
    for (const NamedShape& tensor : target) target_modules_.insert(module_of(tensor.name));
    for (const Name& name : sources_) ++shapes_of_source_[name.shape];
    for (const Name& name : targets_) ++shapes_of_target_[name.shape];
  }

  NamePairs run() {
    is_transposed_ = has_transposed();
    is_cut_ = !items_.find(templates_);
    take_identical();
    if (!is_cut_) find_templates();
    // Matrices say more than vectors, and tell the modules that these belong to.
    for (const bool with_vectors : {false, true})
      while (take_certain(with_vectors)) {
      }
    for (Template& each : templates_) each.pairs.clear();
    std::erase_if(result_, [&](const NamePair& p) {
      return !is_identical(p) && is_outvoted(p.family, p.source, p.target);
    });
    drop_unfounded(lists_, has_whole_sets_, result_);
    // Each item of a series has a number that needs its own rule; one tensor of a module stands for all.
    std::set<std::pair<std::size_t, std::size_t>> modules;
    for (std::size_t i = 0; i < result_.size(); ++i)
      if (templates_[result_[i].family].source_series != nullptr &&
          modules.emplace(sources_[result_[i].source].module, targets_[result_[i].target].module).second)
        result_[i].family = templates_.size() + i;
    return {std::move(result_), is_cut_};
  }

 private:
  /// Whether some matrix of either list is in the other transposed only.
  bool has_transposed() {
    const auto lacks = [&](const std::vector<Name>& names, const auto& others) {
      return std::ranges::any_of(names, [&](const Name& name) {
        const NamedShape& tensor = *name.tensor;
        if (tensor.shape.size() != 2 || others.contains(name.shape)) return false;
        return others.contains(shape_id(lists_.texts, tensor.dtype, {tensor.shape[1], tensor.shape[0]}));
      });
    };
    return lacks(sources_, shapes_of_target_) || lacks(targets_, shapes_of_source_);
  }

  bool has_whole_set(const std::vector<Name>& names) const {
    std::unordered_set<std::string_view> segments;
    for (const Name& name : names)
      for (const std::size_t segment : name.segments) segments.insert(lists_.texts.text(segment));
    return holds_gated_set([&](std::string_view segment) { return segments.contains(segment); });
  }

  bool is_identical(const NamePair& pair) const { return lists_.have_one_name(pair.source, pair.target); }

  /// Of names in more kinds than any model has, nothing but equal ones is paired: with some of the candidates
  /// left out, a wrong one could look like the only one.
  void find_templates() {
    const auto known = static_cast<std::ptrdiff_t>(templates_.size());
    if (TemplateFinder(lists_, items_, structure_, templates_).find_all()) return;
    templates_.erase(templates_.begin() + known, templates_.end());
    is_cut_ = true;
  }

  /// What has one name and one shape on both sides is itself, unless its list counts otherwise.
  void take_identical() {
    std::map<std::size_t, std::size_t> family_of_class;
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      const Name& source = sources_[s];
      const auto found = lists_.target_by_name.find(source.tensor->name);
      if (found == lists_.target_by_name.end() || targets_[found->second].shape != source.shape) continue;
      if (items_.is_doubtful(s)) continue;
      for (std::size_t i = 0; i < source.numbers.size(); ++i)
        if (lists_.have_different_counts(s, found->second, i)) items_.doubt(s);
      if (items_.is_doubtful(s)) continue;
      const auto [family, is_new] = family_of_class.try_emplace(source.name_class, templates_.size());
      if (is_new)
        templates_.push_back({.source_class = source.name_class,
                              .target_class = source.name_class,
                              .fixed = std::vector<std::size_t>(source.numbers.size(), no_id),
                              .slots = all_kept(source),
                              .pairs = {}});
      take({s, found->second, family->second});
    }
  }

  /// Whether more pairs than a family can have were taken by another that has a place for either name, and
  /// there a different one: the true partner is missing.
  bool is_outvoted(std::size_t family, std::size_t s, std::size_t t) const {
    const auto is_stronger = [&](std::size_t other) {
      return other != family && taken_of_family_.at(other) > most_of_family(family) &&
             templates_[other].source_series == nullptr;
    };
    const Name& source = sources_[s];
    const Name& target = targets_[t];
    if (const auto found = families_of_source_class_.find(source.name_class);
        found != families_of_source_class_.end())
      for (const std::size_t other : found->second) {
        const Template& by = templates_[other];
        if (is_stronger(other) && is_meant(by, source) &&
            may_lack(name_of(lists_.target_parts.classes.at(by.target_class), by.slots, source, lists_.texts),
                     target_modules_, source))
          return true;
      }
    if (const auto found = families_of_target_class_.find(target.name_class);
        found != families_of_target_class_.end())
      for (const std::size_t other : found->second) {
        const Template& by = templates_[other];
        if (is_stronger(other) && is_result(by, target) &&
            may_lack(origin_of(lists_.source_parts.classes.at(by.source_class), by, target, lists_.texts),
                     source_modules_, target))
          return true;
      }
    return false;
  }

  /// Whether a list may lack this partner of `other`: a tensor goes missing, seldom a module of several.
  static bool may_lack(std::string_view name, const std::unordered_set<std::string_view>& modules,
                       const Name& other) {
    return other.module_size < 2 || modules.contains(module_of(name));
  }

  /// Pairs of a family that were taken or may still be.
  std::size_t most_of_family(std::size_t family) const {
    const auto found = taken_of_family_.find(family);
    return (found == taken_of_family_.end() ? 0 : found->second) + templates_[family].pairs.size();
  }

  /// What the modules that two tensors belong to say, or else the modules around these: their other tensors
  /// are paired with each other, or with those of somebody else.
  double neighbour_score(const Name& source, const Name& target) const {
    if (source.module == no_id || target.module == no_id) return 0;
    if (const std::optional<bool> is_same = are_paired(source.module, target.module)) {
      if (*is_same) return neighbour_weight;
      // A weight and its bias are one module on both sides.
      return source.module_size > 1 && target.module_size > 1 ? -1 : -neighbour_weight;
    }
    const bool is_loose = !source.is_own_kind() && !target.is_own_kind();
    const bool is_beside = source.outer != no_id && are_paired(source.outer, target.outer).value_or(false);
    return (is_beside ? outer_weight : 0) - (is_loose ? loose_weight : 0);
  }

  /// Whether tensors of one module were paired with those of the other; nothing where none was paired.
  std::optional<bool> are_paired(std::size_t source, std::size_t target) const {
    const auto a = module_of_source_.find(source);
    if (a == module_of_source_.end() && !module_of_target_.contains(target)) return std::nullopt;
    return a != module_of_source_.end() && a->second.contains(target);
  }

  double score(const Template& candidate, std::size_t s, std::size_t t) {
    const Name& source = sources_[s];
    const Name& target = targets_[t];
    double sum = candidate.likeness + support_weight * candidate.support + neighbour_score(source, target);
    if (!is_transposed_ && source.shape == target.shape) sum += exact_weight;
    if (candidate.is_telling) sum += telling_series_weight;
    if (source.module_size > 1 && target.module_size > 1 && source.module_rank != target.module_rank)
      sum -= module_kind_weight;
    if (source.tensor->name == target.tensor->name) sum += 1;
    if (source.shape == target.shape && source.tensor->shape.size() > 1 &&
        shapes_of_source_.at(source.shape) == 1 && shapes_of_target_.at(target.shape) == 1)
      sum += unique_shape_weight;
    return sum;
  }

  Likeness::Segments source_words(const Template& of) const {
    return of.source_series != nullptr ? of.source_series->segments
                                       : sources_[of.pairs.front().first].segments;
  }
  Likeness::Segments target_words(const Template& of) const {
    return of.target_series != nullptr ? of.target_series->segments
                                       : targets_[of.pairs.front().second].segments;
  }

  struct Choice {
    std::size_t partner = no_id;
    std::size_t family = no_id;
    double score = -1;
    double second = -1;  // the best of any other partner

    void offer(std::size_t other, double value, std::size_t of) {
      if (other == partner) {
        if (value > score) score = value, family = of;
      } else if (value > score) {
        second = score;
        partner = other, score = value, family = of;
      } else {
        second = std::max(second, value);
      }
    }
  };

  /// Takes every pair that is the only good choice of both; false when there was none.
  bool take_certain(bool with_vectors) {
    std::vector<Choice> of_source(sources_.size());
    std::vector<Choice> of_target(targets_.size());
    for (std::size_t f = 0; f < templates_.size(); ++f) {
      Template& candidate = templates_[f];
      std::erase_if(candidate.pairs, [&](const auto& pair) {
        return sources_[pair.first].is_taken || targets_[pair.second].is_taken;
      });
      if (candidate.pairs.empty()) continue;
      candidate.likeness = likeness_.of_names(source_words(candidate), target_words(candidate));
      for (const auto& [s, t] : candidate.pairs) {
        const double value = score(candidate, s, t);
        of_source[s].offer(t, value, f);
        of_target[t].offer(s, value, f);
      }
    }
    std::vector<NamePair> taken;
    double best = 0;
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      const Choice& choice = of_source[s];
      if (choice.partner == no_id || (!with_vectors && sources_[s].tensor->shape.size() < 2)) continue;
      const Template& by = templates_[choice.family];
      if (choice.score < (by.source_series != nullptr && !by.is_telling ? least_series_score : least_score))
        continue;
      const Choice& back = of_target[choice.partner];
      if (back.partner != s || choice.score - choice.second < margin || back.score - back.second < margin)
        continue;
      if (is_outvoted(choice.family, s, choice.partner)) continue;
      taken.push_back({s, choice.partner, choice.family});
      best = std::max(best, choice.score);
    }
    // The likeliest first: what they teach may change the mind about the others.
    constexpr double band = 0.15;
    bool is_any = false;
    for (const NamePair& pair : taken) {
      if (of_source[pair.source].score < best - band) continue;
      take(pair);
      is_any = true;
    }
    return is_any;
  }

  void take(const NamePair& pair) {
    Name& source = sources_[pair.source];
    Name& target = targets_[pair.target];
    source.is_taken = target.is_taken = true;
    const auto pair_modules = [&](std::size_t a, std::size_t b) {
      if (a == no_id || b == no_id) return;
      module_of_source_[a].insert(b);
      module_of_target_[b].insert(a);
    };
    pair_modules(source.module, target.module);
    pair_modules(source.outer, target.outer);
    if (++taken_of_family_[pair.family] == 1) {
      const Template& by = templates_[pair.family];
      if (by.source_series != nullptr)
        likeness_.learn(by.source_series->segments, by.target_series->segments);
      else likeness_.learn(source.segments, target.segments);
      families_of_source_class_[source.name_class].push_back(pair.family);
      families_of_target_class_[target.name_class].push_back(pair.family);
    }
    result_.push_back(pair);
  }

  BothLists lists_;
  std::vector<Name>& sources_ = lists_.sources;
  std::vector<Name>& targets_ = lists_.targets;
  bool has_whole_sets_{has_whole_set(sources_) && has_whole_set(targets_)};
  Likeness likeness_{lists_.texts, has_whole_sets_};
  ItemStructure structure_{lists_};
  ItemPairs items_{lists_, likeness_, structure_};
  std::vector<Template> templates_;
  bool is_transposed_ = false;
  bool is_cut_ = false;
  std::unordered_set<std::string_view> source_modules_, target_modules_;
  std::unordered_map<std::size_t, std::size_t> shapes_of_source_, shapes_of_target_;
  std::unordered_map<std::size_t, std::set<std::size_t>> module_of_source_, module_of_target_;
  std::unordered_map<std::size_t, std::size_t> taken_of_family_;
  std::unordered_map<std::size_t, std::vector<std::size_t>> families_of_source_class_,
      families_of_target_class_;
  std::vector<NamePair> result_;
};

}  // namespace

NamePairs pair_names(std::span<const NamedShape> source, std::span<const NamedShape> target) {
  NamePairs result = Pairing(source, target).run();
  std::vector<NamePair>& pairs = result.pairs;
  drop_other_items(source, target, pairs);
  drop_occupied(source, target, pairs);
  std::ranges::sort(pairs, {}, &NamePair::source);
  return result;
}

}  // namespace ckpt
