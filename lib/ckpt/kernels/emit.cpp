#include "ckpt/kernels/emit.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/kernels/checksum.hpp"
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

class Emitter {
 public:
  Emitter(const Plan& plan, const Checkpoint& checkpoint, Sink& sink, std::uint64_t memory)
      : plan_(plan), checkpoint_(checkpoint), sink_(sink), reader_(memory) {}

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
    const View& view = tensor.view;
    const bool is_plain =
        !view.strides && !view.big_endian && tensor.pieces.empty() && tensor.dtype == view.stored;
    if (is_plain && !plan_.needs_crc32 && move(tensor)) return;
    std::uint32_t crc = 0;
    reader_.start(tensor);
    for (std::span<const std::byte> piece = reader_.next(); !piece.empty(); piece = reader_.next()) {
      if (plan_.needs_crc32) crc = crc32(crc, piece);
      sink_.write(piece);
    }
    if (plan_.needs_crc32) crc32_.push_back(crc);
    if (reader_.cast_statistics().elements > 0) casts_.push_back({segment.index, reader_.cast_statistics()});
  }

  std::vector<CastReport> take_casts() { return std::move(casts_); }

 private:
  bool move(const Tensor& tensor) {
    try {
      return sink_.move(*tensor.view.source, tensor.view.offset, tensor.view.bytes);
    } catch (Error& error) {
      throw error.in(fmt::format("tensor {}", printable(tensor.name)));
    }
  }

  const Plan& plan_;
  const Checkpoint& checkpoint_;
  Sink& sink_;
  TensorReader reader_;
  std::vector<std::uint32_t> crc32_;
  std::vector<CastReport> casts_;
};

}  // namespace

std::vector<CastReport> emit(const Plan& plan, const Checkpoint& checkpoint, Sink& sink,
                             std::uint64_t memory) {
  Emitter emitter(plan, checkpoint, sink, memory);
  for (const Plan::Segment& segment : plan.segments) std::visit(emitter, segment);
  return emitter.take_casts();
}

}  // namespace ckpt
