#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ckpt {

/// Every element type that a checkpoint of one of the three worlds can hold.
enum class DType : std::uint8_t {
  f64,
  f32,
  f16,
  bf16,
  f8_e4m3,
  f8_e5m2,
  f8_e8m0,
  f8_e4m3fnuz,
  f8_e5m2fnuz,
  f6_e2m3,
  f6_e3m2,
  f4,
  i64,
  i32,
  i16,
  i8,
  u64,
  u32,
  u16,
  u8,
  boolean,
  c32,
  c64,
  c128,
  flex32,
  bool_u8,
  bool_u32,
  qfloat,
};

enum class DTypeClass : std::uint8_t { floating, integer, boolean, complex, quantized };

/// One row of the dtype table: what the three worlds call a type, and how it is laid out.
struct DTypeInfo {
  DType dtype;
  std::string_view name;           ///< as `ckpt` and safetensors spell it
  bool in_safetensors;             ///< safetensors has a type of this name
  std::string_view burnpack;       ///< burn's name; empty when burn has no such type
  std::string_view torch_dtype;    ///< `torch.` attribute of the dtype; empty when PyTorch has none
  std::string_view torch_storage;  ///< typed storage class; empty when only untyped storages hold it
  unsigned bits;                   ///< of one element; 8 for `qfloat`, whose packing lies in its scheme
  unsigned unit;                   ///< bytes of what a change of byte order swaps (half a complex number)
  DTypeClass kind;
};

/// The whole table, in the order of `DType`.
std::span<const DTypeInfo> dtype_table();
const DTypeInfo& info(DType dtype);

/// As `ckpt` spells the type (`F32`, `BF16`, `BOOL`, …).
inline std::string_view name(DType dtype) { return info(dtype).name; }
/// Bytes of one element; 0 for types whose elements do not fill whole bytes.
inline unsigned element_size(DType dtype) { return info(dtype).bits % 8 == 0 ? info(dtype).bits / 8 : 0; }
inline bool is_floating(DType dtype) { return info(dtype).kind == DTypeClass::floating; }

/// The type of that name, in any case; nothing for an unknown one.
std::optional<DType> parse_dtype(std::string_view name);

}  // namespace ckpt
