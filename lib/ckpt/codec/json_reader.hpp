#pragma once

#include "ckpt/codec/item_reader.hpp"

namespace ckpt {

/// Reads JSON (RFC 8259) as it comes: for documents of long lists of numbers, of which `json::parse` would
/// make a value each. Numbers are signed integers where they are whole and fit, else unsigned ones, else
/// reals, as `json::parse` has them; what is not valid is an error when it is reached. The caller minds the
/// depth, and keys that stand twice.
class JsonReader final : public ItemReader {
 public:
  explicit JsonReader(Bytes source) : ItemReader(std::move(source)) { skip_space(); }

  Item next() override;
  bool more(const Item& container, std::uint64_t read) override;
  Item key() override;

 private:
  int peek();
  void skip_space();
  void step();
  template <typename Accepts> void take_while(Accepts accepts);
  std::string string();
  void number(Item& item);
  void word(Item& item);

  std::string token_;  ///< the spelling of what is being read
};

}  // namespace ckpt
