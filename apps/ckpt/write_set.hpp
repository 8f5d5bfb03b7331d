#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "writing.hpp"

namespace ckpt {

/// A folder for outputs, made where it is missing, and removed again when nothing came of it.
class OutputFolder {
 public:
  /// Throws `io`.
  explicit OutputFolder(const std::string& path);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

 private:
  std::string path_;
  bool is_new_ = false;
};

/// The names of the files in the folder `path` that a set of `format` written there takes the place of: those
/// that the index there names and the index itself, or, where there is none that names any, all that are
/// named like files of a set. Throws `io` for one named so that is not in the index: nobody knows whose it
/// is, and beside the new set some readers would take it for all of the model.
std::vector<std::string> files_of_earlier_set(const std::string& path, const Format& format);

/// Writes `prepared` as a sharded set into the folder `path`, which is made where it is missing. Every
/// file is complete before the first gets its name, and the index gets its name last. While shards of an
/// earlier set are replaced, the index names none, so that a mixture is never read as a set. With --force the
/// files of an earlier set in that folder that the new one does not replace are removed once it stands.
Written write_set(const Prepared& prepared, const Format& format, const std::string& path,
                  std::uint64_t limit, const WriteOptions& options, const Talk& talk);

}  // namespace ckpt
