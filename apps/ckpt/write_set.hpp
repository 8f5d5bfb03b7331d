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

/// The files that a set written into a folder takes the place of.
struct EarlierSet {
  std::vector<std::string> files;
  bool is_complete = true;    ///< false where writing it was cut short, or is under way
  std::string stranger = {};  ///< another checkpoint that lies there, if any
};

/// Of the folder `path`: what the index there names and the index itself, or, where there is none, all that
/// is named like files of a set of `format`. Throws `io` for one named so that is not in the index: nobody
/// knows whose it is, and beside the new set some readers would take it for all of the model; for a link,
/// whose target may be part of other sets; and for the index of a set of another format.
EarlierSet find_earlier_set(const std::string& path, const Format& format);

/// Writes `prepared` as a sharded set into the folder `path`, which is made where it is missing. Every file
/// is on disk before the first gets its name; one conversion at a time gives names. Meanwhile the index names
/// no tensor, so that a mixture is never read as a set, but every file of both sets, so that the same
/// conversion can be run again after a kill; the new index comes last. A complete earlier set asks for
/// --force; what the new one has no file for is removed.
Written write_set(const Prepared& prepared, const Format& format, const std::string& path,
                  std::uint64_t limit, const WriteOptions& options, const Talk& talk);

}  // namespace ckpt
