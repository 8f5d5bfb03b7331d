#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/training/schedulers.hpp"
#include "ckpt/training/state.hpp"
#include "terminal.hpp"

namespace ckpt {

/// What `inspect` shows of training: every optimizer's state by parameter, every scheduler's count.
class TrainingView {
 public:
  /// Whose norms are computed: reading them takes as long as the moments are large.
  enum class Norms { none, small, all };

  /// Looks through a checkpoint as it was read. What cannot be read is told in the place of the table.
  TrainingView(const Checkpoint& checkpoint, Norms norms);

  void print(const Paint& paint) const;
  /// Null where there is nothing.
  Value json() const;

 private:
  struct Optimizer {
    OptimizerState state;
    std::string unread;                      ///< why `state` could not be read
    std::vector<std::vector<double>> norms;  ///< by parameter and moment; empty where not computed
    bool is_record = false;
  };
  void read(const Checkpoint& checkpoint, Norms norms);
  void name_parameters(const Checkpoint& checkpoint, OptimizerState& state) const;
  void measure(Optimizer& optimizer, Norms norms) const;
  void print_optimizer(const Optimizer& optimizer, const Paint& paint) const;
  Value optimizer_json(const Optimizer& optimizer) const;

  std::vector<Optimizer> optimizers_;
  std::size_t more_ = 0;                              // that are not looked at
  std::vector<std::vector<std::string>> schedulers_;  // where, which, how far
};

}  // namespace ckpt
