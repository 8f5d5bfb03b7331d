#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <span>
#include <string_view>

namespace ckpt {

/// What a process may end with, as `diff`, `grep` and `cmp` use it.
enum class ExitStatus : int {
  done = 0,     ///< done; nothing differs, everything fits
  no = 1,       ///< the answer is no
  trouble = 2,  ///< bad usage, a file that cannot be read or written
};

/// One subcommand. `add` declares its options on a parser of its own and gives back what runs once they
/// are parsed.
struct Command {
  std::string_view name;
  std::string_view summary;
  std::function<ExitStatus()> (*add)(CLI::App& app);
  /// Whether a refusal is its answer, status 1. Where 1 says something of the files (they differ, one does
  /// not fit), what keeps the question from being asked is trouble.
  bool answers_by_refusal = false;
};

std::function<ExitStatus()> add_inspect(CLI::App& app);
std::function<ExitStatus()> add_convert(CLI::App& app);
std::function<ExitStatus()> add_remap(CLI::App& app);
std::function<ExitStatus()> add_diff(CLI::App& app);
std::function<ExitStatus()> add_check(CLI::App& app);
std::function<ExitStatus()> add_lock(CLI::App& app);

}  // namespace ckpt
