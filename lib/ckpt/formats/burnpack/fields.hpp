#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ckpt/codec/cbor.hpp"

namespace ckpt::burnpack {

/// The field names of a struct that is being read from a map: a known one may stand only once, unknown
/// ones are for the caller to skip.
class Fields {
 public:
  /// `known` has the required ones first, at most 32 in all; `what` is the struct's name for messages.
  Fields(std::span<const std::string_view> known, std::string_view what, const cbor::Reader& reader)
      : known_(known), what_(what), offset_(reader.offset()) {}

  /// The name of the next field. Throws `corrupt` for a known one that stands twice.
  std::string_view read(cbor::Reader& reader);
  /// Throws `corrupt` unless the first `count` known fields were there.
  void require(std::size_t count) const;

 private:
  std::span<const std::string_view> known_;
  std::string_view what_;
  std::uint64_t offset_;
  std::uint32_t seen_ = 0;
};

}  // namespace ckpt::burnpack
