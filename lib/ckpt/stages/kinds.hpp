#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ckpt/codec/regex.hpp"
#include "ckpt/core/checkpoint.hpp"
#include "ckpt/stages/match.hpp"
#include "ckpt/stages/modules.hpp"

namespace ckpt {

/// Which way tensors go between PyTorch's layout and burn's.
enum class Direction { none, pytorch_to_burn, burn_to_pytorch };

/// `REGEX => KIND`: the modules whose path the expression matches are of that kind.
struct KindRule {
  std::string text;
  Regex path;
  const ModuleKind* kind = nullptr;
};

/// Throws `usage`: no arrow, a bad expression, an unknown kind (the hint lists all).
KindRule parse_kind_rule(std::string_view line);
/// Every rule of a modules file; errors name `file` and the line.
std::vector<KindRule> parse_kind_rules(std::string_view text, std::string_view file);

/// What a decision rests on, weakest first.
enum class Strength { undecided, name, neighbour, family, siblings, recorded, pickled_class, target, given };

/// What kind of module the tensors below one path belong to, and why.
struct KindDecision {
  std::string path;                  ///< of the module, without the tensor's own name
  const ModuleKind* kind = nullptr;  ///< null while undecided
  Strength strength = Strength::undecided;
  std::string evidence;     ///< one clause: `bias [3] is as long as the first dimension of weight [3, 4]`
  std::string tensor = {};  ///< while undecided: the one that it is about, and …
  const ModuleKind* likely = nullptr;  ///< … what a hint may propose; null where names contradict each other
  std::string contrary = {};           ///< what its name says instead, where that is not heeded
};

/// Decides for every module of the catalogue, in the order in which the modules appear. With a `target`, its
/// names and shapes are evidence as well. A module whose
/// tensors are none of a layer's (a bare parameter) is of kind `none`.
///
/// `source` is the catalogue before names were changed or left out, in which tensors know their places
/// (`Tensor::origin`). What it proves of their modules holds under the new names too; the names that it gave
/// them are no weaker than the new ones.
std::vector<KindDecision> decide_kinds(const Checkpoint& checkpoint, Direction direction,
                                       const std::vector<KindRule>& rules, const Target* target = nullptr,
                                       const Checkpoint* source = nullptr);

/// Metadata keys under which a conversion notes what it decided, so that the way back needs no flags: the
/// layout that the tensors are in (`pytorch`, `burn`), and a line `PATH => KIND` for every module.
inline constexpr std::string_view layout_key = "ckpt.layout";
inline constexpr std::string_view kinds_key = "ckpt.kinds";

/// What the metadata notes, by path.
std::unordered_map<std::string, std::string> recorded_kinds(const Checkpoint& checkpoint);
/// Puts what the metadata notes onto the tensors, where it follows them through renames; the notes go.
Checkpoint take_recorded_kinds(Checkpoint checkpoint);
/// The notes of the tensors as metadata again, for a checkpoint that goes on in the layout that it has.
Checkpoint put_recorded_kinds(Checkpoint checkpoint);
/// The text for `kinds_key`: modules that are left alone (`none`) as well, which look like layers in the
/// other world.
std::string record_kinds(const std::vector<KindDecision>& decisions);
/// A modules file: every decision as a rule that matches just its module, weak ones with their evidence.
std::string modules_file(const std::vector<KindDecision>& decisions, std::string_view source);
/// `--module 'PATTERN => KIND'`, to be pasted into a shell.
std::string module_option(std::string_view pattern, std::string_view kind);
/// `^layers\.0\.proj$`: a pattern that matches just this path.
std::string anchored_pattern(std::string_view path);

/// Whether the weight of such a module is a matrix: a Linear, a Conv1D or an Embedding.
bool is_matrix_kind(const ModuleKind& kind);

/// The path of the module of that kind that a tensor of this name belongs to, in either world's spelling.
std::string owner_path(std::string_view name, const ModuleKind& kind);

/// The path of the module that owns a tensor of that name: all before the last dot.
std::string_view module_path(std::string_view name);
/// The tensor's own name: all after the last dot.
std::string_view leaf_name(std::string_view name);

}  // namespace ckpt
