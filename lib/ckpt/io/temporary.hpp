#pragma once

#include <string>

#include "ckpt/io/descriptor.hpp"

namespace ckpt {

// Hidden files beside an output, `.ckpt-PID-N.tmp`: until it is complete where the filesystem has no files
// without a name, and for the moment before it takes the place of an older file. Whoever writes one holds a
// lock (`flock`) on it, which ends with the process, however that ends: a file that nobody has locked is
// stranded. The lock tells also across process ids that are used again, and in containers that count their
// own.

/// The `attempt`-th name for a hidden file of this process in `folder`.
std::string temporary_name(const std::string& folder, unsigned attempt);

/// Marks `file`, a hidden one or one without a name, as in use for as long as it is open. Where the
/// filesystem has no locks nothing happens; a file is never taken for stranded there. False, of a hidden one:
/// somebody who clears the folder took it for stranded before it was locked, and removes it.
bool lock_temporary(const Descriptor& file);

/// Whether `path` is, as far as can be told, a name of `file`.
bool is_name_of(const std::string& path, const Descriptor& file);

/// Removes the hidden files in `folder` that killed processes left. What cannot be looked at or removed
/// stays.
void remove_stranded(const std::string& folder);

}  // namespace ckpt
