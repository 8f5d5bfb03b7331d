#include "ckpt/core/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include "ckpt/core/bytes.hpp"
#include "ckpt/core/checked.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt {
namespace {

auto place(const Tensor& tensor) {
  const View& view = tensor.view;
  return std::tie(view.offset, view.stored, view.big_endian, tensor.dtype, tensor.shape, view.strides);
}

struct PlaceOrder {
  bool operator()(const Tensor* a, const Tensor* b) const {
    const auto* left = a->view.source.get();
    const auto* right = b->view.source.get();
    return left != right ? std::less<>()(left, right) : place(*a) < place(*b);
  }
};

/// Bytes from the first element to the end of the last, as stored.
std::uint64_t extent(const Tensor& tensor) {
  if (!tensor.view.strides) return tensor.view.bytes;
  std::uint64_t last = 0;
  for (std::size_t d = 0; d < tensor.shape.size(); ++d)
    last += (tensor.shape[d] - 1) * (*tensor.view.strides)[d];
  return (last + 1) * element_size(tensor.view.stored);
}

/// The bytes of one tensor in its storage.
struct Range {
  const ByteSource* storage;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t elements;  // bytes of them

  bool operator<(const Range& other) const {
    return storage != other.storage ? std::less<>()(storage, other.storage) : begin < other.begin;
  }
};

}  // namespace

std::vector<std::size_t> first_at_same_place(const std::vector<Tensor>& tensors) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto tensor_of = [&](std::size_t i) { return &tensors[i]; };
  if (!std::ranges::is_sorted(order, PlaceOrder(), tensor_of))
    std::ranges::stable_sort(order, PlaceOrder(), tensor_of);
  std::vector<std::size_t> first(tensors.size());
  std::size_t run = 0;  // the first in `order` of those that the last one was compared with
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (!same_place(tensors[order[run]], tensors[order[at]])) run = at;
    first[order[at]] = order[run];
  }
  return first;
}

StorageUse storage_use(const std::vector<Tensor>& tensors) {
  std::vector<Range> ranges;
  ranges.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    const View& view = tensor.view;
    if (!view.source || !tensor.pieces.empty()) continue;
    ranges.push_back(
        {view.source.get(), view.offset, view.offset + (view.bytes == 0 ? 0 : extent(tensor)), view.bytes});
  }
  if (!std::ranges::is_sorted(ranges, std::less<>())) std::ranges::sort(ranges, std::less<>());
  StorageUse use;
  for (std::size_t i = 0; i < ranges.size();) {
    const ByteSource* const storage = ranges[i].storage;
    std::uint64_t covered = 0;
    std::uint64_t elements = 0;
    for (std::uint64_t done = 0; i < ranges.size() && ranges[i].storage == storage; ++i) {
      elements = checked_add(elements, ranges[i].elements).value_or(UINT64_MAX);
      if (ranges[i].end <= done) continue;
      covered += ranges[i].end - std::max(ranges[i].begin, done);
      done = ranges[i].end;
    }
    use.stored += storage->size();
    use.used += std::min(elements, covered);
  }
  return use;
}

std::string Unfolding::excess(const Tensor& tensor) {
  for (const Tensor& piece : tensor.pieces)
    if (std::string why = excess(piece); !why.empty()) return why;
  if (!tensor.view.source) return {};
  const std::uint64_t stored = tensor.view.source->size();
  std::uint64_t& before = bytes_[tensor.view.source.get()];
  const std::uint64_t all = checked_add(before, tensor.byte_size()).value_or(UINT64_MAX);
  const bool was_repeated = before / limits::repetition > stored;
  const bool is_repeated = all / limits::repetition > stored;
  const std::uint64_t unfolded =
      is_repeated ? checked_add(unfolded_ - (was_repeated ? before : 0), all).value_or(UINT64_MAX) : 0;
  if (unfolded > limits::repeated_bytes)
    return repeats_too_much(tensor)
               ? fmt::format("repeats {} of data until it is {}", human_size(stored),
                             human_size(tensor.byte_size()))
               : fmt::format("repeats, with the tensors before it, {} of data until they are {}",
                             human_size(stored_ + (was_repeated ? 0 : stored)), human_size(unfolded));
  before = all;
  if (!is_repeated) return {};
  unfolded_ = unfolded;
  if (!was_repeated) stored_ += stored;
  return {};
}

}  // namespace ckpt
