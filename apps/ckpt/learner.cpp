#include "learner.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "ckpt/core/error.hpp"
#include "ckpt/io/file.hpp"

namespace ckpt {
namespace {

/// The number of `model-3.bpk`.
std::optional<std::uint64_t> epoch_of(std::string_view name) {
  constexpr std::string_view before = "model-";
  constexpr std::string_view after = ".bpk";
  if (!name.starts_with(before) || !name.ends_with(after) || name.size() <= before.size() + after.size())
    return std::nullopt;
  name = name.substr(before.size(), name.size() - before.size() - after.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string LearnerEpoch::file(const char* what) const {
  return fmt::format("{}/{}-{}.bpk", folder, what, epoch);
}

std::optional<LearnerEpoch> find_learner_epoch(const std::string& path, std::optional<std::uint64_t> epoch) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return std::nullopt;
  const std::vector<std::string> names = open_input(path)->siblings();
  std::set<std::uint64_t> epochs;
  for (const std::string& name : names)
    if (const auto number = epoch_of(name)) epochs.insert(*number);
  if (epochs.empty()) return std::nullopt;
  LearnerEpoch found{path, epoch.value_or(*epochs.rbegin())};
  for (const std::string& file : {found.model(), found.optimizer(), found.scheduler()}) {
    const std::string name = file.substr(file.rfind('/') + 1);
    if (std::ranges::find(names, name) == names.end())
      throw Error(ErrorKind::usage, fmt::format("{} is missing", name))
          .in_file(path)
          .with_hint(
              fmt::format("the last epoch in this folder is {}; --epoch takes another", *epochs.rbegin()));
  }
  return found;
}

}  // namespace ckpt
