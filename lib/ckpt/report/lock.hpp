#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/core/checkpoint.hpp"

namespace ckpt {

/// One line of a lock file: what a checkpoint must have, without its values.
struct LockEntry {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::string kind = {};     ///< of the module that owns it, where that is certain; else empty
  std::string tied_to = {};  ///< name of an entry of the same values; empty where it stands alone
  bool operator==(const LockEntry&) const = default;
};

/// What a lock file says.
struct Lock {
  std::string layout = {};  ///< whose layout the tensors are in, `pytorch` or `burn`; empty where nobody says
  std::vector<LockEntry> entries;
  bool operator==(const Lock&) const = default;
};

/// The entries of a catalogue, sorted by name with numbers as numbers, each tied to the first of those that
/// lie at the same place. Kinds are left empty.
std::vector<LockEntry> lock_entries(const Checkpoint& checkpoint);

/// Whether a file that begins so is a lock file (of any version).
bool is_lock(std::string_view head);

/// The text of a lock file; docs/lock.md has the format. `source` is named in a comment.
std::string lock_text(const Lock& lock, std::string_view source);

/// Whether a module can be of the kind of that name.
using IsKind = std::function<bool(std::string_view)>;

/// What a lock file says, its entries in its order. Throws `corrupt` with the number of the line for anything
/// that is not in the format: among it names that stand twice, kinds that nobody knows, and ties to what is
/// no other entry, is tied itself, or has another type or shape; `unsupported` for another version.
Lock parse_lock(std::string_view text, const IsKind& is_kind);

/// A lock as a catalogue of tensors that have no data: names tied to each other lie at the same place, and
/// kinds are recorded. Reading any of it throws `unsupported`. Throws `corrupt` for a shape whose bytes
/// cannot be counted.
Checkpoint locked_checkpoint(const Lock& lock);

}  // namespace ckpt
