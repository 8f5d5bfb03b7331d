#pragma once

#include <string>
#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/formats/pytorch/document.hpp"

namespace ckpt::pytorch {

/// What every container comes down to: one document with its storages found, and what was odd on the way.
struct Opened {
  std::string container;  ///< `zip`, `legacy`, `tar`, `pickle`, `torchscript`
  Document document;
  std::vector<Integrity> integrity;
  std::vector<std::string> notes;
};

}  // namespace ckpt::pytorch
