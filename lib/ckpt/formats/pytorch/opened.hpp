#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/formats/pytorch/document.hpp"

namespace ckpt::pytorch {

/// By class of a TorchScript archive: its parameters and buffers. Other tensor attributes are constants of
/// the program. A class that is not in the table declares nothing.
using ScriptMembers = std::unordered_map<std::string, std::unordered_set<std::string>>;

/// What a container's reader does about storages that are cut off or damaged.
enum class Damage {
  refused,    ///< it throws
  tolerated,  ///< it gives them a `fault`, and compares checksums to find them
};

/// What every container comes down to: one document with its storages found, and what was odd on the way.
struct Opened {
  std::string container;  ///< `zip`, `legacy`, `tar`, `pickle`, `torchscript`
  Document document;
  ScriptMembers script_members = {};  ///< of a TorchScript archive
  std::vector<Integrity> integrity;
  std::vector<std::string> hidden;  ///< as in `Checkpoint`
  std::vector<std::string> notes;
};

}  // namespace ckpt::pytorch
