#include "ckpt/io/file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "ckpt/core/error.hpp"
#include "ckpt/core/spool.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/io/descriptor.hpp"

namespace ckpt {
namespace {

struct stat status_of(const Descriptor& descriptor) {
  struct stat status{};
  if (::fstat(descriptor.get(), &status) != 0) fail(ErrorKind::io, "{}", std::strerror(errno));
  return status;
}

/// A file as it was when it was opened: header and data of two different files would be wrong weights in
/// silence, so a file that somebody writes to meanwhile is an error.
class FileBytes final : public ByteSource {
 public:
  FileBytes(std::string name, Descriptor descriptor, const struct stat& opened)
      : name_(std::move(name)),
        descriptor_(std::move(descriptor)),
        size_(static_cast<std::uint64_t>(opened.st_size)),
        modified_(opened.st_mtim) {}

  std::uint64_t size() const noexcept override { return size_; }
  std::optional<FileRange> file_range() const noexcept override { return FileRange{descriptor_.get(), 0}; }
  bool is_current() const noexcept override {
    struct stat named{};
    struct stat open{};
    return ::stat(name_.c_str(), &named) == 0 && ::fstat(descriptor_.get(), &open) == 0 &&
           named.st_dev == open.st_dev && named.st_ino == open.st_ino;
  }

 private:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    try {
      read_all(offset, out);
      require_unchanged();
    } catch (Error& error) {
      throw error.in_file(name_);
    }
  }

  void read_all(std::uint64_t offset, std::span<std::byte> out) const {
    while (!out.empty()) {
      const ssize_t got = ::pread(descriptor_.get(), out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail(ErrorKind::io, "offset {}: cannot be read: {}", offset, std::strerror(errno));
      if (got == 0)
        fail(ErrorKind::io,
             "the file ends at byte {}, but it had {} bytes when it was opened: it has been cut meanwhile",
             offset, size_);
      out = out.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
  }

  void require_unchanged() const {
    const struct stat now = status_of(descriptor_);
    if (static_cast<std::uint64_t>(now.st_size) != size_ || now.st_mtim.tv_sec != modified_.tv_sec ||
        now.st_mtim.tv_nsec != modified_.tv_nsec)
      throw Error(ErrorKind::io, "has been written to while it was read")
          .with_hint("run it again once the file is complete");
  }

  std::string name_;
  Descriptor descriptor_;
  std::uint64_t size_;
  struct timespec modified_;
};

class DiskInput final : public Input {
 public:
  DiskInput(std::string name, std::string directory, Bytes bytes)
      : name_(std::move(name)), directory_(std::move(directory)), bytes_(std::move(bytes)) {}

  const std::string& name() const noexcept override { return name_; }
  Bytes bytes() const override { return bytes_; }

  std::vector<std::string> siblings() const override {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(directory_.c_str()), ::closedir);
    if (!folder) throw Error(ErrorKind::io, std::strerror(errno)).in_file(directory_);
    while (true) {
      errno = 0;
      const dirent* entry = ::readdir(folder.get());
      if (!entry && errno != 0) throw Error(ErrorKind::io, std::strerror(errno)).in_file(directory_);
      if (!entry) break;
      const std::string_view name = entry->d_name;
      struct stat status{};
      const bool is_known = ::stat((directory_ + "/" + entry->d_name).c_str(), &status) == 0;
      // What cannot be looked at is an error once it is read; a link to nothing is no file.
      const bool is_file = is_known ? S_ISREG(status.st_mode) : errno != ENOENT;
      if (name != "." && name != ".." && is_file) names.emplace_back(name);
    }
    std::ranges::sort(names);
    return names;
  }

  std::unique_ptr<Input> open_sibling(std::string_view name) const override {
    if (name.empty() || name == "." || name == ".." ||
        name.find_first_of(std::string_view("/\\\0", 3)) != std::string_view::npos)
      throw Error(ErrorKind::corrupt, fmt::format("`{}` is not a plain file name", printable(name)))
          .in_file(name_);
    return open_input(directory_ == "." && name_.find('/') == std::string::npos && bytes_
                          ? std::string(name)
                          : directory_ + "/" + std::string(name));
  }

 private:
  std::string name_;
  std::string directory_;
  Bytes bytes_;
};

/// A pipe, read as far as somebody asks; what was read stays in memory, since only headers are wanted.
class StreamBytes final : public ByteSource {
 public:
  StreamBytes(int descriptor, std::vector<std::byte> head)
      : descriptor_(descriptor), read_(std::move(head)) {}
  std::uint64_t size() const noexcept override { return UINT64_MAX; }
  bool is_open_ended() const noexcept override { return true; }

 private:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t end = offset + out.size();
    while (read_.size() < end) {
      constexpr std::size_t step = 64U << 10;
      const std::size_t have = read_.size();
      read_.resize(have + std::min<std::uint64_t>(step, end - have));
      const std::size_t got = read_some(descriptor_, std::span(read_).subspan(have));
      read_.resize(have + got);
      if (got == 0)
        fail(ErrorKind::corrupt, "the stream ends at byte {}, but {} bytes are wanted at offset {}", have,
             out.size(), offset);
    }
    std::memcpy(out.data(), read_.data() + offset, out.size());
  }

  int descriptor_;
  mutable std::mutex mutex_;
  mutable std::vector<std::byte> read_;
};

class StandardInput final : public Input {
 public:
  explicit StandardInput(Bytes bytes) : bytes_(std::move(bytes)) {}
  const std::string& name() const noexcept override { return name_; }
  Bytes bytes() const override { return bytes_; }
  std::unique_ptr<Input> open_sibling(std::string_view) const override {
    fail(ErrorKind::usage, "standard input has no files beside it: give the path of the set");
  }

 private:
  std::string name_ = "standard input";
  Bytes bytes_;
};

/// A file as such; of a pipe the head, where that is enough, or all of it.
Bytes standard_input(const std::function<bool(std::span<const std::byte> head)>& is_enough) {
  struct stat status{};
  if (::fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode)) {
    Descriptor copy(::dup(STDIN_FILENO));
    if (!copy) fail(ErrorKind::io, "{}", std::strerror(errno));
    return std::make_shared<FileBytes>("standard input", std::move(copy), status);
  }
  std::vector<std::byte> head(512);
  std::size_t have = 0;
  while (have < head.size()) {
    const std::size_t got = read_some(STDIN_FILENO, std::span(head).subspan(have));
    if (got == 0) break;
    have += got;
  }
  const bool ended = have < head.size();
  head.resize(have);
  if (ended) return memory_bytes(std::move(head));
  if (is_enough(head)) return std::make_shared<StreamBytes>(STDIN_FILENO, std::move(head));
  Spool spool;
  spool.write(head);
  std::vector<std::byte> buffer(1U << 20);
  while (const std::size_t got = read_some(STDIN_FILENO, buffer)) spool.write(std::span(buffer).first(got));
  return spool.finish();
}

}  // namespace

Bytes open_file(const std::string& path) {
  try {
    Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!descriptor) fail(ErrorKind::io, "{}", std::strerror(errno));
    const struct stat status = status_of(descriptor);
    if (!S_ISREG(status.st_mode)) fail(ErrorKind::io, "not a regular file");
    return std::make_shared<FileBytes>(path, std::move(descriptor), status);
  } catch (Error& error) {
    throw error.in_file(path);
  }
}

std::unique_ptr<Input> open_input(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) throw Error(ErrorKind::io, std::strerror(errno)).in_file(path);
  if (S_ISDIR(status.st_mode)) return std::make_unique<DiskInput>(path, path, nullptr);
  const std::size_t slash = path.find_last_of('/');
  std::string directory = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorKind::io, "neither a regular file nor a directory")
        .in_file(path)
        .with_hint("give a pipe as standard input, by the name -");
  return std::make_unique<DiskInput>(path, std::move(directory), open_file(path));
}

std::unique_ptr<Input> open_standard_input(
    const std::function<bool(std::span<const std::byte> head)>& is_enough) {
  try {
    return std::make_unique<StandardInput>(standard_input(is_enough));
  } catch (Error& error) {
    throw error.in_file("standard input");
  }
}

std::optional<std::vector<std::byte>> read_pipe(const std::string& path, std::size_t at_most) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
    return std::nullopt;
  try {
    const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!descriptor) fail(ErrorKind::io, "{}", std::strerror(errno));
    std::vector<std::byte> bytes;
    while (bytes.size() < at_most) {
      const std::size_t have = bytes.size();
      bytes.resize(have + std::min<std::size_t>(at_most - have, 64U << 10));
      const std::size_t got = read_some(descriptor.get(), std::span(bytes).subspan(have));
      bytes.resize(have + got);
      if (got == 0) break;
    }
    return bytes;
  } catch (Error& error) {
    throw error.in_file(path);
  }
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat x{};
  struct stat y{};
  return ::stat(a.c_str(), &x) == 0 && ::stat(b.c_str(), &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

}  // namespace ckpt
