#include "ckpt/io/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/io/file.hpp"
#include "ckpt/io/temporary.hpp"

namespace ckpt {
namespace {

// Between two looks at the cancellation flag; large enough that the call itself costs nothing.
constexpr std::uint64_t step = 8U << 20;

[[noreturn]] void fail_with_errno(std::string_view what) {
  fail(ErrorKind::io, "{}: {}", what, std::strerror(errno));
}

Error already_there() {
  return Error(ErrorKind::io, "already exists; nothing was changed").with_hint("--force replaces it");
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// What the last component of the path names, where it is a symbolic link.
std::optional<std::string> linked(const std::string& path) {
  char link[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), link, sizeof link);
  if (length <= 0) return std::nullopt;
  const std::string name(link, static_cast<std::size_t>(length));
  const std::size_t slash = path.find_last_of('/');
  return name.front() == '/' || slash == std::string::npos ? name : path.substr(0, slash + 1) + name;
}

/// /dev/fd/3 may name what this process has opened itself, such as its input, where nothing was handed over
/// under that number. What is handed over survives `exec`; what is opened here does not.
void require_handed_over(const std::string& path) {
  char folder[PATH_MAX];
  if (!::realpath(folder_of(path).c_str(), folder)) return;
  const std::string_view in(folder);
  if (!in.starts_with(fmt::format("/proc/{}/", ::getpid())) || !in.ends_with("/fd")) return;
  int number = -1;
  std::from_chars(path.data() + path.find_last_of('/') + 1, path.data() + path.size(), number);
  const int flags = ::fcntl(number, F_GETFD);
  if (flags >= 0 && (flags & FD_CLOEXEC) != 0)
    fail(ErrorKind::io, "cannot be written: no descriptor {} was handed over", number);
}

/// The path with symbolic links of the last component followed; where they dangle, what the last one names.
/// Nothing where there is something that has no path: a pipe, or a file that has been removed, behind
/// /dev/stdout. To replace what leads there would replace a link of the system.
std::optional<std::string> follow_links(const std::string& path) {
  const bool is_there = ::access(path.c_str(), F_OK) == 0;
  if (!is_there && errno == ELOOP) fail_with_errno("cannot be written");
  std::string last;
  for (std::optional<std::string> next = path; next; next = linked(last)) {
    last = *next;
    require_handed_over(last);
  }
  if (!is_there) return last;
  char resolved[PATH_MAX];
  if (::realpath(last.c_str(), resolved))
    return is_same_file(path, resolved) ? std::optional<std::string>(resolved) : std::nullopt;
  if (errno != ENOENT) fail_with_errno("cannot be written");
  return std::nullopt;
}

}  // namespace

AtomicOutput::AtomicOutput(std::string path, Options options)
    : path_(std::move(path)), options_(std::move(options)) {
  try {
    const std::optional<std::string> followed = follow_links(path_);
    target_ = followed.value_or(path_);
    folder_ = folder_of(target_);
    struct stat status{};
    const bool exists = ::stat(target_.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) fail(ErrorKind::io, "is a directory");
    is_special_ = exists && (!followed || !S_ISREG(status.st_mode));
    if (exists && !is_special_ && !options_.replace) throw already_there();
    if (is_special_) {
      // Behind what a file without a path holds already.
      descriptor_ = Descriptor(::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_APPEND));
      if (!descriptor_) fail_with_errno("cannot be written");
      return;
    }
    open_temporary();
    writeback_.emplace(descriptor_.get());
    if (exists) static_cast<void>(::fchmod(descriptor_.get(), status.st_mode & 07777));
  } catch (Error& error) {
    throw error.in_file(path_);
  }
}

AtomicOutput::~AtomicOutput() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicOutput::fail_if_folder_is_at_fault() const {
  if (errno == ENOENT || errno == ENOTDIR) fail_with_errno(fmt::format("the folder {}", printable(folder_)));
  if (errno == EACCES || errno == EROFS || errno == ENOSPC) fail_with_errno("cannot be written");
}

void AtomicOutput::open_temporary() {
  remove_stranded(folder_);
  if (options_.may_be_unnamed) {
    descriptor_ = Descriptor(::open(folder_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
    if (descriptor_) return static_cast<void>(lock_temporary(descriptor_));
    fail_if_folder_is_at_fault();
  }
  // No unnamed files on this filesystem: a hidden file beside the target.
  for (unsigned attempt = 0;; ++attempt) {
    std::string name = temporary_name(folder_, attempt);
    descriptor_ = Descriptor(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (descriptor_ && lock_temporary(descriptor_)) {
      temporary_ = std::move(name);
      return;
    }
    if (!descriptor_) fail_if_folder_is_at_fault();
    // Taken; or whoever clears the folder has removed it, or will.
    const bool may_go_on = descriptor_ || errno == EEXIST;
    if (!may_go_on || attempt > 1000) fail_with_errno("no temporary file can be made beside it");
  }
}

void AtomicOutput::check_cancelled() const {
  if (options_.is_cancelled && options_.is_cancelled())
    throw Error(ErrorKind::io, "interrupted; nothing was written").in_file(path_);
}

void AtomicOutput::advance(std::uint64_t size) {
  end_ += size;
  if (writeback_) writeback_->advance(end_);
}

void AtomicOutput::write(std::span<const std::byte> bytes) {
  try {
    while (!bytes.empty()) {
      check_cancelled();
      const std::span<const std::byte> part = bytes.first(std::min<std::uint64_t>(bytes.size(), step));
      write_all(descriptor_.get(), part);
      advance(part.size());
      bytes = bytes.subspan(part.size());
    }
  } catch (Error& error) {
    throw error.in_file(path_);
  }
}

bool AtomicOutput::move(const ByteSource& source, std::uint64_t offset, std::uint64_t size) {
  const std::optional<FileRange> range = source.file_range();
  if (!range) return false;
  auto from = static_cast<off64_t>(range->offset + offset);
  const std::uint64_t wanted = size;
  while (size > 0) {
    check_cancelled();
    const ssize_t moved =
        ::copy_file_range(range->descriptor, &from, descriptor_.get(), nullptr, std::min(size, step), 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0 && errno == ENOSPC)
      throw Error(ErrorKind::io, fmt::format("cannot be written: {}", std::strerror(errno))).in_file(path_);
    // Not between these two files (pipe, other filesystem, old kernel), or the source has shrunk,
    // which reading it will tell: the caller's copy loop does the rest.
    if (moved <= 0) {
      if (size == wanted) return false;
      std::vector<std::byte> buffer(1U << 20);
      while (size > 0) {
        const std::span<std::byte> part =
            std::span(buffer).first(std::min<std::uint64_t>(size, buffer.size()));
        source.read_at(offset + (wanted - size), part);
        write(part);
        size -= part.size();
      }
      return true;
    }
    size -= static_cast<std::uint64_t>(moved);
    advance(static_cast<std::uint64_t>(moved));
  }
  // Nobody has seen what the kernel moved: a read tells whether the file has been written to meanwhile.
  if (std::byte last{}; wanted > 0) source.read_at(offset + wanted - 1, std::span(&last, 1));
  return true;
}

void AtomicOutput::place(std::uint64_t ahead, std::span<const std::byte> bytes) {
  try {
    check_cancelled();
    write_all_at(descriptor_.get(), bytes, end_ + ahead);
  } catch (Error& error) {
    throw error.in_file(path_);
  }
}

void AtomicOutput::append_placed(std::uint64_t size) {
  advance(size);
  if (::lseek(descriptor_.get(), static_cast<off_t>(end_), SEEK_SET) < 0)
    throw Error(ErrorKind::io, fmt::format("cannot be written: {}", std::strerror(errno))).in_file(path_);
}

void AtomicOutput::give_name() {
  const std::string proc = fmt::format("/proc/self/fd/{}", descriptor_.get());
  if (!options_.replace) {
    if (::linkat(AT_FDCWD, proc.c_str(), AT_FDCWD, target_.c_str(), AT_SYMLINK_FOLLOW) == 0) return;
    if (errno == EEXIST) throw already_there();
    fail_with_errno("cannot be given its name");
  }
  for (unsigned attempt = 0;; ++attempt) {
    std::string name = temporary_name(folder_, attempt);
    if (::linkat(AT_FDCWD, proc.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = std::move(name);
      return;
    }
    if (errno != EEXIST || attempt > 1000) fail_with_errno("cannot be given its name");
  }
}

void AtomicOutput::flush() {
  try {
    check_cancelled();
    if (!is_special_ && ::fsync(descriptor_.get()) != 0) fail_with_errno("cannot be flushed to disk");
    check_cancelled();
    is_flushed_ = true;
  } catch (Error& error) {
    throw error.in_file(path_);
  }
}

void AtomicOutput::commit() {
  if (!is_flushed_) flush();
  try {
    if (is_special_) {
      if (::close(descriptor_.release()) != 0) fail_with_errno("cannot be written");
      return;
    }
    if (temporary_.empty()) give_name();
    if (!temporary_.empty()) {
      if (!is_name_of(temporary_, descriptor_))
        fail(ErrorKind::io, "somebody has removed {}, which was to become it", printable(temporary_));
      if (!options_.replace) {
        // `link` fails where a file has appeared meanwhile, which `rename` would replace.
        if (::link(temporary_.c_str(), target_.c_str()) != 0) {
          if (errno == EEXIST) throw already_there();
          if (::access(target_.c_str(), F_OK) == 0) throw already_there();
          if (::rename(temporary_.c_str(), target_.c_str()) != 0)
            fail_with_errno("cannot be put in its place");
        } else {
          ::unlink(temporary_.c_str());
        }
      } else if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
        fail_with_errno("cannot be put in its place");
      }
      temporary_.clear();
    }
    const Descriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder) static_cast<void>(::fsync(folder.get()));  // the data are safe already; the name soon will be
  } catch (Error& error) {
    throw error.in_file(path_);
  }
}

}  // namespace ckpt
