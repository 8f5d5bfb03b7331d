#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/kernels/resources.hpp"
#include "ckpt/stages/cast.hpp"
#include "ckpt/stages/filter.hpp"
#include "ckpt/stages/kinds.hpp"
#include "ckpt/stages/match.hpp"
#include "ckpt/stages/rule.hpp"

namespace ckpt {

/// How much is said on standard error, and how.
struct TalkOptions {
  bool quiet = false;
  bool verbose = false;
  std::string color = "auto";

  void add(CLI::App& app);
};

/// --threads and --memory, for commands that read data.
class ResourceOptions {
 public:
  void add(CLI::App& app);
  /// Throws `usage` for a size that is none, or is too small to work with.
  Resources parse() const;

 private:
  std::string memory_;
  unsigned threads_ = 0;
};

/// Accepts a whole number in digits from `least` to `most`. By itself CLI11 takes -1 for 2^64 - 1.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most = UINT64_MAX);

/// `5GB`, `500MiB`, `1000`: decimal units as Hugging Face counts them, binary ones with an i. Throws `usage`.
std::uint64_t parse_size(const std::string& text, std::string_view option);

/// The options that choose, rename and lay out tensors: the same for every command. CLI11 collects text;
/// `parse` turns it into values and throws `usage`. With a `side` they are called --left-include and so on.
class StageOptions {
 public:
  explicit StageOptions(std::string side = "") : side_(std::move(side)) {}

  void add_choice(CLI::App& app);  ///< --include, --exclude, --top-level-key
  void add_rename(CLI::App& app);  ///< --remap, --rename, --strip-wrappers, --strict-rules
  void add_cast(CLI::App& app);    ///< --dtype, --half, --allow-overflow, --require
  void add_target(CLI::App& app);  ///< --like, --allow-missing, --allow-unused
  void add_like(CLI::App& app);    ///< --like alone
  void add_layout(CLI::App& app);  ///< --adapter, --module, --modules

  struct Parsed {
    Filters filters;
    std::optional<std::string> top_level_key;
    bool strip_wrappers = false;
    bool strict_rules = false;
    std::vector<Rule> rules;
    std::optional<Direction> adapter;  ///< nothing where the two formats decide
    std::vector<KindRule> kinds;
    bool renumber = false;
    CastOptions casts;
    bool allow_overflow = false;
    bool require_lossless = false;
    std::string like;  ///< path of the target; empty without one
    MatchOptions match;

    /// Whether tensors may get other names or be left out, so that names may say less than they did.
    bool changes_names() const noexcept { return !filters.empty() || !rules.empty() || renumber; }
  };
  /// Reads the rules files that the command line names; keeps the order of the command line.
  Parsed parse() const;
  /// The files that they name, the target aside.
  std::vector<std::string> files() const;
  const std::string& like() const noexcept { return like_; }

 private:
  std::string flag(std::string_view name) const { return "--" + side_ + std::string(name); }
  CLI::Option* add(const std::string& name, std::vector<std::string>& into, const std::string& help) const;
  CLI::Option* placed(CLI::Option* option) const;

  std::string side_;
  CLI::App* app_ = nullptr;
  std::vector<std::string> include_, exclude_, remap_, rename_, module_, modules_;
  std::string top_level_key_, adapter_;
  std::vector<std::string> dtype_;
  std::string like_, allow_missing_, allow_unused_, require_;
  bool strip_wrappers_ = false, strict_rules_ = false, renumber_ = false, half_ = false,
       allow_overflow_ = false;
};

/// A whole text file, or standard input for `-`; at most `limits::rules_bytes`. Throws `io`, `usage`.
std::string read_text(const std::string& path);

/// `0.5`, `1e-6`: not negative, not NaN. Throws `usage`.
double parse_tolerance(const std::string& text, std::string_view option);

/// `pytorch-to-burn`, as the command line spells it.
std::string_view direction_name(Direction direction);

}  // namespace ckpt
