#include "ckpt/core/dtype.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace ckpt {
namespace {

using enum DTypeClass;

// safetensors: the crate's own list; burnpack: burn-std's DType; PyTorch: torch.dtype attributes and
// the typed storage classes of torch 1.x (types without one are only ever in untyped storages).
constexpr std::array table{
    DTypeInfo{DType::f64, "F64", true, "F64", "float64", "DoubleStorage", 64, 8, floating},
    DTypeInfo{DType::f32, "F32", true, "F32", "float32", "FloatStorage", 32, 4, floating},
    DTypeInfo{DType::f16, "F16", true, "F16", "float16", "HalfStorage", 16, 2, floating},
    DTypeInfo{DType::bf16, "BF16", true, "BF16", "bfloat16", "BFloat16Storage", 16, 2, floating},
    DTypeInfo{DType::f8_e4m3, "F8_E4M3", true, "", "float8_e4m3fn", "", 8, 1, floating},
    DTypeInfo{DType::f8_e5m2, "F8_E5M2", true, "", "float8_e5m2", "", 8, 1, floating},
    DTypeInfo{DType::f8_e8m0, "F8_E8M0", true, "", "float8_e8m0fnu", "", 8, 1, floating},
    DTypeInfo{DType::f8_e4m3fnuz, "F8_E4M3FNUZ", true, "", "float8_e4m3fnuz", "", 8, 1, floating},
    DTypeInfo{DType::f8_e5m2fnuz, "F8_E5M2FNUZ", true, "", "float8_e5m2fnuz", "", 8, 1, floating},
    DTypeInfo{DType::f6_e2m3, "F6_E2M3", true, "", "", "", 6, 1, floating},
    DTypeInfo{DType::f6_e3m2, "F6_E3M2", true, "", "", "", 6, 1, floating},
    DTypeInfo{DType::f4, "F4", true, "", "", "", 4, 1, floating},
    DTypeInfo{DType::i64, "I64", true, "I64", "int64", "LongStorage", 64, 8, integer},
    DTypeInfo{DType::i32, "I32", true, "I32", "int32", "IntStorage", 32, 4, integer},
    DTypeInfo{DType::i16, "I16", true, "I16", "int16", "ShortStorage", 16, 2, integer},
    DTypeInfo{DType::i8, "I8", true, "I8", "int8", "CharStorage", 8, 1, integer},
    DTypeInfo{DType::u64, "U64", true, "U64", "uint64", "", 64, 8, integer},
    DTypeInfo{DType::u32, "U32", true, "U32", "uint32", "", 32, 4, integer},
    DTypeInfo{DType::u16, "U16", true, "U16", "uint16", "", 16, 2, integer},
    DTypeInfo{DType::u8, "U8", true, "U8", "uint8", "ByteStorage", 8, 1, integer},
    DTypeInfo{DType::boolean, "BOOL", true, "Bool", "bool", "BoolStorage", 8, 1, boolean},
    DTypeInfo{DType::c32, "C32", false, "", "complex32", "", 32, 2, complex},
    DTypeInfo{DType::c64, "C64", true, "", "complex64", "ComplexFloatStorage", 64, 4, complex},
    DTypeInfo{DType::c128, "C128", false, "", "complex128", "ComplexDoubleStorage", 128, 8, complex},
    DTypeInfo{DType::flex32, "FLEX32", false, "Flex32", "", "", 32, 4, floating},
    DTypeInfo{DType::bool_u8, "BOOL_U8", false, "Bool", "", "", 8, 1, boolean},
    DTypeInfo{DType::bool_u32, "BOOL_U32", false, "Bool", "", "", 32, 4, boolean},
    DTypeInfo{DType::qfloat, "QFLOAT", false, "QFloat", "", "", 8, 1, quantized},
};

constexpr bool in_enum_order() {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (static_cast<std::size_t>(table[i].dtype) != i) return false;
  return true;
}
static_assert(in_enum_order(), "the table is indexed by DType");

char upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }

}  // namespace

std::span<const DTypeInfo> dtype_table() { return table; }

const DTypeInfo& info(DType dtype) { return table[static_cast<std::size_t>(dtype)]; }

std::optional<DType> parse_dtype(std::string_view name) {
  for (const DTypeInfo& row : table)
    if (std::ranges::equal(row.name, name, {}, upper, upper)) return row.dtype;
  return std::nullopt;
}

}  // namespace ckpt
