#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/report/findings.hpp"

namespace ckpt {

/// What `check` is asked of an optimizer's state.
struct CheckTraining {
  std::string model;          ///< the file that the state belongs to
  std::string optimizer_key;  ///< which optimizer, where there are several
  bool optimizer = false;     ///< check the state, and tell how far burn's arithmetic lies from the exact one

  void add(CLI::App& app);

  /// What is wrong with the state in `checkpoint`; nothing when nobody asked.
  std::vector<Finding> findings(const Checkpoint& checkpoint) const;
  /// Lines on Adam's bias correction at the steps of the state.
  std::vector<std::string> drift(const Checkpoint& checkpoint) const;
};

}  // namespace ckpt
