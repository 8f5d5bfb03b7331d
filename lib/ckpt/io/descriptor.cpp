#include "ckpt/io/descriptor.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "ckpt/core/error.hpp"

namespace ckpt {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(value_, other.value_);
  return *this;
}

Descriptor::~Descriptor() {
  if (value_ >= 0) ::close(value_);
}

int Descriptor::release() noexcept { return std::exchange(value_, -1); }

std::size_t read_some(int descriptor, std::span<std::byte> out) {
  while (true) {
    const ssize_t got = ::read(descriptor, out.data(), out.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) fail(ErrorKind::io, "cannot be read: {}", std::strerror(errno));
  }
}

void write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(ErrorKind::io, "cannot be written: {}", std::strerror(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void write_all_at(int descriptor, std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(ErrorKind::io, "cannot be written: {}", std::strerror(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

}  // namespace ckpt
