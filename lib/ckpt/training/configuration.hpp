#pragma once

#include <string>
#include <vector>

#include "ckpt/training/state.hpp"

namespace ckpt {

/// burn's configuration for one group of PyTorch's, since hyper-parameters do not travel in burn's record.
struct BurnConfiguration {
  std::string code;                      ///< `AdamConfig::new().with_epsilon(1e-8)`
  std::vector<std::string> differences;  ///< `epsilon is 1e-8 (burn's default: 1e-5)`
  std::vector<std::string> lacking;      ///< `maximize is true: burn's AdamConfig has no such setting`
};
BurnConfiguration burn_configuration(const OptimizerKind& kind, const Value& hypers);

/// Settings whose type in Python the state does not tell, so that PyTorch may get another: `(1, 2)` for
/// `[1, 2]`, the text `torch.float16` for the type. By their keys, each once.
std::vector<std::string> inexact_settings(const OptimizerState& state);

/// The learning rate of a group; nothing where it states none that is a number.
std::optional<double> learning_rate(const Value& hypers);

/// A number as Rust spells a float: `1e-8`, `0.9`, `2.0`.
std::string rust_float(double value);

/// A setting of all groups as the command line gives it (`lr=0.05`). Throws `usage` for one that the row
/// lacks, for a value that is not of the type which the row states, and where it takes a moment that the
/// state lacks.
void set_hyper(OptimizerState& state, std::string_view assignment);

}  // namespace ckpt
