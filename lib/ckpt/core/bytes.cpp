#include "ckpt/core/bytes.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "ckpt/core/checked.hpp"
#include "ckpt/core/error.hpp"

namespace ckpt {

// Sizes of files and tensors are held in std::size_t, and elements in memory are those of the file. See
// docs/architecture.md, "64 bits, little-endian".
static_assert(sizeof(std::size_t) == 8, "ckpt is made for 64-bit machines: elsewhere sizes would be cut");
static_assert(std::endian::native == std::endian::little,
              "ckpt is made for little-endian machines: elsewhere numbers would be read wrong");

namespace {

class SliceBytes final : public ByteSource {
 public:
  SliceBytes(Bytes source, std::uint64_t offset, std::uint64_t size)
      : source_(std::move(source)), offset_(offset), size_(size) {}

  std::uint64_t size() const noexcept override { return size_; }

  std::optional<FileRange> file_range() const noexcept override {
    std::optional<FileRange> range = source_->file_range();
    if (range) range->offset += offset_;
    return range;
  }

 private:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    source_->read_at(offset_ + offset, out);
  }

  Bytes source_;
  std::uint64_t offset_;
  std::uint64_t size_;
};

}  // namespace

void ByteSource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (!range_fits(offset, out.size(), size()))
    fail(ErrorKind::corrupt, "{} bytes are wanted at offset {}, but the data ends at {}", out.size(), offset,
         size());
  if (!out.empty()) do_read(offset, out);
}

void MemoryBytes::do_read(std::uint64_t offset, std::span<std::byte> out) const {
  std::memcpy(out.data(), bytes_.data() + offset, out.size());
}

Bytes slice(Bytes source, std::uint64_t offset, std::uint64_t size) {
  if (!range_fits(offset, size, source->size()))
    fail(ErrorKind::corrupt, "{} bytes are wanted at offset {}, but the data ends at {}", size, offset,
         source->size());
  return std::make_shared<SliceBytes>(std::move(source), offset, size);
}

Bytes memory_bytes(std::string_view text) {
  const std::span<const std::byte> bytes = as_bytes(text);
  return std::make_shared<MemoryBytes>(std::vector<std::byte>(bytes.begin(), bytes.end()));
}

Bytes memory_bytes(std::vector<std::byte> bytes) { return std::make_shared<MemoryBytes>(std::move(bytes)); }

std::vector<std::byte> read_range(const ByteSource& source, std::uint64_t offset, std::uint64_t size) {
  // A stream says that it is endless: it is read in steps, so that memory follows what is there.
  constexpr std::uint64_t step = 1 << 20;
  if (!range_fits(offset, size, source.size()))
    fail(ErrorKind::corrupt, "{} bytes are wanted at offset {}, but the data ends at {}", size, offset,
         source.size());
  std::vector<std::byte> out;
  if (!source.is_open_ended()) {
    out.resize(size);
    source.read_at(offset, out);
    return out;
  }
  while (out.size() < size) {
    const std::size_t have = out.size();
    out.resize(have + std::min(step, size - have));
    source.read_at(offset + have, std::span(out).subspan(have));
  }
  return out;
}

}  // namespace ckpt
