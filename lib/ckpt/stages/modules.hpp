#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ckpt {

/// What happens to a parameter on its way between PyTorch's layout and burn's.
enum class Operation : std::uint8_t {
  copy,
  transpose,  ///< the two dimensions of a matrix change places
  drop,       ///< burn has no such tensor
};

/// One parameter of a kind of module: where it stands in both worlds.
struct ParameterRow {
  std::string_view torch;  ///< path below the module in a PyTorch state dict
  std::string_view burn;   ///< path below the module in a burn record; empty when dropped
  Operation operation = Operation::copy;
  std::uint8_t part = 0;   ///< burn's tensor is this part …
  std::uint8_t parts = 1;  ///< … of so many equal parts of the first dimension of PyTorch's
  /// PyTorch has this tensor instead of the fused one, where the parts differ in shape.
  bool is_alternative = false;
};

/// How a kind that owns everything below its path is told by the names there.
struct Owner {
  enum class Proof : std::uint8_t {
    marks,  ///< the names prove it
    told,   ///< the names are those of the kind that follows in the table: only who knows says it is this one
    asked,  ///< the names prove that it is this kind or the one before, which no file tells
  };
  std::span<const std::string_view> torch = {};        ///< in PyTorch any of these …
  std::span<const std::string_view> torch_needs = {};  ///< … and all of these
  std::span<const std::string_view> burn = {};         ///< in burn all of these
  Proof proof = Proof::marks;
};

/// One kind of module: a row of the table of modules.
struct ModuleKind {
  std::string_view name;                           ///< as `--module` spells it
  std::span<const std::string_view> aliases = {};  ///< other spellings, and the last part of class names
  std::span<const ParameterRow> parameters = {};
  Owner owner = {};  ///< without names for kinds that are told by their weight and its siblings
  /// Of a recurrent kind: how many gates PyTorch stacks in the rows of `weight_hh`, and …
  unsigned gates = 0;
  std::string_view suffix = {};  ///< … what PyTorch's names of its one layer end in

  bool is_owner() const { return !owner.burn.empty(); }
};

/// The table. What burn has of each kind is in burn-nn; what PyTorch has, in torch.nn.
std::span<const ModuleKind> module_table();

/// The kind of that name or alias, in any case; null for an unknown one.
const ModuleKind* find_kind(std::string_view name);

}  // namespace ckpt
