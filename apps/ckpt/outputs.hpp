#pragma once

#include <string>
#include <vector>

namespace ckpt {

/// Throws `usage` when an output would be the same file as something that is read (by any path; of a set,
/// any file that belongs to it), or as an output before it. Empty names and /dev/null are skipped.
void require_separate(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

/// Throws `usage` when an output is what standard output is, unless that takes everything in silence. For
/// runs that print a report there.
void require_free_standard_output(const std::vector<std::string>& outputs);

/// Throws `usage` for a device or a pipe, which --verify cannot read back. Empty names are skipped.
void require_readable_back(const std::vector<std::string>& outputs);

/// Throws `usage` when a set written to the folder `output` would lie among the files of `input`.
void require_other_folder(const std::string& input, const std::string& output);

}  // namespace ckpt
