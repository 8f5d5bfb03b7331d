#include "ckpt/formats/pytorch/signs.hpp"

#include <utility>

namespace ckpt::pytorch {
namespace {

/// IEEE numbers change sign by one bit, so no element needs its neighbours.
class FlippedBytes final : public ByteSource {
 public:
  FlippedBytes(Bytes storage, unsigned unit, bool big_endian, bool flip_even, bool flip_odd)
      : storage_(std::move(storage)),
        unit_(unit),
        big_endian_(big_endian),
        flip_even_(flip_even),
        flip_odd_(flip_odd) {}
  std::uint64_t size() const noexcept override { return storage_->size(); }

 private:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    storage_->read_at(offset, out);
    const std::uint64_t sign_byte = big_endian_ ? 0 : unit_ - 1;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::uint64_t at = offset + i;
      if (at % unit_ == sign_byte && (at / unit_ % 2 == 0 ? flip_even_ : flip_odd_))
        out[i] ^= std::byte{0x80};
    }
  }

  Bytes storage_;
  std::uint64_t unit_;
  bool big_endian_;
  bool flip_even_;  // units 0, 2, …: real halves
  bool flip_odd_;   // units 1, 3, …: imaginary halves
};

}  // namespace

Bytes with_signs_flipped(Bytes storage, DType dtype, bool big_endian, bool conjugate, bool negative) {
  const bool conj = conjugate && info(dtype).kind == DTypeClass::complex;
  return std::make_shared<FlippedBytes>(std::move(storage), info(dtype).unit, big_endian, negative,
                                        negative != conj);
}

}  // namespace ckpt::pytorch
