#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/training/carry.hpp"
#include "ckpt/training/join.hpp"
#include "ckpt/training/state.hpp"
#include "pipeline.hpp"
#include "writing.hpp"

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

/// The number of a tensor that holds one.
double read_number(const Tensor& tensor);

/// The state of the optimizer that `checkpoint` holds, of either side; nothing where it holds none. Throws
/// `refused` when it holds several and `key` does not choose.
std::optional<OptimizerState> read_optimizer(const Checkpoint& checkpoint, const std::string& key = {});

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
  /// Warnings go to `prepared`; returns what is to be written in its place.
  Prepared complete(Prepared& prepared);
  const Format& format() const noexcept { return format_; }

  /// Writes the records, which get their names by `commit` only.
  void write(const WriteOptions& options);
  void commit();

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
  void read_state(const Checkpoint& whole, const StageOptions::Parsed& stages);
  void read_schedulers(const Checkpoint& whole);
  void forget(Prepared& prepared) const;
  void make_record(Prepared& prepared);
  void tell_configuration(Prepared& prepared) const;
  void make_group(Prepared& prepared);
  Prepared nested(const Prepared& prepared);

  const TrainingOptions& options_;
  Format format_;
  std::optional<OptimizerState> state_;
  Join join_;
  std::vector<std::string> explained_, orphans_, lost_;
  std::size_t orphan_tensors_ = 0;
  std::vector<std::string> configurations_, warnings_;
  bool is_of_input_ = false;          // the state lies in the input itself
  bool is_left_behind_ = false;       // the input holds an optimizer that nobody asked for
  std::optional<Value> scheduler_;    // as PyTorch takes it
  std::vector<std::string> places_;   // of the input, that are carried
  std::vector<Integrity> integrity_;  // of the file that holds the state
  std::vector<Record> records_;
};

}  // namespace ckpt
