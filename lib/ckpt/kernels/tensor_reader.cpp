#include "ckpt/kernels/tensor_reader.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/kernels/byte_order.hpp"

namespace ckpt {
namespace {

// Plain ranges go through a piece that stays in the second-level cache on its way to the sink, where they are
// cast together with what they become.
constexpr std::uint64_t plain_piece = 1U << 20;
// What is gathered is read in blocks that stay in the second-level cache until they are copied.
constexpr std::uint64_t source_block = 1U << 20;
// A block of the source is read whole when a quarter of it is wanted, or when it is no larger than this.
constexpr std::uint64_t always_whole = 16U << 10;
// Bytes of a row of the source for which a call of its own is worth its while.
constexpr std::uint64_t least_run = 4096;

}  // namespace

TensorReader::TensorReader(const Options& options)
    : options_(options),
      source_capacity_(std::clamp<std::uint64_t>(options.memory / 2, 4096, source_block)) {}

void TensorReader::start(const Tensor& tensor) {
  whole_ = &tensor;
  piece_ = 0;
  before_ = 0;
  cast_statistics_ = {};
  start_piece(tensor.pieces.empty() ? tensor : tensor.pieces.front());
}

void TensorReader::start_piece(const Tensor& tensor) {
  tensor_ = &tensor;
  size_ = std::max(element_size(tensor.view.stored), 1U);
  is_cast_ = tensor.view.stored != whole_->dtype;
  // A piece and its cast share what blocks of the source leave.
  const std::uint64_t left = options_.memory - std::min(options_.memory, source_capacity_);
  const std::uint64_t cost = size_ + (is_cast_ ? element_size(whole_->dtype) : 0U);
  target_capacity_ = std::max<std::uint64_t>(left / cost * size_, 4096);
  done_ = 0;
  tile_rows_ = 0;
  dimensions_.clear();
  if (!tensor.view.strides) return;

  // Dimensions that step alike are one; those of size 1 are none.
  std::uint64_t target_step = size_;
  for (std::size_t i = tensor.shape.size(); i-- > 0;) {
    const std::uint64_t count = tensor.shape[i];
    if (count == 1) continue;
    const std::uint64_t source_step = (*tensor.view.strides)[i] * size_;
    if (!dimensions_.empty() && source_step == dimensions_.back().source_step * dimensions_.back().count)
      dimensions_.back().count *= count;
    else dimensions_.push_back({count, source_step, target_step});
    target_step *= count;
  }
  std::ranges::reverse(dimensions_);
  if (dimensions_.empty()) dimensions_.push_back({1, size_, size_});

  // The outermost dimension of which one step fits the buffer: pieces are as large as can be.
  level_ = 0;
  while (dimensions_[level_].target_step > target_capacity_) ++level_;
  at_most_ = std::max<std::uint64_t>(target_capacity_ / dimensions_[level_].target_step, 1);
  index_.assign(level_ + 1, 0);
  if (options_.in_any_order) plan_tiles();
}

/// Cuts a transposed matrix into tiles where a piece in order would take little of each row of the source.
/// Of each row no less is read at a time than is worth a call, or than makes the tile a square; all other
/// room goes to what is written at a time, since a write costs more than a read.
void TensorReader::plan_tiles() {
  if (dimensions_.size() != 2 || dimensions_[0].source_step != size_) return;
  if (level_ == 0 && (at_most_ * size_ >= least_run || at_most_ >= dimensions_[0].count)) return;
  const std::uint64_t elements = target_capacity_ / size_;
  const auto side = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(elements)));
  const std::uint64_t least = std::min(side, least_run / size_);
  tile_columns_ = std::min(dimensions_[0].count, std::max(least, elements / dimensions_[1].count));
  tile_rows_ = std::min(dimensions_[1].count, elements / tile_columns_);
  // Lines a power of two apart would share few places of the caches.
  const std::uint64_t line = 64 / size_;
  if (tile_rows_ > line && tile_rows_ < dimensions_[1].count && tile_rows_ * size_ % 1024 == 0)
    tile_rows_ -= line;
  index_.assign(2, 0);
}

/// The next step; false at the end of the tensor.
bool TensorReader::plan() {
  while (done_ >= tensor_->view.bytes) {
    if (piece_ + 1 >= whole_->pieces.size()) return false;
    before_ += tensor_->view.bytes / size_;
    start_piece(whole_->pieces[++piece_]);
  }
  if (tile_rows_ > 0) plan_tile();
  else if (dimensions_.empty()) plan_plain();
  else plan_strided();
  done_ += step_.bytes;
  return true;
}

std::span<const std::byte> TensorReader::next() {
  if (!plan()) return {};
  try {
    const std::span<std::byte> piece = target_.take(step_.bytes);
    if (step_.block.empty()) tensor_->view.source->read_at(step_.source, piece);
    else gather(step_.source, piece.data(), step_.block);
    if (tensor_->view.big_endian) swap_bytes(piece, info(tensor_->view.stored).unit);

    const unsigned size = is_cast_ ? element_size(whole_->dtype) : size_;
    placement_ = {step_.elements.offset * size, step_.elements.run * size, step_.elements.step * size};
    if (!is_cast_) return piece;
    const std::uint64_t cast_bytes = step_.bytes / size_ * size;
    const std::span<std::byte> cast = cast_.take(cast_bytes);
    cast_elements(tensor_->view.stored, whole_->dtype, piece, cast, cast_statistics_);
    return cast;
  } catch (Error& error) {
    throw error.in(fmt::format("tensor {}", printable(whole_->name)));
  }
}

void TensorReader::plan_plain() {
  const std::uint64_t most = std::min(plain_piece, target_capacity_);
  const std::uint64_t bytes =
      std::min(tensor_->view.bytes - done_, std::max<std::uint64_t>(most / 16 * 16, 16));
  const std::uint64_t elements = bytes / size_;
  step_ = {.source = tensor_->view.offset + done_,
           .bytes = bytes,
           .block = {},
           .elements = {before_ + done_ / size_, elements, elements}};
}

void TensorReader::plan_strided() {
  step_.source = tensor_->view.offset;
  for (std::size_t i = 0; i <= level_; ++i) step_.source += index_[i] * dimensions_[i].source_step;
  step_.block.assign(dimensions_.begin() + static_cast<std::ptrdiff_t>(level_), dimensions_.end());
  Dimension& cut = step_.block.front();
  cut.count = std::min(at_most_, cut.count - index_[level_]);
  step_.bytes = cut.count * cut.target_step;
  const std::uint64_t elements = step_.bytes / size_;
  step_.elements = {before_ + done_ / size_, elements, elements};

  index_[level_] += cut.count;
  for (std::size_t i = level_; i > 0 && index_[i] == dimensions_[i].count; --i) {
    index_[i] = 0;
    ++index_[i - 1];
  }
}

void TensorReader::plan_tile() {
  const auto& [columns, rows] = std::tie(dimensions_[0], dimensions_[1]);
  const std::uint64_t wide = std::min(tile_columns_, columns.count - index_[0]);
  const std::uint64_t high = std::min(tile_rows_, rows.count - index_[1]);
  step_ = {.source = tensor_->view.offset + index_[0] * size_ + index_[1] * rows.source_step,
           .bytes = wide * high * size_,
           .block = {{wide, size_, high * size_}, {high, rows.source_step, size_}},
           .elements = {before_ + index_[0] * rows.count + index_[1], high, rows.count}};
  index_[1] += high;
  if (index_[1] == rows.count) index_ = {index_[0] + wide, 0};
}

/// Cuts the block along the source's widest step until what is left lies close together, then reads
/// that in one go.
void TensorReader::gather(std::uint64_t source, std::byte* target, std::span<Dimension> block) {
  std::uint64_t span = size_;  // bytes from the first to the last element
  std::uint64_t wanted = size_;
  Dimension* widest = nullptr;
  for (Dimension& d : block) {
    if (d.count == 1) continue;
    span += (d.count - 1) * d.source_step;
    wanted *= d.source_step == 0 ? 1 : d.count;
    if (widest == nullptr || d.source_step > widest->source_step) widest = &d;
  }
  const bool is_close = span <= source_capacity_ && (span / 4 <= wanted || span <= always_whole);
  if (widest == nullptr || widest->source_step == 0 || is_close) {
    // Only without gaps: between the elements of a block that was cut lie those of other blocks.
    const bool is_run = span == wanted && std::ranges::all_of(block, [&](const Dimension& d) {
                          return d.count == 1 || d.source_step == d.target_step;
                        });
    if (is_run) return tensor_->view.source->read_at(source, {target, span});
    const std::span<std::byte> together = source_.take(span);
    tensor_->view.source->read_at(source, together);
    std::vector<CopyDimension> copy;
    copy.reserve(block.size());
    for (const Dimension& d : block) copy.push_back({d.count, d.source_step, d.target_step});
    return copy_strided(target, together.data(), copy, size_);
  }
  const std::uint64_t count = widest->count;
  // Whole lines of the cache on the target's side, where the source's rows become its columns.
  const std::uint64_t line = std::max<std::uint64_t>(64 / size_, 1);
  const std::uint64_t half = count > 2 * line ? count / 2 / line * line : count / 2;
  widest->count = half;
  gather(source, target, block);
  widest->count = count - half;
  gather(source + half * widest->source_step, target + half * widest->target_step, block);
  widest->count = count;
}

}  // namespace ckpt
