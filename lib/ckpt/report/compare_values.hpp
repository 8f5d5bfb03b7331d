#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ckpt/kernels/tensor_reader.hpp"
#include "ckpt/report/compare.hpp"

namespace ckpt {

/// Compares the values of one pair of tensors after the other through buffers of its own.
class ValueComparer {
 public:
  ValueComparer(const Tolerance& tolerance, std::uint64_t memory);

  /// The tensors have one shape.
  ValueDifference run(const Tensor& a, const Tensor& b);

 private:
  void compare_plain(const Tensor& a, const Tensor& b);
  void compare_pieces(const Tensor& a, const Tensor& b);
  void compare_chunk(DType a, std::span<const std::byte> x, DType b, std::span<const std::byte> y,
                     std::uint64_t position);
  void compare_bytes(std::span<const std::byte> x, std::span<const std::byte> y);
  void compare_numbers(DType a, std::span<const std::byte> x, DType b, std::span<const std::byte> y,
                       std::uint64_t position);
  void compare_doubles(std::uint64_t position);
  bool compare_finite(std::uint64_t position);
  void compare_long_doubles(std::size_t per_a, std::size_t per_b, std::uint64_t position);
  void take(double distance, double size, bool is_outside, std::uint64_t position);

  Tolerance tolerance_;
  std::uint64_t chunk_;  // bytes that are read of either side at once
  TensorReader a_;
  TensorReader b_;
  std::vector<std::byte> bytes_a_, bytes_b_;
  std::vector<double> doubles_a_, doubles_b_;
  std::vector<long double> numbers_a_, numbers_b_;
  ValueDifference difference_;
  long double sum_ = 0;  // of all distances
  std::optional<std::uint64_t> place_;
};

}  // namespace ckpt
