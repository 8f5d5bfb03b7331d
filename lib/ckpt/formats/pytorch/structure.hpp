#pragma once

#include <string>
#include <vector>

#include "ckpt/formats/pytorch/opened.hpp"
#include "ckpt/formats/pytorch/reach.hpp"
#include "ckpt/formats/pytorch/values.hpp"

namespace ckpt::pytorch {

/// A container or object as the walk sees it.
struct Structure {
  std::vector<Entry> entries;
  std::vector<Entry> beside;  ///< of a module: what holds tensors that its state_dict() leaves out
  std::size_t items =
      0;  ///< of the pickle's containers that were looked at for it, those that come twice too
  bool is_sequence = false;
  bool is_module = false;
  bool is_optimizer = false;  ///< has `state` and `param_groups`
  bool shows_values = true;   ///< whether what holds no tensor is shown beside them
  std::string class_name;     ///< of an object that is no plain container
  std::string module_class;   ///< of the module that owns the tensors directly in it
  std::string_view kind;      ///< of a module that owns all below it, where its attributes say it
};

/// Takes a node apart. A pickled nn.Module gives what its state_dict() would: parameters, persistent buffers,
/// and the modules in it. `script` is given for a TorchScript archive, whose
/// objects are modules with plain attributes.
Structure structure_of(const Document& document, NodeId id, const ScriptMembers* script, Reach& reach);

}  // namespace ckpt::pytorch
