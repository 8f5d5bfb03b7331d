#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ckpt/core/plan.hpp"

namespace ckpt {

/// Plans a ZIP archive of stored members whose payloads begin at multiples of 64 bytes, as PyTorch lays
/// them out for mapping. ZIP64 records stand only where a size, an offset or a count needs them. The same
/// members give the same bytes: there are no times.
class ZipWriter {
 public:
  /// A member whose bytes are known.
  void add(std::string name, std::span<const std::byte> bytes);
  /// A member of `size` bytes that holds `tensors[index]` of the checkpoint that is planned. Its checksum
  /// follows it in a data descriptor, since it is known only then.
  void add_tensor(std::string name, std::size_t index, std::uint64_t size);

  /// The central directory and the end records.
  Plan finish() &&;

 private:
  struct Member {
    std::string name;
    std::uint64_t offset = 0;  // of the local header
    std::uint64_t size = 0;
    std::uint32_t crc32 = 0;
    bool is_tensor = false;       // the checksum is the next one that emitting yields …
    bool has_descriptor = false;  // … and stands behind the payload, unless that is empty
  };
  void begin(Member member);
  void append(std::vector<std::byte> bytes);

  Plan plan_;
  std::vector<Member> members_;
  std::size_t tensors_ = 0;
};

}  // namespace ckpt
