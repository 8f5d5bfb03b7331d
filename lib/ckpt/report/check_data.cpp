#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "ckpt/core/crc32.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/places.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/kernels/checksum.hpp"
#include "ckpt/kernels/parallel.hpp"
#include "ckpt/kernels/scan.hpp"
#include "ckpt/kernels/tensor_reader.hpp"
#include "ckpt/report/findings.hpp"

namespace ckpt {
namespace {

// A piece stays in the second-level cache between the kernel's copy and the scan.
constexpr std::uint64_t largest_piece = 512U << 10;
// Tensors that look at one storage and are scanned while its checksum is made. Any number may look at it;
// the others are read on their own, which costs no more than their bytes.
constexpr std::size_t at_once = 8;

void judge(const Tensor& tensor, const Scan& result, std::vector<Finding>& findings) {
  const auto add = [&](FindingId id, std::string text) {
    findings.push_back({id, tensor.name, std::move(text)});
  };
  const auto some = [&](std::uint64_t count, std::string_view what) {
    return fmt::format("{}: {} of {} elements {} {}", printable(tensor.name), count, result.elements,
                       count == 1 ? "is" : "are", what);
  };
  const auto every = [&](std::string_view what) {
    return fmt::format("{}: all {} elements are {}", printable(tensor.name), result.elements, what);
  };
  if (result.nans > 0) add(FindingId::nan, some(result.nans, "NaN"));
  if (result.infinities > 0) add(FindingId::infinite, some(result.infinities, "infinite"));
  if (result.not_boolean > 0) add(FindingId::not_boolean, some(result.not_boolean, "neither 0 nor 1"));
  // One element says nothing; a counter or a scale may well be 0.
  if (result.elements < 2) return;
  const std::uint64_t numbers = result.elements * (info(tensor.dtype).kind == DTypeClass::complex ? 2 : 1);
  if (result.zeros == numbers) add(FindingId::all_zero, every("zero"));
  else if (result.is_constant && is_floating(tensor.dtype) && result.nans == 0)
    add(FindingId::constant, every("the same"));
}

/// A tensor with one element left of each dimension that repeats one only.
struct Once {
  Tensor tensor;
  std::uint64_t times = 1;  ///< how often what is left is there
};

Once once(Tensor tensor) {
  Once result{std::move(tensor)};
  Tensor& left = result.tensor;
  if (!left.view.strides || left.elements() == 0) return result;
  for (std::size_t i = 0; i < left.shape.size(); ++i)
    if ((*left.view.strides)[i] == 0) result.times *= std::exchange(left.shape[i], 1);
  left.view.bytes /= result.times;
  return result;
}

/// A tensor that is read through its view.
Scan scan(const Tensor& whole, TensorReader& reader) {
  Scan result;
  const auto [tensor, times] = once(whole);
  std::vector<std::byte> first;
  reader.start(tensor);
  for (auto piece = reader.next(); !piece.empty(); piece = reader.next()) {
    if (!can_scan(tensor.dtype)) continue;  // packed elements are not taken apart, but every byte is read
    if (first.empty()) first.assign(piece.begin(), piece.begin() + element_size(tensor.dtype));
    scan_elements(tensor.dtype, piece, first, result);
  }
  for (std::uint64_t* count :
       {&result.elements, &result.nans, &result.infinities, &result.zeros, &result.not_boolean})
    *count *= times;
  return result;
}

bool can_be_scanned_in_place(const Tensor& tensor) {
  return tensor.is_plain() && tensor.view.bytes > 0 && can_scan(tensor.dtype);
}

/// One thread's way of reading everything once: storages whose checksum the file states, with the tensors
/// that lie in them as plain ranges, then all other tensors; of those that share a place, one.
class DataCheck {
 public:
  DataCheck(const Checkpoint& checkpoint, const Resources& resources)
      : checkpoint_(checkpoint),
        threads_(resources.thread_count()),
        piece_bytes_(
            std::clamp<std::uint64_t>(std::bit_floor(resources.memory / threads_ / 4), 4096, largest_piece)),
        first_(first_at_same_place(checkpoint.tensors)),
        scans_(checkpoint.tensors.size()) {
    std::unordered_map<const ByteSource*, std::size_t> with_checksum;
    for (const Integrity& check : checkpoint.integrity) {
      with_checksum.emplace(check.source.get(), checks_.size());
      checks_.push_back(&check);
      inside_.emplace_back();
      sizes_.push_back(check.source->size());
    }
    Unfolding unfolding;
    Unfolding unfolding_once;
    for (std::size_t i = 0; i < checkpoint.tensors.size(); ++i) {
      const Tensor& tensor = checkpoint.tensors[i];
      // What repeats its data too often to be gone through is a finding of the catalogue. Without what it
      // only repeats it may be little.
      const bool is_scanned =
          unfolding.excess(tensor).empty() || unfolding_once.excess(once(tensor).tensor).empty();
      if (first_[i] != i || !is_scanned) continue;
      const auto found = with_checksum.find(tensor.view.source.get());
      if (found != with_checksum.end() && can_be_scanned_in_place(tensor) &&
          inside_[found->second].size() < at_once)
        inside_[found->second].push_back(i);
      else alone_.push_back(i);
    }
    for (const std::size_t i : alone_) sizes_.push_back(checkpoint.tensors[i].byte_size());
  }

  void run() {
    in_parallel(
        largest_first(sizes_),
        [this] {
          const auto reader = std::make_shared<TensorReader>(2 * piece_bytes_);
          const auto buffer = std::make_shared<std::vector<std::byte>>();
          return [this, reader, buffer](std::size_t task) {
            if (task < checks_.size()) return read_storage(task, *buffer);
            const std::size_t i = alone_[task - checks_.size()];
            scans_[i] = scan(checkpoint_.tensors[i], *reader);
          };
        },
        threads_);
    for (std::size_t i = 0; i < scans_.size(); ++i)
      if (first_[i] != i) scans_[i] = scans_[first_[i]];
  }

  const std::vector<Scan>& scans() const { return scans_; }

 private:
  void read_storage(std::size_t task, std::vector<std::byte>& buffer) {
    const Integrity& check = *checks_[task];
    const std::uint64_t size = check.source->size();
    std::vector<std::vector<std::byte>> first(inside_[task].size());
    std::uint32_t crc = 0;
    buffer.resize(piece_bytes_);
    for (std::uint64_t at = 0; at < size; at += piece_bytes_) {
      const std::span<std::byte> piece =
          std::span(buffer).first(std::min<std::uint64_t>(piece_bytes_, size - at));
      check.source->read_at(at, piece);
      crc = crc32(crc, piece);
      for (std::size_t t = 0; t < first.size(); ++t) scan_part(inside_[task][t], at, piece, first[t]);
    }
    require_checksum(check, crc, checkpoint_.file);
  }

  /// What `piece`, which begins at `at` of the storage, holds of a tensor. Whole elements, as a tensor begins
  /// at a multiple of their size.
  void scan_part(std::size_t i, std::uint64_t at, std::span<const std::byte> piece,
                 std::vector<std::byte>& first) {
    const View& view = checkpoint_.tensors[i].view;
    const DType dtype = checkpoint_.tensors[i].dtype;
    const std::uint64_t begin = std::max(view.offset, at);
    const std::uint64_t end = std::min(view.offset + view.bytes, at + piece.size());
    if (begin >= end) return;
    const auto part = piece.subspan(begin - at, end - begin);
    if (first.empty()) first.assign(part.begin(), part.begin() + element_size(dtype));
    scan_elements(dtype, part, first, scans_[i]);
  }

  const Checkpoint& checkpoint_;
  unsigned threads_;
  std::uint64_t piece_bytes_;  // a power of two: whole elements of every type
  std::vector<const Integrity*> checks_;
  std::vector<std::vector<std::size_t>> inside_;  // of each check, tensors
  std::vector<std::size_t> alone_;
  std::vector<std::uint64_t> sizes_;  // of the tasks: checks, then tensors
  std::vector<std::size_t> first_;    // of each tensor, the first that lies at its place
  std::vector<Scan> scans_;
};

}  // namespace

std::vector<Finding> check_data(const Checkpoint& checkpoint, const Resources& resources) {
  DataCheck check(checkpoint, resources);
  check.run();
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < checkpoint.tensors.size(); ++i)
    if (check.scans()[i].elements > 0) judge(checkpoint.tensors[i], check.scans()[i], findings);
  return findings;
}

}  // namespace ckpt
