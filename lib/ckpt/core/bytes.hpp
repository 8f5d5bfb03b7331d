#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt {

/// A range of an open file, so that the kernel can move it.
struct FileRange {
  int descriptor = -1;
  std::uint64_t offset = 0;
};

/// Bytes that can be read at any offset; immutable and safe to read from several threads.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Size in bytes. A source whose end has not been seen yet (`is_open_ended`) says 2^64 - 1.
  virtual std::uint64_t size() const noexcept = 0;

  /// Standard input before its end is reached: a reader then cannot check where the data ends.
  virtual bool is_open_ended() const noexcept { return false; }

  /// Fills `out` from `offset`. Throws `corrupt` when the range leaves the source (nothing is read
  /// then), `io` when the system fails to read.
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;

  /// Whether the name that this was opened by still leads to it: false once another file has that name.
  virtual bool is_current() const noexcept { return true; }

  /// Where these bytes lie in a file, for sources that are a window of one.
  virtual std::optional<FileRange> file_range() const noexcept { return std::nullopt; }

 private:
  virtual void do_read(std::uint64_t offset, std::span<std::byte> out) const = 0;
};

using Bytes = std::shared_ptr<const ByteSource>;

/// Bytes that lie in memory.
class MemoryBytes final : public ByteSource {
 public:
  explicit MemoryBytes(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const noexcept override { return bytes_.size(); }
  std::span<const std::byte> span() const noexcept { return bytes_; }

 private:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override;
  std::vector<std::byte> bytes_;
};

/// A window [offset, offset + size) of another source. Throws `corrupt` when it leaves the source.
Bytes slice(Bytes source, std::uint64_t offset, std::uint64_t size);

/// A source that holds a copy of `text`.
Bytes memory_bytes(std::string_view text);
Bytes memory_bytes(std::vector<std::byte> bytes);

/// `size` bytes at `offset`, in memory. The caller has checked `size` against a limit; the range
/// itself is checked here before anything is allocated.
std::vector<std::byte> read_range(const ByteSource& source, std::uint64_t offset, std::uint64_t size);

/// The same bytes seen as text.
inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace ckpt
