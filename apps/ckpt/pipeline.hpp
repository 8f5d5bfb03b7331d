#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ckpt/core/value.hpp"
#include "ckpt/formats/format.hpp"
#include "ckpt/stages/edit.hpp"
#include "ckpt/stages/layout.hpp"
#include "ckpt/stages/remap.hpp"
#include "options.hpp"
#include "terminal.hpp"

namespace ckpt {

/// The index of a step on which no kind of module was decided.
inline constexpr std::size_t no_decision = SIZE_MAX;

/// A catalogue on its way from a reader to a writer or a report, and what each stage did with it.
struct Prepared {
  Checkpoint checkpoint;
  /// The catalogue before filters and rules, for what its names say; null where neither changed anything.
  std::shared_ptr<const Checkpoint> source;
  std::uint64_t read = 0;            ///< tensors that the file holds
  std::vector<std::string> dropped;  ///< by the choice of a root and by filters
  std::uint64_t unwrapped = 0;       ///< names that lost a wrapper's segment
  RemapReport remap;
  std::vector<EditReport> edits;  ///< of the operations that were asked for, in order
  LayoutReport layout;
  std::vector<LayoutStep> steps;    ///< how each tensor of the result came to be, then the dropped ones
  MatchReport match;                ///< of --like; the target has no parameters where there is none
  std::vector<std::string> unused;  ///< names that the target does not know
  std::vector<CastStep> casts;      ///< by index into the checkpoint's tensors
  std::vector<std::string> warnings;
};

/// Reads the checkpoint at `path`, `-` being standard input. `is_listed` says that nothing but the catalogue
/// is wanted: of a pipe only the header is read then; otherwise all of it is put aside first.
Checkpoint load(const std::string& path, bool is_listed = false);

/// What the filters leave. Throws `refused` where there was something and nothing is left.
Checkpoint filter_some(Checkpoint checkpoint, const Filters& filters, std::vector<std::string>& dropped);

/// Keeps the catalogue as it is now as the source of evidence, unless one is kept already: before names are
/// changed or left out.
void keep_source(Prepared& prepared);

/// Carries a checkpoint through root, filter, wrappers and rules.
Prepared prepare(Checkpoint checkpoint, const StageOptions::Parsed& options);
/// The same for the checkpoint at `path`.
Prepared prepare(const std::string& path, const StageOptions::Parsed& options);

/// Carries names alone to the other world: what is undecided is guessed.
void adapt_names(Prepared& prepared, Direction direction);

/// Goes on through the layout stage; `target` may be null.
void adapt(Prepared& prepared, Direction direction, const std::vector<KindRule>& kinds,
           const Target* target = nullptr);

/// Goes on through --like: the tensors that the target knows, in its order. What it does not know is
/// dropped; throws `refused`, with everything that is wrong and the rule that would mend the most of it,
/// for missing tensors and other shapes.
void match_target(Prepared& prepared, const Target& target, const MatchOptions& options);

/// Goes on through the casts that were asked for. Throws `refused` where a cast may change a number and
/// only lossless ones are wanted.
void cast_types(Prepared& prepared, const StageOptions::Parsed& options);

/// What --like names as a catalogue: a checkpoint (of a training checkpoint its model), or a lock file,
/// whose tensors have no data. Nothing of it is laid out.
Checkpoint load_like(const std::string& path);

/// Whose layout the tensors of a checkpoint are in, as far as its format says.
Convention convention_of(const Checkpoint& checkpoint);
/// What two formats call for where nobody says.
Direction default_direction(Convention from, Convention to);

/// How a source gets to the layout of its result.
struct Way {
  Direction direction = Direction::none;  ///< what runs on it
  Convention goal = Convention::either;   ///< the result's layout, as far as it is known
};
/// Where an adapter leads that somebody names; of `none` nobody knows.
Way way_of(Direction adapter);
/// Where nobody names one: to the layout `to`, as far as both are known.
Way default_way(Convention from, Convention to);

/// What `load_like` gave, as the target of a result in the layout `goal`: one in the other is laid out too.
Target target_of(Checkpoint checkpoint, Convention goal, const std::vector<KindRule>& kinds);
/// Whether the target was laid out and the source, on which `direction` runs, is not.
bool is_laid_out_alone(const Target& target, Direction direction);

/// What is odd about a file: what it hides, and its notes.
void print_oddities(const Checkpoint& checkpoint, const Talk& talk);

/// Warnings of every stage, on standard error.
void print_warnings(const Prepared& prepared, const Talk& talk);

/// Throws `refused` for tensors that cannot be delivered (sparse, quantised, …), naming them.
void require_deliverable(const Checkpoint& checkpoint);

/// Throws `refused` for tensors that still have the number which a reader put behind a name that another has.
void require_own_names(const Prepared& prepared);

/// Rules with their hits, as JSON.
Value rules_json(const RemapReport& report, const std::vector<Rule>& rules);
/// Strings as a JSON array.
Value strings_json(const std::vector<std::string>& strings);

}  // namespace ckpt
