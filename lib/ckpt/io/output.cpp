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

/// The descriptor of this process that the path leads to, through /dev/stdout, /dev/fd/3 or the like.
std::optional<int> own_descriptor(const std::string& path) {
  constexpr int most_links = 40;  // the kernel's own limit
  std::optional<std::string> at = path;
  for (int i = 0; at && i < most_links; ++i, at = linked(*at)) {
    char folder[PATH_MAX];
    if (!::realpath(folder_of(*at).c_str(), folder)) continue;
    const std::string_view in(folder);
    if (!in.starts_with(fmt::format("/proc/{}/", ::getpid())) || !in.ends_with("/fd")) continue;
    int number = -1;
    const char* const end = at->data() + at->size();
    if (std::from_chars(at->data() + at->find_last_of('/') + 1, end, number).ptr == end) return number;
  }
  return std::nullopt;
}

/// A descriptor of its own for what was handed over under that number. What is opened here is not: it may be
/// the input, where nothing was handed over. It is closed on exec, which what was handed over has survived.
Descriptor take_over(int number) {
  const int flags = ::fcntl(number, F_GETFD);
  if (flags < 0 || (flags & FD_CLOEXEC) != 0)
    fail(ErrorKind::io, "cannot be written: no descriptor {} was handed over", number);
  const int mode = ::fcntl(number, F_GETFL);
  if (mode < 0 || (mode & O_PATH) != 0) fail(ErrorKind::io, "cannot be written: it is closed");
  if ((mode & O_ACCMODE) == O_RDONLY)
    fail(ErrorKind::io, "cannot be written: descriptor {} is open for reading only", number);
  Descriptor descriptor(::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!descriptor) fail_with_errno("cannot be written");
  return descriptor;
}

}  // namespace

std::string output_target(const std::string& given) {
  std::string path = given;
  while (true) {
    char resolved[PATH_MAX];
    if (::realpath(path.c_str(), resolved)) return resolved;
    if (errno == ELOOP || errno == ENAMETOOLONG)
      throw Error(ErrorKind::io, fmt::format("cannot be written: {}", std::strerror(errno))).in_file(given);
    if (::access(path.c_str(), F_OK) == 0) return path;  // a pipe of another process has a link, but no path
    const std::optional<std::string> next = linked(path);
    if (!next) return path;
    path = *next;
  }
}

bool is_written_in_place(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) return false;
  return !S_ISREG(status.st_mode) || own_descriptor(path).has_value();
}

AtomicOutput::AtomicOutput(std::string path, Options options)
    : path_(std::move(path)), options_(std::move(options)) {
  try {
    if (const std::optional<int> number = own_descriptor(path_)) {
      descriptor_ = take_over(*number);
      is_in_place_ = true;
      return;
    }
    target_ = output_target(path_);
    folder_ = folder_of(target_);
    struct stat status{};
    const bool exists = ::stat(target_.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) fail(ErrorKind::io, "is a directory");
    is_in_place_ = exists && !S_ISREG(status.st_mode);
    if (exists && !is_in_place_ && !options_.replace) throw already_there();
    if (is_in_place_) {
      open_in_place();
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

void AtomicOutput::open_in_place() {
  while (!descriptor_) {
    check_cancelled();  // a FIFO is opened once somebody reads it
    descriptor_ = Descriptor(::open(target_.c_str(), O_WRONLY | O_CLOEXEC));
    if (!descriptor_ && errno != EINTR) fail_with_errno("cannot be written");
  }
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
    writeback_.reset();  // its thread has nothing left to do
    if (!is_in_place_ && ::fsync(descriptor_.get()) != 0) fail_with_errno("cannot be flushed to disk");
    check_cancelled();
    is_flushed_ = true;
  } catch (Error& error) {
    throw error.in_file(path_);
  }
}

void AtomicOutput::commit() {
  if (!is_flushed_) flush();
  try {
    if (is_in_place_) {
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
    has_name_ = true;
    const Descriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Some filesystems cannot flush a folder; where one could and failed, the name may be lost.
    if (folder && ::fsync(folder.get()) != 0 && errno != EINVAL && errno != ENOTSUP)
      fail_with_errno("is in its place, but the folder cannot be flushed to disk");
  } catch (Error& error) {
    throw error.in_file(path_);
  }
}

}  // namespace ckpt
