#pragma once

#include <string>
#include <vector>

namespace ckpt {

/// Throws `usage` when an output would be the same file as something that is read (by any path; of a set,
/// any file that belongs to it), or as an output before it. Empty names and /dev/null are skipped.
void require_separate(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

/// Throws `usage` when an output is what is read, as above.
void require_unread(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

/// Throws `usage` when an output is what standard error is, where messages go, or, for a run that `reports`
/// there, what standard output is; unless that takes everything in silence.
void require_own_stream(const std::vector<std::string>& outputs, bool reports);

/// Throws `usage` for a device or a pipe, which --verify cannot read back. Empty names are skipped.
void require_readable_back(const std::vector<std::string>& outputs);

/// Throws `usage` when a set written to the folder `output` would lie among the files of `input`.
void require_other_folder(const std::string& input, const std::string& output);

}  // namespace ckpt
