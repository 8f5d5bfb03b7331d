#pragma once

#include <signal.h>

#include <CLI/CLI.hpp>
#include <array>
#include <string>

#include "ckpt/formats/format.hpp"
#include "ckpt/io/output.hpp"
#include "ckpt/kernels/emit.hpp"
#include "pipeline.hpp"
#include "terminal.hpp"

namespace ckpt {

/// The options of commands that write a checkpoint.
struct WriteOptions {
  bool force = false;
  bool dry_run = false;
  bool allow_overflow = false;
  ResourceOptions resources;

  void add(CLI::App& app);
};

/// While it lives, SIGINT, SIGTERM and SIGHUP end the output, which cleans up, instead of the process; a pipe
/// that nobody reads any more is an error of the output.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  AtomicOutput::Options output_options(bool replace) const;

 private:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, signals.size()> before_{};
  struct sigaction pipe_before_{};
};

/// The layout of `checkpoint` in `format`; errors name the file that it was read from.
Plan plan_output(const Checkpoint& checkpoint, const Format& format);
/// Emits `plan` and then compares the checksums of everything that was read for it.
/// Returns what casting lost.
std::vector<CastReport> emit_output(const Plan& plan, const Checkpoint& checkpoint, Sink& sink,
                                    const Resources& resources);
/// Throws `refused`, naming the tensors, where a finite number became infinite.
void require_no_overflow(const std::vector<CastReport>& casts, const Checkpoint& checkpoint);
/// What casting lost: a line for all, and one for each tensor that lost something.
void print_casts(const std::vector<CastReport>& casts, const Checkpoint& checkpoint, const Talk& talk);
/// The same as JSON, a row for each tensor that was cast.
Value casts_json(const std::vector<CastReport>& casts, const Checkpoint& checkpoint);
/// Reads the output back, compares every element with what was planned and says what that proved. Throws
/// `corrupt` where they differ.
void verify_output(const Prepared& prepared, const std::string& path, const Talk& talk);

/// The row of the format that `name` (of `--to`) or else the output's extension calls for. Throws `usage`.
const Format& output_format(const std::string& name, const std::string& path);

/// What was written.
struct Written {
  std::uint64_t size = 0;  ///< bytes
  std::vector<CastReport> casts = {};
  std::vector<std::string> removed = {};  ///< of the set that stood there, what the new one has no file for
};

/// Lays `prepared` out in `format` and, unless this is a dry run, writes it to `path`: whole or not at
/// all, checksums of what was read compared before it gets its name. Returns the size in bytes.
Written write_checkpoint(const Prepared& prepared, const Format& format, const std::string& path,
                         const WriteOptions& options, const Talk& talk);

/// Adds a warning for everything beside the tensors that `format` has no place for.
void warn_of_losses(Prepared& prepared, const Format& format);

/// Counts of what became of every tensor; `read + added = written + merged - split + dropped` holds.
struct Account {
  std::uint64_t read = 0, added = 0, written = 0, merged = 0, split = 0, dropped = 0;
  std::uint64_t renamed = 0, transposed = 0, cast = 0;
  std::vector<std::string> dropped_names;
};
Account account(const Prepared& prepared);

/// The summary, and with `explain` one line a tensor, on standard error.
void print_account(const Prepared& prepared, const StageOptions::Parsed& stages, bool explain,
                   const Talk& talk);
/// The same as a JSON document: `lines` says whether each tensor is listed.
Value account_json(const Prepared& prepared, const StageOptions::Parsed& stages, bool lines);

}  // namespace ckpt
