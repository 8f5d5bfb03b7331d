#pragma once

#include <string>
#include <vector>

#include "ckpt/core/value.hpp"
#include "ckpt/formats/format.hpp"
#include "ckpt/stages/layout.hpp"
#include "ckpt/stages/remap.hpp"
#include "options.hpp"
#include "terminal.hpp"

namespace ckpt {

/// A catalogue on its way from a reader to a writer or a report, and what each stage did with it.
struct Prepared {
  Checkpoint checkpoint;
  std::uint64_t read = 0;            ///< tensors that the file holds
  std::vector<std::string> dropped;  ///< by the choice of a root and by filters
  std::uint64_t unwrapped = 0;       ///< names that lost a wrapper's segment
  RemapReport remap;
  LayoutReport layout;
  std::vector<std::string> warnings;
};

/// Reads the checkpoint at `path`, `-` being standard input.
Checkpoint load(const std::string& path);

/// Reads `path` and carries it through root, filter, wrappers and rules.
Prepared prepare(const std::string& path, const StageOptions::Parsed& options);

/// Goes on through the layout stage.
void adapt(Prepared& prepared, Direction direction, const std::vector<KindRule>& kinds);

/// Whose layout the tensors of a checkpoint are in, as far as its format says.
Convention convention_of(const Checkpoint& checkpoint);
/// What two formats call for where nobody says.
Direction default_direction(Convention from, Convention to);

/// What is odd about a file: what it hides, and its notes.
void print_oddities(const Checkpoint& checkpoint, const Talk& talk);

/// Warnings of every stage, on standard error.
void print_warnings(const Prepared& prepared, const Talk& talk);

/// Throws `refused` for tensors that cannot be delivered (sparse, quantised, …), naming them.
void require_deliverable(const Checkpoint& checkpoint);

/// Rules with their hits, as JSON.
Value rules_json(const RemapReport& report, const std::vector<Rule>& rules);
/// Strings as a JSON array.
Value strings_json(const std::vector<std::string>& strings);

}  // namespace ckpt
