#include "ckpt/kernels/emit.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "ckpt/core/crc32.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/kernels/read_ahead.hpp"
#include "ckpt/kernels/tensor_reader.hpp"

namespace ckpt {
namespace {

void write_zeros(Sink& sink, std::uint64_t count) {
  static constexpr std::array<std::byte, 4096> zeros{};
  while (count > 0) {
    const std::uint64_t part = std::min<std::uint64_t>(count, zeros.size());
    sink.write(std::span(zeros).first(part));
    count -= part;
  }
}

// Waking another thread costs more than a smaller tensor.
constexpr std::uint64_t worth_a_thread = 1U << 20;
// More than these the writing, which is one after the other, does not keep busy.
constexpr unsigned most_workers = 4;
// What the tensors that are read here, between those of the other thread, may take.
constexpr std::uint64_t small_memory = 4U << 20;

class Emitter {
 public:
  Emitter(const Plan& plan, const Checkpoint& checkpoint, Sink& sink, const Resources& resources)
      : plan_(plan),
        checkpoint_(checkpoint),
        sink_(sink),
        may_read_ahead_(resources.thread_count() > 1),
        reader_(may_read_ahead_ ? std::min(resources.memory / 4, small_memory) : resources.memory) {
    std::vector<const Tensor*> ahead;
    for (const Plan::Segment& segment : plan.segments)
      if (const auto* data = std::get_if<Plan::TensorData>(&segment))
        if (const Tensor& tensor = checkpoint.tensors.at(data->index); is_read_ahead(tensor))
          ahead.push_back(&tensor);
    if (!ahead.empty())
      ahead_.emplace(std::move(ahead),
                     ReadAhead::Options{.memory = resources.memory - resources.memory / 4,
                                        .workers = std::min(resources.thread_count(), most_workers),
                                        .in_any_order = !plan.needs_crc32 && sink.can_place()});
  }

  void operator()(const Plan::Literal& segment) { sink_.write(segment.bytes); }
  void operator()(const Plan::Zeros& segment) { write_zeros(sink_, segment.count); }
  void operator()(const Plan::AfterData& segment) {
    const std::vector<std::byte> bytes = segment.make(crc32_);
    if (bytes.size() != segment.size)
      fail(ErrorKind::io, "a segment was planned with {} bytes but has {}", segment.size, bytes.size());
    sink_.write(bytes);
  }
  void operator()(const Plan::TensorData& segment) {
    const Tensor& tensor = checkpoint_.tensors.at(segment.index);
    if (is_moved(tensor) && move(tensor)) return;
    std::uint32_t crc = 0;
    CastStatistics casts;
    if (is_read_ahead(tensor)) {
      take(tensor.byte_size(), crc);
      casts = ahead_->end_tensor();
    } else {
      reader_.start(tensor);
      for (std::span<const std::byte> piece = reader_.next(); !piece.empty(); piece = reader_.next())
        write(piece, crc);
      casts = reader_.cast_statistics();
    }
    if (plan_.needs_crc32) crc32_.push_back(crc);
    if (casts.elements > 0) casts_.push_back({segment.index, casts});
  }

  std::vector<CastReport> take_casts() { return std::move(casts_); }

 private:
  /// A plain range of which nobody needs to see the bytes.
  bool is_moved(const Tensor& tensor) const { return !plan_.needs_crc32 && tensor.is_plain(); }
  bool is_read_ahead(const Tensor& tensor) const {
    return may_read_ahead_ && !is_moved(tensor) && tensor.byte_size() >= worth_a_thread;
  }

  bool move(const Tensor& tensor) {
    try {
      return sink_.move(*tensor.view.source, tensor.view.offset, tensor.view.bytes);
    } catch (Error& error) {
      throw error.in(fmt::format("tensor {}", printable(tensor.name)));
    }
  }

  void write(std::span<const std::byte> bytes, std::uint32_t& crc) {
    if (plan_.needs_crc32) crc = crc32(crc, bytes);
    sink_.write(bytes);
  }

  /// Writes the tensor of `size` bytes that the other threads are at.
  void take(std::uint64_t size, std::uint32_t& crc) {
    std::uint64_t appended = 0;  // what comes after the first piece that is not next in order is placed
    std::uint64_t taken = 0;
    while (taken < size) {
      const ReadAhead::Piece piece = ahead_->next();
      auto [offset, run, step] = piece.placement;
      // Nothing is missing before it: the disk can begin.
      if (offset > appended && offset == taken) {
        sink_.append_placed(taken - appended);
        appended = taken;
      }
      taken += piece.bytes.size();
      if (offset == appended && run == piece.bytes.size()) {
        write(piece.bytes, crc);
        appended += run;
        continue;
      }
      for (std::size_t at = 0; at < piece.bytes.size(); at += run, offset += step)
        sink_.place(offset - appended, piece.bytes.subspan(at, run));
    }
    if (appended < size) sink_.append_placed(size - appended);
  }

  const Plan& plan_;
  const Checkpoint& checkpoint_;
  Sink& sink_;
  bool may_read_ahead_;
  TensorReader reader_;
  std::optional<ReadAhead> ahead_;
  std::vector<std::uint32_t> crc32_;
  std::vector<CastReport> casts_;
};

}  // namespace

std::vector<CastReport> emit(const Plan& plan, const Checkpoint& checkpoint, Sink& sink,
                             const Resources& resources) {
  Emitter emitter(plan, checkpoint, sink, resources);
  for (const Plan::Segment& segment : plan.segments) std::visit(emitter, segment);
  return emitter.take_casts();
}

}  // namespace ckpt
