#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ckpt {

/// The files of one epoch in the `checkpoint` folder of burn's Learner.
struct LearnerEpoch {
  std::string folder;
  std::uint64_t epoch = 0;

  std::string model() const { return file("model"); }
  std::string optimizer() const { return file("optim"); }
  std::string scheduler() const { return file("scheduler"); }

 private:
  std::string file(const char* what) const;
};

/// The epoch of that number, or else the last one, where `path` is such a folder; nothing where it is not.
/// Throws `usage` when that epoch is not there, or not with all three files.
std::optional<LearnerEpoch> find_learner_epoch(const std::string& path, std::optional<std::uint64_t> epoch);

}  // namespace ckpt
