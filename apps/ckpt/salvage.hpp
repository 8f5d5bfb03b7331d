#pragma once

#include <string>

#include "command.hpp"
#include "options.hpp"

namespace ckpt {

struct SalvageOptions {
  std::string input, output;
  TalkOptions talk;
  ResourceOptions resources;
  bool force = false;
  bool json = false;
};

/// Writes the tensors of a damaged file that are provably whole and lists the others. `no` when some are
/// lost; throws, and writes nothing, when all are.
ExitStatus run_salvage(const SalvageOptions& options);

}  // namespace ckpt
