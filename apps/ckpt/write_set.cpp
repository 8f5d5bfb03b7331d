#include "write_set.hpp"

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
#include "ckpt/io/file.hpp"
#include "ckpt/io/output.hpp"
#include "ckpt/kernels/emit.hpp"
#include "progress.hpp"

namespace ckpt {

namespace {

/// The index of a set while its shards are being replaced: no reader takes old and new ones for one
/// checkpoint.
constexpr std::string_view index_of_mixture =
    R"({"metadata": {"incomplete": "its shards are being replaced; write the set again"}, "weight_map": {}})";

/// Stands in for the index while shards are replaced, which takes several steps.
class Replacing {
 public:
  explicit Replacing(std::string index) : index_(std::move(index)) {
    if (::access(index_.c_str(), F_OK) == 0) {
      const Bytes old = open_file(index_);
      old_ = read_range(*old, 0, old->size());
    }
    write(as_bytes(index_of_mixture));
  }
  /// Brings the index back, when nothing was replaced.
  void undo() {
    if (old_) write(*old_);
    else ::unlink(index_.c_str());
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

std::vector<std::string> files_of_earlier_set(const std::string& path, const Format& format) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return {};
  const std::unique_ptr<Input> folder = open_input(path);
  std::vector<std::string> files;
  std::set<std::string> named;
  for (const std::string& name : folder->siblings()) {
    if (!belongs_to_set(name, format)) continue;
    files.push_back(name);
    if (!is_index_name(name)) continue;
    try {
      named = files_of_index(*folder->open_sibling(name));
    } catch (const Error&) {  // of a set that was not completed
    }
    if (!named.empty()) named.insert(name);
  }
  for (const std::string& name : files)
    if (!named.empty() && !named.contains(name))
      throw Error(
          ErrorKind::io,
          fmt::format("holds {}, which the index there does not name; nothing was changed", printable(name)))
          .in_file(path)
          .with_hint("move it away, or write the set into another folder");
  return files;
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
  const std::vector<std::string> earlier = files_of_earlier_set(path, format);
  const auto is_new = [&](const std::string& name) {
    return name == set.index_name ||
           std::ranges::find(set.shards, name, &Shard::file_name) != set.shards.end();
  };
  std::ranges::remove_copy_if(earlier, std::back_inserter(written.removed), is_new);
  if (options.dry_run) return written;

  const OutputFolder folder(path);
  if (!earlier.empty() && !options.force)
    throw Error(ErrorKind::io,
                fmt::format("already holds {}; nothing was changed", printable(earlier.front())))
        .in_file(path)
        .with_hint("--force replaces the set");

  const Resources resources = options.resources.parse();
  const Interruptible guard;
  std::vector<std::unique_ptr<AtomicOutput>> outputs;
  bool replaces_shards = false;
  const auto open = [&](const std::string& name) -> AtomicOutput& {
    const bool is_replaced = std::ranges::find(earlier, name) != earlier.end();
    replaces_shards = replaces_shards || (is_replaced && name != set.index_name);
    outputs.push_back(std::make_unique<AtomicOutput>(path + "/" + name, guard.output_options(options.force)));
    return *outputs.back();
  };
  std::size_t first = 0;  // of the shard, among all tensors
  for (std::size_t i = 0; i < set.shards.size(); ++i) {
    Progress progress(open(set.shards[i].file_name), plans[i].size, talk);
    const std::vector<CastReport> casts =
        emit_output(plans[i], set.shards[i].checkpoint, progress, resources);
    if (!options.allow_overflow) require_no_overflow(casts, set.shards[i].checkpoint);
    for (const CastReport& report : casts)
      written.casts.push_back({first + report.tensor, report.statistics});
    first += set.shards[i].checkpoint.tensors.size();
  }
  if (!set.index.empty()) open(set.index_name).write(as_bytes(set.index));
  for (const auto& output : outputs) output->flush();
  // All is on disk; what is left is giving names, which neither a signal nor a full disk stops. The index
  // comes last: until then it names the old shards, or, where those are replaced, none.
  std::optional<Replacing> replacing;
  if (replaces_shards && !set.index.empty()) replacing.emplace(path + "/" + set.index_name);
  std::size_t named = 0;
  try {
    for (const auto& output : outputs) {
      output->commit();
      ++named;
    }
  } catch (Error& error) {
    if (named > 0)
      throw error
          .in(fmt::format("{} of {} files of the set were put in their places, then", named, outputs.size()))
          .with_hint("the set is a mixture now: write it again with --force");
    if (replacing) replacing->undo();
    throw;
  }
  for (const std::string& name : written.removed) ::unlink(fmt::format("{}/{}", path, name).c_str());
  return written;
}

}  // namespace ckpt
