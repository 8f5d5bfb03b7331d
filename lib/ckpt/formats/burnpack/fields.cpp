#include "ckpt/formats/burnpack/fields.hpp"

#include <algorithm>

#include "ckpt/core/error.hpp"

namespace ckpt::burnpack {

std::string_view Fields::read(cbor::Reader& reader) {
  const std::uint64_t at = reader.offset();
  const std::string_view field = reader.identifier("the name of a field");
  const auto row = std::ranges::find(known_, field);
  if (row == known_.end()) return field;
  const std::uint32_t bit = 1U << static_cast<unsigned>(row - known_.begin());
  if ((seen_ & bit) != 0)
    fail(ErrorKind::corrupt, "CBOR at offset {}: {} has the field \"{}\" twice", at, what_, field);
  seen_ |= bit;
  return field;
}

void Fields::require(std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i)
    if ((seen_ & 1U << i) == 0)
      fail(ErrorKind::corrupt, "CBOR at offset {}: {} has no field \"{}\"", offset_, what_, known_[i]);
}

}  // namespace ckpt::burnpack
