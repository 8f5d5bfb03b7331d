#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/core/bytes.hpp"
#include "ckpt/core/dtype.hpp"

namespace ckpt {

/// Sizes of the dimensions, outermost first; empty for a scalar. Counts elements, also for types
/// whose elements do not fill whole bytes.
using Shape = std::vector<std::uint64_t>;

/// The product of the dimensions, left to right; nothing when that does not fit 64 bits.
std::optional<std::uint64_t> element_count(const Shape& shape);
/// Bytes of the contiguous form; nothing when that overflows or does not fill whole bytes.
std::optional<std::uint64_t> byte_count(const Shape& shape, DType dtype);
/// Elements to step over in each dimension of a contiguous row-major tensor. The shape's product
/// must fit 64 bits.
std::vector<std::uint64_t> contiguous_strides(const Shape& shape);
/// `[3, 4]`, `[]`.
std::string to_string(const Shape& shape);

/// Where a tensor's elements lie. Nothing is read before a writer pulls.
///
/// Without `strides` the elements are one run of `bytes` bytes in row-major order: a plain range.
/// With them, element (i, j, …) lies at `offset + (i * strides[0] + j * strides[1] + …) * element
/// size`; strides are in elements, never negative, and 0 where a dimension repeats one element.
struct View {
  Bytes source = {};          ///< the storage; tensors that share one hold the same source
  std::uint64_t offset = 0;   ///< of the first element, in bytes, inside `source`
  std::uint64_t bytes = 0;    ///< of the contiguous form in the stored dtype
  DType stored = DType::f32;  ///< the type in which the elements are stored
  std::optional<std::vector<std::uint64_t>> strides = {};  ///< in elements
  bool big_endian = false;  ///< each unit of the stored dtype has its bytes the other way round
};

/// One tensor of a checkpoint.
struct Tensor {
  std::string name = {};     ///< dotted path, as the file spells it (bytes; usually UTF-8)
  DType dtype = DType::f32;  ///< the type to deliver
  Shape shape = {};
  View view = {};
  std::optional<std::uint64_t> param_id = {};  ///< burn's ParamId
  std::string quantization = {};               ///< the scheme of a QFLOAT as one line of text, else empty
  std::string module_class = {};  ///< pickled class of the module that owns it, where one is known

  /// What an earlier conversion noted of the module, or the attributes of a pickled one that owns it; else
  /// empty.
  std::string recorded_kind = {};
  /// Where the file spells an earlier tensor's name alike: the number that a reader put behind, else 0.
  std::uint64_t number = 0;
  /// Its place in the catalogue as it was before names were changed or left out, where that is kept: what its
  /// name said there goes with it.
  std::optional<std::uint32_t> origin = {};
  /// When there are any, `view` only counts bytes, and the elements are those of the pieces, one after
  /// the other along the first dimension.
  std::vector<Tensor> pieces = {};

  /// Bytes of the contiguous row-major little-endian form in `dtype`. A reader has checked that
  /// this does not overflow.
  std::uint64_t byte_size() const;
  std::uint64_t elements() const;
  /// Whether the bytes to deliver lie as one range in the source: neither strided nor cast, joined or
  /// big-endian.
  bool is_plain() const noexcept;
};

/// Forgets what is known of the module that it belonged to: for a tensor that now belongs to another.
void forget_module(Tensor& tensor);

/// Makes the view for `shape` and `strides` over `source`, with `strides` left out where they are
/// contiguous. Throws `corrupt` when an element would lie outside the source or a number overflows;
/// `offset` is in elements of `dtype`.
View make_strided_view(Bytes source, std::uint64_t offset, const Shape& shape,
                       const std::vector<std::uint64_t>& strides, DType dtype);

/// The tensor with two dimensions exchanged; no byte moves. The dtype's elements fill whole bytes.
Tensor transposed(Tensor tensor, std::size_t first, std::size_t second);

/// Rows [begin, begin + count) of the first dimension; no byte moves. `tensor` has no pieces and its
/// elements fill whole bytes.
Tensor rows(Tensor tensor, std::uint64_t begin, std::uint64_t count);

/// The pieces one after the other along the first dimension; no byte moves. There is at least one.
/// Throws `refused` when they are scalars, differ in dtype or in another dimension, or are together larger
/// than 64 bits can count.
Tensor joined(std::string name, std::vector<Tensor> pieces);

/// Whether two tensors lie at the same place, element for element (tied weights).
bool same_place(const Tensor& a, const Tensor& b);

/// Whether a tensor is so much larger than what is stored of it that reading it whole says nothing more
/// (`limits::repeated_bytes`, `limits::repetition`).
bool repeats_too_much(const Tensor& tensor);

}  // namespace ckpt
