#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/core/input.hpp"

namespace ckpt {

/// A tensor that the file describes and does not hold whole, or that repeats what it holds too often.
struct Lost {
  std::string name;
  std::string why;
};

/// What is left of a damaged file.
struct Salvaged {
  Checkpoint checkpoint;   ///< the tensors that are whole; `notes` says what could not be proved
  std::vector<Lost> lost;  ///< the others
};

/// Reads what is provably whole: every byte is there and, where the file states a checksum, it is right (the
/// data of such files is read once). Names, types and shapes are never guessed: where the part of the file
/// that states them is damaged, this throws. A sound file loses only what may not be written (`why`).
Salvaged salvage(const Input& input);

/// For formats whose header states everything and comes first: a file that `read` refuses is read again as if
/// its end were not known, and the tensors are told apart by where they lie.
Salvaged salvage_by_header(const Input& input, Checkpoint (*read)(const Input& input));

}  // namespace ckpt
