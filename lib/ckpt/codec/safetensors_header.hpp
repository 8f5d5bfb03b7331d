#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/core/dtype.hpp"
#include "ckpt/core/tensor.hpp"

namespace ckpt {

/// One tensor as a safetensors header states it; nothing about the numbers has been checked.
struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::uint64_t begin = 0;  ///< data offsets, relative to the end of the header
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;        ///< in the order of the JSON text
  std::map<std::string, std::string> metadata;  ///< `__metadata__`
};

/// Reads the JSON of a safetensors header, straight from the parser's document: headers of 100 000
/// tensors are real, and a `Value` of each would cost more than the parsing. Throws `corrupt`, naming
/// the tensor, unless every entry is an object with a known `dtype`, a `shape` of whole numbers and two
/// `data_offsets`. Other fields of an entry are ignored; a key that stands twice is refused.
SafetensorsHeader parse_safetensors_header(std::string_view json);

}  // namespace ckpt
