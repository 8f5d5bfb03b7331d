#include "ckpt/codec/npy.hpp"

#include "ckpt/core/error.hpp"

namespace ckpt::npy {

// numpy/lib/format.py:
//
//   \x93NUMPY  1  0  | length, 2 bytes | {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n |
//   data
//   '------ a multiple of 64 bytes, filled up with blanks before the line feed ---------------------'

std::optional<std::string_view> descriptor(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "<f8";
    case DType::f32:
    case DType::flex32:  // stored as an F32
      return "<f4";
    case DType::f16:
      return "<f2";
    case DType::i64:
      return "<i8";
    case DType::i32:
      return "<i4";
    case DType::i16:
      return "<i2";
    case DType::i8:
      return "|i1";
    case DType::u64:
      return "<u8";
    case DType::u32:
      return "<u4";
    case DType::u16:
      return "<u2";
    case DType::u8:
      return "|u1";
    case DType::boolean:
    case DType::bool_u8:
      return "|b1";
    case DType::c64:
      return "<c8";
    case DType::c128:
      return "<c16";
    default:
      return std::nullopt;
  }
}

std::string header(DType dtype, const Shape& shape) {
  const std::optional<std::string_view> type = descriptor(dtype);
  if (!type) fail(ErrorKind::unsupported, "NumPy has no type {}", name(dtype));
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (", *type);
  for (std::size_t i = 0; i < shape.size(); ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", shape[i]);
  text += shape.size() == 1 ? ",), }" : "), }";
  constexpr std::size_t before = 10;  // magic, version, length
  constexpr std::size_t alignment = 64;
  // NumPy leaves room for the first dimension to grow to 21 digits.
  if (!shape.empty()) text.append(21 - std::to_string(shape.front()).size(), ' ');
  text.append(alignment - (before + text.size() + 1) % alignment, ' ');
  text += '\n';
  if (text.size() > 0xFFFF)
    fail(ErrorKind::unsupported, "{} dimensions are more than a .npy header of version 1.0 holds",
         shape.size());
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(text.size() & 0xFFU);
  out += static_cast<char>(text.size() >> 8U);
  return out + text;
}

}  // namespace ckpt::npy
