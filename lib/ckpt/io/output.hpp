#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "ckpt/core/sink.hpp"
#include "ckpt/io/descriptor.hpp"
#include "ckpt/io/writeback.hpp"

namespace ckpt {

/// Whether an output to this path goes straight into what is there: a device, a pipe, or what /dev/stdout and
/// the like lead to.
bool is_written_in_place(const std::string& path);

/// Where an output to this path goes: links of the last component followed, also where they dangle. Throws
/// `io`, naming the path, where they lead in a circle.
std::string output_target(const std::string& path);

/// An output file that is there whole or not at all.
///
/// The bytes go to a file without a name in the target's folder (or, where the filesystem has no such
/// files, to a hidden one beside the target). `commit()` flushes it to disk and gives it the target's
/// name in one step. Without a commit nothing is left, on an exception or a signal that can be caught.
/// SIGKILL may strand the hidden file; the next output in that folder removes it (see temporary.hpp). A
/// symbolic link is followed: what it points to is replaced, the link stays. Devices, pipes and sockets are
/// written as they come, and so is what /dev/stdout or /dev/fd/3 leads to, where it stands.
class AtomicOutput final : public Sink {
 public:
  struct Options {
    bool replace = false;  ///< an existing file may be replaced
    /// False: a hidden file beside the target holds the bytes even where files without a name exist.
    bool may_be_unnamed = true;
    /// Asked before every step; true ends the output with an `io` error (a signal has come).
    std::function<bool()> is_cancelled = {};
  };

  /// Throws `io`, also when the file exists and may not be replaced.
  AtomicOutput(std::string path, Options options);
  ~AtomicOutput() override;
  AtomicOutput(const AtomicOutput&) = delete;
  AtomicOutput& operator=(const AtomicOutput&) = delete;

  void write(std::span<const std::byte> bytes) override;
  bool move(const ByteSource& source, std::uint64_t offset, std::uint64_t size) override;
  bool can_place() const noexcept override { return !is_in_place_; }
  void place(std::uint64_t ahead, std::span<const std::byte> bytes) override;
  void append_placed(std::uint64_t size) override;

  /// Flushes to disk. From then on only `commit()` is left, which no cancellation stops: of several
  /// outputs that belong together, all are flushed before the first gets its name. Throws `io`.
  void flush();
  /// Flushes to disk, where that was not done, and puts the file in its place. Throws `io`; unless
  /// `has_name()`, which a folder that cannot be flushed leaves true, the old file is then intact.
  void commit();
  /// Whether the file is in its place, also where `commit()` failed after that.
  bool has_name() const noexcept { return has_name_; }

 private:
  void check_cancelled() const;
  void advance(std::uint64_t size);  // what was appended
  void open_in_place();
  void open_temporary();
  void fail_if_folder_is_at_fault() const;  // by errno
  void give_name();

  std::string path_;    // as the user named it, for messages
  std::string target_;  // where the file goes, links resolved
  std::string folder_;
  std::string temporary_;  // name of the temporary file; empty while it has none
  Options options_;
  Descriptor descriptor_;
  std::optional<Writeback> writeback_;  // not of a device or pipe
  std::uint64_t end_ = 0;               // of what was appended; where the descriptor stands, too
  bool is_flushed_ = false;
  bool has_name_ = false;
  bool is_in_place_ = false;  // written as it comes: no temporary file, nothing to rename
};

}  // namespace ckpt
