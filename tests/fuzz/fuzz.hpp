#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ckpt/core/bytes.hpp"
#include "ckpt/core/checkpoint.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/input.hpp"
#include "ckpt/kernels/tensor_reader.hpp"

/// What the fuzz targets share: bytes in, read, touch every tensor. A reader may answer with `ckpt::Error`;
/// any other exception, a finding of the sanitizers, a second too many or too much memory is a fault.
namespace ckpt::fuzz {

inline Bytes bytes_of(const std::uint8_t* data, std::size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  return memory_bytes(std::vector<std::byte>(begin, begin + size));
}
inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Runs `act`, for which an `Error` is as good an end as any other. Returns what libFuzzer wants.
template <typename Act> int attempt(const Act& act) {
  try {
    act();
  } catch (const Error&) {
  }
  return 0;
}

/// Reads the last element where its view says that it lies.
inline void touch_end(const Tensor& tensor) {
  if (!tensor.pieces.empty()) return touch_end(tensor.pieces.back());
  const View& view = tensor.view;
  if (view.bytes == 0) return;
  std::uint64_t size = view.bytes;
  std::uint64_t last = 0;
  if (view.strides) {
    size = element_size(view.stored);
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) last += (tensor.shape[i] - 1) * (*view.strides)[i];
    last *= size;
  }
  const std::uint64_t part = std::min<std::uint64_t>(size, 64);
  static_cast<void>(read_range(*view.source, view.offset + last + (size - part), part));
}

/// Gathers the first piece of every tensor and reads its end.
inline void touch(const Checkpoint& checkpoint) {
  constexpr std::size_t at_most = 1000;  // tensors; a file of some kilobytes can name a million
  TensorReader reader(1U << 16);
  for (std::size_t i = 0; i < std::min(checkpoint.tensors.size(), at_most); ++i) {
    const Tensor& tensor = checkpoint.tensors[i];
    if (tensor.dtype != DType::qfloat && (tensor.elements() == 0) != (tensor.byte_size() == 0))
      __builtin_trap();
    reader.start(tensor);
    static_cast<void>(reader.next());
    touch_end(tensor);
  }
}

/// Reads the bytes with `read` (Input → Checkpoint) and touches every tensor.
template <typename Read> int read_and_touch(const std::uint8_t* data, std::size_t size, const Read& read) {
  return attempt([&] { touch(read(MemoryInput("input", bytes_of(data, size)))); });
}

}  // namespace ckpt::fuzz

/// One target: `FUZZ(data, size) { … }`.
#define FUZZ(data, size) extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
