#pragma once

#include "ckpt/codec/item_reader.hpp"

namespace ckpt {

/// Reads MessagePack. Binary data is not read but told by its place. Every count and length is held against
/// the bytes that are left before it is believed.
class MsgpackReader final : public ItemReader {
 public:
  explicit MsgpackReader(Bytes source) : ItemReader(std::move(source)) {}

  Item next() override;
  bool more(const Item& container, std::uint64_t read) override { return read < container.count; }
  Item key() override { return next(); }

 private:
  void need(std::uint64_t bytes, std::uint64_t offset) const;
  std::uint64_t big_endian(unsigned size);
  void read(std::span<std::byte> out);
  void begin(Item& item, Kind kind, std::uint64_t count);
};

}  // namespace ckpt
