#include "ckpt/kernels/computed_source.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "ckpt/kernels/cast.hpp"

namespace ckpt {
namespace {

constexpr std::uint64_t elements_at_once = 64U << 10;

/// Contiguous elements of a tensor as F32.
class FloatReader {
 public:
  explicit FloatReader(const Tensor& tensor) : view_(tensor.view) {
    if (element_size(view_.stored) != 1) return;
    // The numbers of a type of one byte are looked up.
    std::vector<std::byte> codes(256);
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::byte>(i);
    numbers_.resize(codes.size());
    convert(codes, numbers_);
  }
  /// Elements [begin, begin + out.size()).
  void read(std::uint64_t begin, std::span<float> out) const {
    const unsigned size = element_size(view_.stored);
    std::vector<std::byte> raw(out.size() * size);
    view_.source->read_at(view_.offset + begin * size, raw);
    if (numbers_.empty()) return convert(raw, out);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = numbers_[std::to_integer<std::size_t>(raw[i])];
  }

 private:
  void convert(std::span<const std::byte> raw, std::span<float> out) const {
    CastStatistics unused;
    cast_elements(view_.stored, DType::f32, raw, std::as_writable_bytes(out), unused);
  }

  View view_;
  std::vector<float> numbers_;
};

class ScaledSource final : public ByteSource {
 public:
  explicit ScaledSource(ScaledMatrix matrix)
      : matrix_(std::move(matrix)),
        weight_(matrix_.weight),
        scale_(matrix_.scale),
        scales_in_a_row_((matrix_.columns + matrix_.block_columns - 1) / matrix_.block_columns) {}

  std::uint64_t size() const noexcept override { return matrix_.rows * matrix_.columns * sizeof(float); }
  const ScaledMatrix& matrix() const noexcept { return matrix_; }

 private:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    std::vector<float> numbers;
    while (!out.empty()) {
      const std::uint64_t first = offset / sizeof(float);
      const std::uint64_t skipped = offset % sizeof(float);
      const std::uint64_t wanted = (skipped + out.size() + sizeof(float) - 1) / sizeof(float);
      numbers.resize(std::min(wanted, elements_at_once));
      compute(first, numbers);
      const std::span<const std::byte> bytes = std::as_bytes(std::span(numbers)).subspan(skipped);
      const std::size_t count = std::min(bytes.size(), out.size());
      std::memcpy(out.data(), bytes.data(), count);
      out = out.subspan(count);
      offset += count;
    }
  }

  void compute(std::uint64_t first, std::span<float> out) const {
    weight_.read(first, out);
    std::vector<float> scales;
    for (std::uint64_t at = 0; at < out.size();) {
      const std::uint64_t row = (first + at) / matrix_.columns;
      const std::uint64_t begin = (first + at) % matrix_.columns;
      const std::uint64_t end = std::min<std::uint64_t>(matrix_.columns, begin + out.size() - at);
      const std::uint64_t first_block = begin / matrix_.block_columns;
      scales.resize((end - 1) / matrix_.block_columns + 1 - first_block);
      scale_.read(row / matrix_.block_rows * scales_in_a_row_ + first_block, scales);
      for (std::uint64_t column = begin; column < end; ++column, ++at)
        out[at] *= scales[column / matrix_.block_columns - first_block];
    }
  }

  ScaledMatrix matrix_;
  FloatReader weight_;
  FloatReader scale_;
  std::uint64_t scales_in_a_row_;
};

class PermutedSource final : public ByteSource {
 public:
  explicit PermutedSource(PermutedRows rows) : rows_(std::move(rows)) {}

  std::uint64_t size() const noexcept override { return rows_.rows * rows_.row_bytes; }
  const PermutedRows& rows() const noexcept { return rows_; }

 private:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    while (!out.empty()) {
      const std::uint64_t skipped = offset % rows_.row_bytes;
      const std::size_t count = std::min<std::uint64_t>(out.size(), rows_.row_bytes - skipped);
      const std::uint64_t row = rows_.row_of(offset / rows_.row_bytes);
      rows_.source->read_at(rows_.offset + row * rows_.row_bytes + skipped, out.first(count));
      out = out.subspan(count);
      offset += count;
    }
  }

  PermutedRows rows_;
};

}  // namespace

Bytes scaled_source(ScaledMatrix matrix) { return std::make_shared<ScaledSource>(std::move(matrix)); }

Bytes permuted_source(PermutedRows rows) { return std::make_shared<PermutedSource>(std::move(rows)); }

void add_origins(const ByteSource& source, std::unordered_set<const ByteSource*>& into) {
  if (!into.insert(&source).second) return;
  if (const auto* scaled = dynamic_cast<const ScaledSource*>(&source)) {
    add_origins(*scaled->matrix().weight.view.source, into);
    add_origins(*scaled->matrix().scale.view.source, into);
  } else if (const auto* permuted = dynamic_cast<const PermutedSource*>(&source)) {
    add_origins(*permuted->rows().source, into);
  }
}

void add_origins(const Tensor& tensor, std::unordered_set<const ByteSource*>& into) {
  if (tensor.view.source) add_origins(*tensor.view.source, into);
  for (const Tensor& piece : tensor.pieces) add_origins(piece, into);
}

}  // namespace ckpt
