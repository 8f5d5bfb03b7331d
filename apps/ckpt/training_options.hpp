#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace ckpt {

/// The options of `convert` that take training along.
struct TrainingOptions {
  std::string optimizer_out, scheduler_out;  ///< burn's records to write
  std::string optimizer, scheduler;          ///< files to read the state from, beside the input
  std::string optimizer_key, optimizer_kind, param_names;
  std::vector<std::string> hypers;
  std::string model;  ///< whose parameters an optimizer's record may speak of
  bool drop_orphans = false;
  bool may_lack_scheduler = false;  ///< an empty record, which is a constant rate's, takes its place then

  void add(CLI::App& app);
  bool is_wanted() const {
    return !optimizer_out.empty() || !scheduler_out.empty() || !optimizer.empty() || !scheduler.empty() ||
           drop_orphans;
  }
};

}  // namespace ckpt
