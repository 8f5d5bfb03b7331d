#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/stages/kinds.hpp"

namespace ckpt {

/// How one tensor of the result came to be.
struct LayoutStep {
  std::string name;               ///< in the result
  std::vector<std::string> from;  ///< names before; several where parts were joined
  std::string what;               ///< `transposed`, `renamed`, `rows 0 to 8 of 24, transposed`, `unchanged`
  std::size_t decision = 0;       ///< index into `LayoutReport::decisions`
  bool is_renamed = false;
  bool is_transposed = false;
  bool is_dropped = false;  ///< not in the result
};

struct LayoutReport {
  Direction direction = Direction::none;
  std::vector<KindDecision> decisions;
  std::vector<LayoutStep> steps;     ///< one a tensor of the result, in its order, then the dropped ones
  std::vector<std::string> dropped;  ///< what the other world has no place for
  std::vector<std::string> guessed;  ///< modules whose kind was undecided, where that is guessed
  std::vector<std::string> idle;     ///< modules with a given kind of which no tensor has a name
  std::vector<std::string> foreign;  ///< norms, coming from burn, whose parameters PyTorch's names are
  std::uint64_t split = 0;           ///< tensors that were cut into parts, and …
  std::uint64_t parts = 0;           ///< … how many parts they became
  std::uint64_t merged = 0;          ///< tensors that were joined, and …
  std::uint64_t wholes = 0;          ///< … how many they became
};

struct LaidOut {
  Checkpoint checkpoint;
  LayoutReport report;
};

/// What becomes of a module whose kind nothing decides.
enum class Undecided { refused, guessed };

/// Carries a catalogue between PyTorch's layout and burn's: names of parameters, transposes, and
/// modules whose parameters one side fuses. No byte moves.
///
/// Throws `refused` when a layout stays undecided (all such tensors are listed, the hint gives the lines
/// that settle them), when a module has something that the other side lacks, or when two names become
/// one.
///
/// With `Undecided::guessed`, for those who look at names alone, it is taken for what it most likely is
/// instead: a wrong guess spoils no more than its own names.
///
/// A `source` is the catalogue before names were changed or left out, which says more (`decide_kinds`).
LaidOut lay_out(Checkpoint checkpoint, Direction direction, const std::vector<KindRule>& rules,
                const Target* target = nullptr, const Checkpoint* source = nullptr,
                Undecided undecided = Undecided::refused);

}  // namespace ckpt
