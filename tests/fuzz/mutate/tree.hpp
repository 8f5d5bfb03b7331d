#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mutate/random.hpp"

namespace ckpt::fuzz {

/// A document of JSON, CBOR or MessagePack: what the three have in common, and what only one has.
struct Item {
  enum class Kind : std::uint8_t { null, boolean, natural, negative, real, text, bytes, array, map, tag };
  Kind kind = Kind::null;
  std::uint64_t number = 0;      ///< of a boolean, a natural, a tag; -1 - number of a negative; a real's bits
  std::string text = {};         ///< of a text or bytes; of a JSON number where 64 bits do not hold it
  std::vector<Item> items = {};  ///< of a map: key, value, key, value, …
  bool is_open = false;          ///< CBOR: of a length that is not stated
};

/// Changes one or a few items: numbers to edges, keys to those of neighbours, items away, twice, elsewhere,
/// deep inside others.
void mutate_item(Item& root, Random& random);

// Each reads the item that `bytes` begins with and takes it off; nothing for what is malformed. What is
// written is well-formed, but for CBOR and MessagePack not always in the shortest form.
std::optional<Item> take_json(std::string_view& bytes);
std::optional<Item> take_cbor(std::string_view& bytes);
std::optional<Item> take_msgpack(std::string_view& bytes);
std::string json_of(const Item& item, Random& random);
std::string cbor_of(const Item& item, Random& random);
std::string msgpack_of(const Item& item, Random& random);

}  // namespace ckpt::fuzz
