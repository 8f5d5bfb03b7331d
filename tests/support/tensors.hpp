#pragma once

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/core/tensor.hpp"
#include "ckpt/kernels/tensor_reader.hpp"

namespace ckpt::test {

/// The bytes of numbers as they lie in memory here, on a little-endian machine.
template <typename T> std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <typename T> std::vector<T> values_of(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

/// A plain tensor that holds just these bytes.
inline Tensor plain(std::string name, DType dtype, Shape shape, std::vector<std::byte> bytes) {
  Tensor tensor{.name = std::move(name), .dtype = dtype, .shape = std::move(shape)};
  tensor.view = {.source = memory_bytes(bytes), .bytes = bytes.size(), .stored = dtype};
  return tensor;
}

template <typename T> Tensor plain(std::string name, DType dtype, Shape shape, const std::vector<T>& values) {
  return plain(std::move(name), dtype, std::move(shape), bytes_of(values));
}

/// An F32 tensor with the values `first`, `first` + 1, …
inline Tensor counting(std::string name, Shape shape, float first = 0) {
  std::vector<float> values(element_count(shape).value());
  for (float& value : values) value = first++;
  return plain(std::move(name), DType::f32, std::move(shape), values);
}

/// What the reader makes of a tensor, all pieces after each other.
inline std::vector<std::byte> gathered(const Tensor& tensor, std::uint64_t memory = 64U << 20) {
  TensorReader reader(memory);
  reader.start(tensor);
  std::vector<std::byte> all;
  for (auto piece = reader.next(); !piece.empty(); piece = reader.next())
    all.insert(all.end(), piece.begin(), piece.end());
  return all;
}

/// The definition of a view, element by element.
inline std::vector<std::byte> gathered_naively(const Tensor& tensor) {
  std::vector<std::byte> all;
  for (const Tensor& piece : tensor.pieces) {
    const std::vector<std::byte> part = gathered_naively(piece);
    all.insert(all.end(), part.begin(), part.end());
  }
  if (!tensor.pieces.empty() || tensor.elements() == 0) return all;
  const std::vector<std::uint64_t> strides =
      tensor.view.strides ? *tensor.view.strides : contiguous_strides(tensor.shape);
  const unsigned size = element_size(tensor.view.stored);
  const unsigned unit = info(tensor.view.stored).unit;
  std::vector<std::uint64_t> index(tensor.shape.size());
  std::vector<std::byte> element(size);
  while (true) {
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < index.size(); ++i) at += index[i] * strides[i];
    tensor.view.source->read_at(tensor.view.offset + at * size, element);
    if (tensor.view.big_endian)
      for (auto part = element.begin(); part != element.end(); part += unit) std::reverse(part, part + unit);
    all.insert(all.end(), element.begin(), element.end());
    std::size_t i = index.size();
    while (i > 0 && ++index[i - 1] == tensor.shape[i - 1]) index[--i] = 0;
    if (i == 0) return all;
  }
}

/// The same numbers on every run and every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// From `least` to `most`, both included.
  std::uint64_t number(std::uint64_t least, std::uint64_t most) {
    return least + engine_() % (most - least + 1);
  }
  template <typename T> const T& one_of(const std::vector<T>& all) { return all[number(0, all.size() - 1)]; }
  bool chance(unsigned percent) { return number(1, 100) <= percent; }
  std::vector<std::byte> bytes(std::size_t count) {
    std::vector<std::byte> all(count);
    for (std::byte& b : all) b = static_cast<std::byte>(engine_());
    return all;
  }
  std::mt19937_64& engine() { return engine_; }

 private:
  std::mt19937_64 engine_;
};

/// A catalogue of these tensors.
inline Checkpoint checkpoint_of(std::vector<Tensor> tensors) {
  Checkpoint checkpoint;
  checkpoint.file = "model.pt";
  checkpoint.tensors = std::move(tensors);
  return checkpoint;
}

inline std::vector<std::string> names_of(const Checkpoint& checkpoint) {
  std::vector<std::string> names;
  for (const Tensor& tensor : checkpoint.tensors) names.push_back(tensor.name);
  return names;
}

}  // namespace ckpt::test
