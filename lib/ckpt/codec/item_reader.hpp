#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ckpt/core/bytes.hpp"

namespace ckpt {

/// Reads a document of maps, lists and plain values item by item, from any source and without holding more
/// of it than a window: a container is announced, and its members follow.
class ItemReader {
 public:
  enum class Kind {
    nil,
    boolean,
    signed_integer,
    unsigned_integer,
    real,
    text,
    binary,
    array,
    map,
    extension
  };
  struct Item {
    Kind kind = Kind::nil;
    std::uint64_t offset = 0;  ///< of the item in the source
    bool boolean = false;
    std::int64_t integer = 0;   ///< of a signed integer
    std::uint64_t natural = 0;  ///< of an unsigned one
    double real = 0;
    std::string text;
    std::uint64_t count = 0;  ///< members of an array, pairs of a map (0 in JSON), bytes of binary data
    std::uint64_t data = 0;   ///< offset of binary data
  };

  virtual ~ItemReader() = default;

  /// Throws `corrupt` with the offset of the fault, as all of these do.
  virtual Item next() = 0;
  /// Whether `container`, of which `read` members (or pairs) have been read whole, has another. To be asked
  /// before each of them, and once for the end.
  virtual bool more(const Item& container, std::uint64_t read) = 0;
  /// The key of the pair of a map that is due (in JSON, a text); its value is `next`.
  virtual Item key() = 0;

  std::uint64_t offset() const noexcept { return at_; }
  std::uint64_t size() const noexcept { return source_->size(); }
  /// Goes on at an item that was read before: its `offset`, or what `offset` said.
  void seek(std::uint64_t offset) noexcept { at_ = offset; }

 protected:
  static constexpr std::uint64_t window_bytes = 64U << 10;

  explicit ItemReader(Bytes source) : source_(std::move(source)) {}
  ItemReader(const ItemReader&) = default;
  ItemReader& operator=(const ItemReader&) = default;

  /// What the window holds from here on: at least `size` bytes (up to `window_bytes`), fewer at the end.
  std::span<const std::byte> ahead(std::uint64_t size) {
    // Behind the window, the difference wraps around and is beyond it too.
    const std::uint64_t into = at_ - window_at_;
    if (into <= window_.size() && size <= window_.size() - into) return std::span(window_).subspan(into);
    window_.resize(std::min(window_bytes, source_->size() - at_));
    source_->read_at(at_, window_);
    window_at_ = at_;
    return window_;
  }

  Bytes source_;
  std::uint64_t at_ = 0;

 private:
  std::vector<std::byte> window_;
  std::uint64_t window_at_ = 0;
};

}  // namespace ckpt
