#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ckpt/core/bytes.hpp"

namespace ckpt {

/// Reads MessagePack, item by item, from any source: arrays and maps are announced with their count and
/// their members follow; binary data is not read but told by its place. Every count and length is held
/// against the bytes that are left before it is believed.
class MsgpackReader {
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
    std::int64_t integer = 0;   ///< of a negative number
    std::uint64_t natural = 0;  ///< of a number of 0 or more
    double real = 0;
    std::string text;
    std::uint64_t count = 0;  ///< members of an array, pairs of a map, bytes of binary data
    std::uint64_t data = 0;   ///< offset of binary data
  };

  explicit MsgpackReader(Bytes source) : source_(std::move(source)) {}

  /// Throws `corrupt` with the offset of the fault.
  Item next();
  std::uint64_t offset() const noexcept { return at_; }
  std::uint64_t size() const noexcept { return source_->size(); }

 private:
  void need(std::uint64_t bytes, std::uint64_t offset) const;
  std::uint64_t big_endian(unsigned size);
  void read(std::span<std::byte> out);
  void begin(Item& item, Kind kind, std::uint64_t count);

  Bytes source_;
  std::uint64_t at_ = 0;
  std::vector<std::byte> window_;
  std::uint64_t window_at_ = 0;
};

}  // namespace ckpt
