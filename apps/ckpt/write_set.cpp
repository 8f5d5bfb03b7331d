#include "write_set.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ckpt/core/checked.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/shard_set.hpp"
#include "ckpt/formats/sharded.hpp"
#include "ckpt/io/descriptor.hpp"
#include "ckpt/io/file.hpp"
#include "ckpt/io/output.hpp"
#include "ckpt/kernels/emit.hpp"
#include "progress.hpp"

namespace ckpt {

namespace {

/// Lets one conversion at a time give files of a folder their names. Where there are no locks it lets all.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path)
      : folder_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    while (folder_ && ::flock(folder_.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
  }

 private:
  Descriptor folder_;
};

/// The index of a set while its files get their names.
class Marker {
 public:
  Marker(std::string index, const std::set<std::string>& files) : index_(std::move(index)) {
    if (::access(index_.c_str(), F_OK) == 0) {
      const Bytes old = open_file(index_);
      old_ = read_range(*old, 0, old->size());
    }
    try {
      write(as_bytes(index_of_incomplete(files)));
    } catch (const Error&) {
      undo();
      throw;
    }
  }
  /// Brings the index back that stood there, since nothing was replaced, as far as that is possible.
  void undo() {
    try {
      if (old_) write(*old_);
      else remove();
    } catch (const Error&) {  // of what went wrong before, there is an error already
    }
  }
  void remove() {
    if (::unlink(index_.c_str()) != 0)
      throw Error(ErrorKind::io, fmt::format("cannot be removed: {}", std::strerror(errno))).in_file(index_);
  }

 private:
  void write(std::span<const std::byte> bytes) {
    AtomicOutput output(index_, {.replace = true});
    output.write(bytes);
    output.commit();
  }

  std::string index_;
  std::optional<std::vector<std::byte>> old_;
};

/// The files of the earlier set that the new one has none for.
std::vector<std::string> stale_files(const ShardSet& set, const std::vector<std::string>& earlier) {
  std::vector<std::string> stale;
  std::ranges::remove_copy_if(earlier, std::back_inserter(stale), [&](const std::string& name) {
    return (!set.index.empty() && name == set.index_name) ||
           std::ranges::find(set.shards, name, &Shard::file_name) != set.shards.end();
  });
  return stale;
}

/// Gives the outputs of a set, all flushed, their names in the place of the earlier one; the index comes
/// last. Returns what was removed.
std::vector<std::string> give_names(const ShardSet& set,
                                    std::span<const std::unique_ptr<AtomicOutput>> outputs,
                                    const std::string& path, const std::vector<std::string>& earlier) {
  const std::string index = path + "/" + set.index_name;
  const std::vector<std::string> stale = stale_files(set, earlier);
  std::set<std::string> files(earlier.begin(), earlier.end());
  for (const Shard& shard : set.shards) files.insert(shard.file_name);
  std::optional<Marker> marker;
  if (files.size() > 1) marker.emplace(index, files);
  std::string left;
  try {
    for (const auto& output : outputs.first(set.shards.size())) output->commit();
    for (const std::string& name : stale) {
      if (name == set.index_name) continue;
      if (::unlink((path + "/" + name).c_str()) != 0 && errno != ENOENT && left.empty())
        left = fmt::format("{} cannot be removed: {}", printable(name), std::strerror(errno));
    }
    if (!set.index.empty()) outputs.back()->commit();
    else if (marker) marker->remove();
  } catch (Error& error) {
    const auto named = static_cast<std::size_t>(
        std::ranges::count_if(outputs, &AtomicOutput::has_name, [](const auto& o) -> auto& { return *o; }));
    if (named == 0 && marker) marker->undo();
    if (named == 0 || (named == outputs.size() && !set.index.empty())) throw;
    throw error
        .in(fmt::format("{} of {} files of the set were put in their places, then", named, outputs.size()))
        .with_hint("the set is a mixture now, and refused as one: write it again with --force");
  }
  if (!left.empty())
    throw Error(ErrorKind::io, "the set is written, but of the one before it " + left)
        .in_file(path)
        .with_hint("remove that file");
  return stale;
}

}  // namespace

OutputFolder::OutputFolder(const std::string& path) : path_(path) {
  if (::mkdir(path.c_str(), 0777) == 0) {
    is_new_ = true;
    return;
  }
  struct stat status{};
  const int error = errno;
  if (error == EEXIST && ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return;
  throw Error(ErrorKind::io, error == EEXIST ? "is not a folder" : std::strerror(error)).in_file(path);
}

OutputFolder::~OutputFolder() {
  if (is_new_) ::rmdir(path_.c_str());  // fails, and should, once a file stands in it
}

EarlierSet find_earlier_set(const std::string& path, const Format& format) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return {};
    throw Error(ErrorKind::io, std::strerror(errno)).in_file(path);
  }
  if (!S_ISDIR(status.st_mode)) return {};
  const std::unique_ptr<Input> folder = open_input(path);
  constexpr std::string_view hint = "move it away, or write the set into another folder";
  const auto refuse = [&](const std::string& name, std::string_view why) {
    throw Error(ErrorKind::io, fmt::format("holds {}, which {}; nothing was changed", printable(name), why))
        .in_file(path)
        .with_hint(std::string(hint));
  };
  EarlierSet set;
  IndexedFiles indexed;
  for (const std::string& name : folder->siblings()) {
    if (!belongs_to_set(name, format)) {
      if (is_index_name(name)) refuse(name, "is the index of another set");
      if (set.stranger.empty() && format_for_extension(name) != nullptr) set.stranger = name;
      continue;
    }
    // What a link leads to may be part of other sets too, as in a cache of downloads.
    if (::lstat((path + "/" + name).c_str(), &status) == 0 && S_ISLNK(status.st_mode))
      refuse(name, "is a link");
    set.files.push_back(name);
    if (!is_index_name(name)) continue;
    try {
      indexed = files_of_index(*folder->open_sibling(name));
    } catch (Error& error) {
      throw error.in_file(path + "/" + name).with_hint(std::string(hint));
    }
    set.is_complete = indexed.is_complete;
    if (!indexed.names.empty()) indexed.names.insert(name);
  }
  for (const std::string& name : set.files)
    if (!indexed.names.empty() && !indexed.names.contains(name))
      refuse(name, "the index there does not name");
  return set;
}

Written write_set(const Prepared& prepared, const Format& format, const std::string& path,
                  std::uint64_t limit, const WriteOptions& options, const Talk& talk) {
  const ShardSet set = plan_shards(prepared.checkpoint, format, limit);
  std::vector<Plan> plans;
  std::uint64_t total = set.index.size();
  for (const Shard& shard : set.shards) {
    plans.push_back(plan_output(shard.checkpoint, format));
    total += plans.back().size;
  }
  Written written{total};
  const auto look = [&] {
    EarlierSet earlier = find_earlier_set(path, format);
    if (!options.dry_run && !options.force && earlier.is_complete && !earlier.files.empty())
      throw Error(ErrorKind::io,
                  fmt::format("already holds {}; nothing was changed", printable(earlier.files.front())))
          .in_file(path)
          .with_hint("--force replaces the set");
    if (set.index.empty() && !earlier.stranger.empty())
      throw Error(ErrorKind::io,
                  fmt::format("holds {}; beside it a set of one file, which has no index, could not be told "
                              "by its folder; nothing was changed",
                              printable(earlier.stranger)))
          .in_file(path)
          .with_hint("move it away, or write the set into another folder");
    return earlier;
  };
  const EarlierSet earlier = look();
  if (options.dry_run) {
    written.removed = stale_files(set, earlier.files);
    return written;
  }
  const OutputFolder folder(path);
  const Resources resources = options.resources.parse();
  const Interruptible guard;
  std::vector<std::unique_ptr<AtomicOutput>> outputs;
  const auto open = [&](const std::string& name, bool replace) -> AtomicOutput& {
    outputs.push_back(std::make_unique<AtomicOutput>(path + "/" + name, guard.output_options(replace)));
    return *outputs.back();
  };
  // Where nothing may be replaced, a file that appears in the last moment is not replaced either.
  const bool replaces = options.force || !earlier.is_complete;
  std::size_t first = 0;  // of the shard, among all tensors
  for (std::size_t i = 0; i < set.shards.size(); ++i) {
    Progress progress(open(set.shards[i].file_name, replaces), plans[i].size, talk);
    const std::vector<CastReport> casts =
        emit_output(plans[i], set.shards[i].checkpoint, progress, resources);
    if (!options.allow_overflow) require_no_overflow(casts, set.shards[i].checkpoint);
    for (const CastReport& report : casts)
      written.casts.push_back({first + report.tensor, report.statistics});
    first += set.shards[i].checkpoint.tensors.size();
    outputs.back()->flush();
  }
  if (!set.index.empty()) {
    open(set.index_name, true).write(as_bytes(set.index));  // the marker stands there
    outputs.back()->flush();
  }
  // All is on disk; what is left is giving names, which neither a signal nor a full disk stops. Another
  // conversion may have written a set here meanwhile.
  const FolderLock lock(path);
  written.removed = give_names(set, outputs, path, look().files);
  return written;
}

}  // namespace ckpt
