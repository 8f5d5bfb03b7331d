#include "ckpt/core/spool.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt {
namespace {

constexpr std::size_t kept_in_memory = 16U << 20;

template <typename File> class TemporaryBytes final : public ByteSource {
 public:
  TemporaryBytes(File file, std::uint64_t size) : file_(std::move(file)), size_(size) {}
  std::uint64_t size() const noexcept override { return size_; }
  std::optional<FileRange> file_range() const noexcept override { return FileRange{fileno(file_.get()), 0}; }

 private:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    while (!out.empty()) {
      const ssize_t got = ::pread(fileno(file_.get()), out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) fail(ErrorKind::io, "the temporary file cannot be read: {}", std::strerror(errno));
      out = out.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
  }
  File file_;
  std::uint64_t size_;
};

void append(std::FILE* file, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;  // they may lie nowhere
  if (std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size())
    fail(ErrorKind::io, "the temporary file cannot be written: {}", std::strerror(errno));
}

/// A file that nobody else sees, in $TMPDIR or else in /tmp.
std::FILE* temporary_file() {
  const char* const folder = std::getenv("TMPDIR");
  std::string path = folder != nullptr && *folder != '\0' ? folder : P_tmpdir;
  path += "/ckpt-XXXXXX";
  const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
  std::FILE* const file = descriptor < 0 ? nullptr : ::fdopen(descriptor, "w+b");
  if (file == nullptr) {
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    fail(ErrorKind::io, "no temporary file {} can be made: {}", printable(path), std::strerror(error));
  }
  ::unlink(path.c_str());
  return file;
}

}  // namespace

Spool::Spool() = default;
Spool::~Spool() = default;

void Spool::write(std::span<const std::byte> bytes) {
  if (!file_ && memory_.size() + bytes.size() > kept_in_memory) {
    file_.reset(temporary_file());
    append(file_.get(), memory_);
    memory_ = {};
  }
  if (file_) append(file_.get(), bytes);
  else memory_.insert(memory_.end(), bytes.begin(), bytes.end());
  size_ += bytes.size();
}

Bytes Spool::finish() {
  const std::uint64_t size = std::exchange(size_, 0);
  if (!file_) return memory_bytes(std::exchange(memory_, {}));
  if (std::fflush(file_.get()) != 0)
    fail(ErrorKind::io, "the temporary file cannot be written: {}", std::strerror(errno));
  return std::make_shared<TemporaryBytes<decltype(file_)>>(std::move(file_), size);
}

}  // namespace ckpt
