#pragma once

#include <cstdint>
#include <string>

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

/// Writes `prepared` as a sharded set into the folder `path`, which is made where it is missing. Every
/// file is complete before the first gets its name, and the index gets its name last. While shards of an
/// earlier set are replaced, the index names none, so that a mixture is never read as a set. With --force the
/// shards of an earlier set in that folder are removed once the new one stands.
Written write_set(const Prepared& prepared, const Format& format, const std::string& path,
                  std::uint64_t limit, const WriteOptions& options, const Talk& talk);

}  // namespace ckpt
