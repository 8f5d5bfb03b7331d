#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/training/carry.hpp"
#include "ckpt/training/join.hpp"
#include "ckpt/training/state.hpp"
#include "optimizer_source.hpp"
#include "pipeline.hpp"
#include "training_options.hpp"
#include "writing.hpp"

namespace ckpt {

/// What is carried beside the weights of one conversion: read and joined at once, laid out with the model,
/// written with it.
class Training {
 public:
  /// Reads the state that the options call for, and joins it with the model in `whole`, the input as it was
  /// read. Orphans are dropped from `whole` where it is a record itself. Throws `usage`, `refused`.
  Training(const TrainingOptions& options, Checkpoint& whole, const StageOptions::Parsed& stages,
           const Format& format);

  /// Takes the state through the layout, `prepared` being on its way there.
  void carry_along(Prepared& prepared, Direction direction, const StageOptions::Parsed& stages,
                   const Target* target);
  /// Gives the finished model its ids and makes burn's records, or puts all into one training checkpoint.
  /// Warnings go to `prepared`; returns what is to be written in its place, where that is something else.
  std::optional<Prepared> complete(Prepared& prepared);
  const Format& format() const noexcept { return format_; }

  /// Writes the records, which get their names by `commit` only.
  void write(const WriteOptions& options);
  void commit();
  /// Reads the records back and compares them with what was planned.
  void verify(const Talk& talk) const;

  /// What was carried, and with `explain` how each parameter was matched.
  void print(bool explain, const Talk& talk) const;
  Value json() const;

 private:
  struct Record {
    std::string path;
    Checkpoint checkpoint;
    std::unique_ptr<AtomicOutput> output = {};
  };
  void drop_orphans_of_record(Checkpoint& whole);
  void take_source(OptimizerSource source);
  void read_schedulers(const Checkpoint& whole);
  void take_burn_scheduler(const Checkpoint& record);
  void forget(Prepared& prepared) const;
  void make_record(Prepared& prepared);
  void tell_configuration(Prepared& prepared) const;
  void make_group(Prepared& prepared);
  void follow_like(Prepared& prepared, LikeOptimizer like);
  void order_parameters(Prepared& prepared);
  Prepared nested(const Prepared& prepared);

  const TrainingOptions& options_;
  Format format_;
  std::string like_;  // the target of --like
  std::optional<OptimizerSource> source_;
  std::vector<std::string> order_;  // of the source's model, by the names of OUT
  std::vector<std::string> orphans_, lost_;
  std::size_t orphan_tensors_ = 0;
  std::vector<std::string> configurations_, warnings_;
  std::string_view keeping_option_;  // what would keep an optimizer of the input that nobody asked for
  std::optional<Value> scheduler_;   // as PyTorch takes it
  std::vector<std::string> places_;  // of the input, that are carried
  std::vector<Record> records_;
};

}  // namespace ckpt
