#include "ckpt/core/tensor.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "ckpt/core/checked.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt {

std::optional<std::uint64_t> element_count(const Shape& shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t size : shape) {
    const std::optional<std::uint64_t> product = checked_multiply(count, size);
    if (!product) return std::nullopt;
    count = *product;
  }
  return count;
}

std::optional<std::uint64_t> byte_count(const Shape& shape, DType dtype) {
  const std::optional<std::uint64_t> count = element_count(shape);
  if (!count) return std::nullopt;
  const std::optional<std::uint64_t> bits = checked_multiply(*count, info(dtype).bits);
  if (!bits || *bits % 8 != 0) return std::nullopt;
  return *bits / 8;
}

std::vector<std::uint64_t> contiguous_strides(const Shape& shape) {
  std::vector<std::uint64_t> strides(shape.size());
  std::uint64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i] == 0 ? 1 : shape[i];
  }
  return strides;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (const std::uint64_t dimension : shape) {
    const fmt::format_int digits(dimension);
    if (text.size() > 1) text += ", ";
    text.append(digits.data(), digits.size());
  }
  return text += ']';
}

std::uint64_t Tensor::byte_size() const {
  return dtype == view.stored ? view.bytes : byte_count(shape, dtype).value();
}

std::uint64_t Tensor::elements() const { return element_count(shape).value(); }

bool Tensor::is_plain() const noexcept {
  return view.source && !view.strides && !view.big_endian && pieces.empty() && dtype == view.stored;
}

void forget_module(Tensor& tensor) {
  tensor.param_id.reset();
  tensor.module_class.clear();
  tensor.recorded_kind.clear();
  tensor.origin.reset();
}

View make_strided_view(Bytes source, std::uint64_t offset, const Shape& shape,
                       const std::vector<std::uint64_t>& strides, DType dtype) {
  const unsigned size = element_size(dtype);
  if (size == 0)
    fail(ErrorKind::unsupported, "{} elements do not fill whole bytes and cannot be strided", name(dtype));
  if (strides.size() != shape.size())
    fail(ErrorKind::corrupt, "{} strides for {} dimensions", strides.size(), shape.size());
  const std::optional<std::uint64_t> count = element_count(shape);
  const std::optional<std::uint64_t> bytes = byte_count(shape, dtype);
  if (!count || !bytes)
    fail(ErrorKind::corrupt, "shape {} has more elements than can be counted", to_string(shape));

  const std::optional<std::uint64_t> start = checked_multiply(offset, size);
  if (*count == 0) {  // may begin anywhere, also where the storage has ended
    const std::uint64_t begin = std::min(start.value_or(0), source->size());
    return {.source = std::move(source), .offset = begin, .bytes = 0, .stored = dtype};
  }
  bool contiguous = true;
  std::uint64_t step = 1;
  std::optional<std::uint64_t> last = offset;  // element index of the furthest element
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != step) contiguous = false;
    const std::optional<std::uint64_t> reach = checked_multiply(shape[i] - 1, strides[i]);
    if (!reach || !last)
      fail(ErrorKind::corrupt, "strides {} reach beyond what can be counted", to_string(strides));
    last = checked_add(*last, *reach);
    step *= shape[i];  // at most *count, which fits
  }
  if (last) last = checked_add(*last, 1);
  const std::optional<std::uint64_t> end = last ? checked_multiply(*last, size) : std::nullopt;
  if (!start || !end || *end > source->size())
    fail(ErrorKind::corrupt,
         "elements up to byte {} of a storage that holds {} bytes (shape {}, strides {}, offset {})",
         end ? *end : UINT64_MAX, source->size(), to_string(shape), to_string(strides), offset);

  View view{.source = std::move(source), .offset = *start, .bytes = *bytes, .stored = dtype};
  if (!contiguous) view.strides = strides;
  return view;
}

Tensor transposed(Tensor tensor, std::size_t first, std::size_t second) {
  std::vector<std::uint64_t> strides =
      tensor.view.strides ? std::move(*tensor.view.strides) : contiguous_strides(tensor.shape);
  std::swap(strides.at(first), strides.at(second));
  std::swap(tensor.shape.at(first), tensor.shape.at(second));
  const std::vector<std::uint64_t> plain = contiguous_strides(tensor.shape);
  bool contiguous = tensor.view.bytes == 0;
  if (!contiguous) {
    contiguous = true;
    for (std::size_t i = 0; i < plain.size(); ++i)
      if (tensor.shape[i] != 1 && strides[i] != plain[i]) contiguous = false;
  }
  tensor.view.strides = contiguous ? std::nullopt : std::optional(std::move(strides));
  return tensor;
}

Tensor rows(Tensor tensor, std::uint64_t begin, std::uint64_t count) {
  const std::uint64_t step = tensor.view.strides         ? tensor.view.strides->front()
                             : tensor.shape.front() == 0 ? 0
                                                         : tensor.elements() / tensor.shape.front();
  tensor.view.offset += begin * step * element_size(tensor.view.stored);
  tensor.shape.front() = count;
  tensor.view.bytes = byte_count(tensor.shape, tensor.view.stored).value();
  return tensor;
}

Tensor joined(std::string name, std::vector<Tensor> pieces) {
  Tensor whole = pieces.front();
  whole.name = std::move(name);
  whole.view = View{.bytes = 0, .stored = whole.view.stored};
  if (whole.shape.empty())
    fail(ErrorKind::refused, "{} cannot be joined: {} is a scalar", printable(whole.name),
         printable(pieces.front().name));
  whole.shape.front() = 0;
  for (const Tensor& piece : pieces) {
    if (piece.dtype != whole.dtype || piece.view.stored != whole.view.stored ||
        piece.shape.size() != whole.shape.size() ||
        !std::equal(piece.shape.begin() + 1, piece.shape.end(), whole.shape.begin() + 1))
      fail(ErrorKind::refused, "{} cannot be joined: {} is {} {}, but {} is {} {}", printable(whole.name),
           printable(pieces.front().name), ckpt::name(pieces.front().dtype), to_string(pieces.front().shape),
           printable(piece.name), ckpt::name(piece.dtype), to_string(piece.shape));
    const std::optional<std::uint64_t> rows = checked_add(whole.shape.front(), piece.shape.front());
    const std::optional<std::uint64_t> bytes = checked_add(whole.view.bytes, piece.view.bytes);
    if (!rows || !bytes)
      fail(ErrorKind::refused, "{} cannot be joined: it is larger than can be counted",
           printable(whole.name));
    whole.shape.front() = *rows;
    whole.view.bytes = *bytes;
  }
  whole.pieces = std::move(pieces);
  return whole;
}

bool same_place(const Tensor& a, const Tensor& b) {
  return a.view.source == b.view.source && a.view.offset == b.view.offset && a.shape == b.shape &&
         a.view.stored == b.view.stored && a.dtype == b.dtype && a.view.strides == b.view.strides &&
         a.view.big_endian == b.view.big_endian && a.view.bytes != 0 && a.pieces.empty() && b.pieces.empty();
}

bool repeats_too_much(const Tensor& tensor) {
  return tensor.view.source && tensor.byte_size() > limits::repeated_bytes &&
         tensor.byte_size() / limits::repetition > tensor.view.source->size();
}

}  // namespace ckpt
