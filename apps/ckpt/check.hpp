#pragma once

#include <string>
#include <vector>

#include "check_training.hpp"
#include "ckpt/core/checkpoint.hpp"
#include "ckpt/core/value.hpp"
#include "ckpt/report/findings.hpp"
#include "command.hpp"
#include "options.hpp"
#include "terminal.hpp"

namespace ckpt {

/// The options of `ckpt check`.
struct Check {
  std::string file;
  std::vector<std::string> allow_globals, ignore;
  std::string min_coverage;
  StageOptions stages;
  CheckTraining training;
  ResourceOptions resources;
  TalkOptions talk;
  bool json = false;
  bool sarif = false;
  bool strict = false;
  std::string salvage;  ///< the file to write; empty unless --salvage is given
  bool force = false;
};

/// What the catalogue alone shows, and which other readers would refuse it, without the globals that may be
/// there.
std::vector<Finding> judge_catalogue(const Check& options, const Checkpoint& checkpoint);

/// The findings that --ignore does not silence. Throws `usage` for what is no code.
std::vector<Finding> without_ignored(const Check& options, std::vector<Finding> findings);

/// How many of the findings are errors.
std::uint64_t count_errors(const std::vector<Finding>& findings);
/// Whether the answer is yes: no error, and with --strict no finding at all.
bool is_passed(const Check& options, const std::vector<Finding>& findings);

Value findings_json(const std::vector<Finding>& findings);
/// One line a finding, on standard output.
void print_findings(const std::vector<Finding>& findings, const Paint& paint);

/// `check FILE --like TARGET`: whether the one fits the other. Reads no data but that of ties.
ExitStatus check_like(const Check& options, StageOptions::Parsed stages);

}  // namespace ckpt
