#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ckpt/core/checkpoint.hpp"

namespace ckpt {

/// How an operation that the user asked for made one tensor.
struct Edit {
  std::string name;               ///< of the result
  std::vector<std::string> from;  ///< names before; several where tensors became one, none for a new tensor
  std::string what;               ///< `dequantized`, `stacked from 8`, …
};

/// What an operation did. Names that it did not touch are not listed.
struct EditReport {
  std::vector<Edit> edits;
  std::string summary;               ///< one line for the report
  std::vector<std::string> dropped;  ///< names that the operation used up without making a tensor of them
  std::uint64_t merged = 0;          ///< how many tensors fewer there are because some became one
  std::uint64_t split = 0;           ///< how many more, because one became some
  std::uint64_t added = 0;           ///< how many that were made of nothing, or as another name of one
};

struct Edited {
  Checkpoint checkpoint;
  EditReport report;
};

}  // namespace ckpt
