#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/report/infer.hpp"
#include "ckpt/report/lock.hpp"
#include "ckpt/report/names.hpp"
#include "ckpt/stages/kinds.hpp"
#include "terminal.hpp"

namespace ckpt {

/// More comparisons of names than this are no longer instant, and no longer read either.
inline constexpr std::size_t most_comparisons = 50'000;

/// The catalogue as names, types and shapes.
std::vector<NamedShape> named_shapes(const Checkpoint& checkpoint);

/// The lock file at `path`; nothing where something else stands there. Throws `corrupt` for a bad one.
std::optional<Lock> read_lock(const std::string& path);

/// What `--remap` would make of names, for inference.
ApplyRules rule_applier();

/// What names are to be carried to.
struct NameTarget {
  std::vector<NamedShape> names;
  Direction adapter = Direction::none;  ///< what `convert` runs after the rules
};

/// The names of a lock file or a checkpoint. Those of a checkpoint in the other world's layout are seen
/// as that of `source` has them, since `convert` carries them over after the rules.
NameTarget read_name_target(const std::string& path, const Checkpoint& source, const Talk& talk);

/// An exact list of names: `OLD => NEW` a line, names with blanks as JSON strings.
using NameMap = std::vector<std::pair<std::string, std::string>>;
std::string name_map_text(const NameMap& map, std::string_view source);
/// Throws `usage` with the file and the line; for a name that stands twice on the left too.
NameMap parse_name_map(std::string_view text, std::string_view file);
/// The map the other way round. Throws `usage` where two names become one.
NameMap inverted(NameMap map, std::string_view file);

}  // namespace ckpt
