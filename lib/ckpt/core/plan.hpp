#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "ckpt/core/checkpoint.hpp"

namespace ckpt {

/// The layout of an output file, known before a byte is written: segments in file order. A format
/// only plans; one loop (`kernels/emit.hpp`) turns any plan into bytes.
struct Plan {
  struct Literal {
    std::vector<std::byte> bytes;
  };
  struct Zeros {
    std::uint64_t count = 0;
  };
  /// The contiguous little-endian form of `tensors[index]` of the checkpoint that was planned.
  struct TensorData {
    std::size_t index = 0;
  };
  /// Bytes that depend on the CRC-32 of the tensor data written before them (in order); `size` of
  /// them, whatever they turn out to be. A ZIP's descriptors and directory are such.
  struct AfterData {
    std::uint64_t size = 0;
    std::function<std::vector<std::byte>(std::span<const std::uint32_t> crc32)> make;
  };
  using Segment = std::variant<Literal, Zeros, TensorData, AfterData>;

  std::vector<Segment> segments;
  std::uint64_t size = 0;    ///< of the whole file, in bytes
  bool needs_crc32 = false;  ///< whether some `AfterData` wants checksums
};

}  // namespace ckpt
