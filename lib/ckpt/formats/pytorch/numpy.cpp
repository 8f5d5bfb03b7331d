// NumPy inside pickles (numpy/core/src/multiarray: array_reduce, arraydescr_reduce, scalar):
//
//     array    _reconstruct(ndarray, (0,), b'b')  BUILD (version, shape, dtype, fortran, bytes | list of
//     objects)
//              _frombuffer(bytes, dtype, shape, 'C' | 'F')                           protocol 5
//     dtype    dtype('f4', align, copy)  BUILD (3, '<' | '>' | '|' | '=', subarray, names, fields, …)
//     scalar   scalar(dtype, bytes)
//
// Protocol 2 writes bytes as _codecs.encode(text, 'latin1').
#include "ckpt/formats/pytorch/numpy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "ckpt/codec/pickle_text.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"

namespace ckpt::pytorch {
namespace {

struct NumpyType {
  std::string text;
  std::optional<DType> dtype;  // nothing for strings, objects, dates and records
  bool big_endian = false;
};

struct TypeCode {
  std::string_view code;
  DType dtype;
};
constexpr std::array type_codes{
    TypeCode{"f8", DType::f64},    TypeCode{"f4", DType::f32}, TypeCode{"f2", DType::f16},
    TypeCode{"i8", DType::i64},    TypeCode{"i4", DType::i32}, TypeCode{"i2", DType::i16},
    TypeCode{"i1", DType::i8},     TypeCode{"u8", DType::u64}, TypeCode{"u4", DType::u32},
    TypeCode{"u2", DType::u16},    TypeCode{"u1", DType::u8},  TypeCode{"b1", DType::boolean},
    TypeCode{"?", DType::boolean}, TypeCode{"c8", DType::c64}, TypeCode{"c16", DType::c128},
};

std::optional<NumpyType> numpy_type(const Document& document, NodeId id) {
  const pickle::Graph& graph = document.graph;
  if (call_meaning(document, id) != Meaning::numpy_dtype) return std::nullopt;
  const std::span<const NodeId> args = call_args(document, id);
  if (args.empty() || !graph.is_text(args.front())) return std::nullopt;
  std::string_view code = graph.text(args.front());
  char order = '|';
  if (!code.empty() && std::string_view("<>|=").find(code.front()) != std::string_view::npos) {
    order = code.front();
    code.remove_prefix(1);
  }
  if (const NodeId state = graph.call(id).state;
      graph.is(state, Kind::tuple) && graph.children(state).size() > 1) {
    const NodeId text = graph.children(state)[1];
    if (graph.is_text(text) && graph.text(text).size() == 1) order = graph.text(text).front();
  }
  NumpyType type;
  for (const TypeCode& row : type_codes)
    if (row.code == code) type.dtype = row.dtype;
  type.big_endian = order == '>' && type.dtype && info(*type.dtype).unit > 1;
  type.text = order + std::string(code);
  return type;
}

std::optional<Shape> shape_of(const Document& document, NodeId id) {
  const pickle::Graph& graph = document.graph;
  if (const auto one = graph.as_integer(id); one && *one >= 0) return Shape{static_cast<std::uint64_t>(*one)};
  if (!graph.is(id, Kind::tuple) || graph.children(id).size() > limits::dimensions) return std::nullopt;
  Shape shape;
  for (const NodeId size : graph.children(id)) {
    const std::optional<std::int64_t> value = graph.as_integer(size);
    if (!value || *value < 0) return std::nullopt;
    shape.push_back(static_cast<std::uint64_t>(*value));
  }
  return shape;
}

struct ArrayParts {
  NodeId shape, dtype, data;
  bool fortran = false;
};

std::optional<ArrayParts> array_parts(const Document& document, NodeId id) {
  const pickle::Graph& graph = document.graph;
  const Meaning meaning = call_meaning(document, id);
  if (meaning == Meaning::numpy_frombuffer) {
    const std::span<const NodeId> args = call_args(document, id);
    if (args.size() < 4) fail(ErrorKind::corrupt, "_frombuffer with {} arguments instead of 4", args.size());
    return ArrayParts{args[2], args[1], args[0], graph.is_text(args[3]) && graph.text(args[3]) == "F"};
  }
  if (meaning != Meaning::numpy_reconstruct) return std::nullopt;
  const NodeId state = graph.call(id).state;
  if (!graph.is(state, Kind::tuple)) fail(ErrorKind::corrupt, "a numpy array without its data");
  std::span<const NodeId> parts = graph.children(state);
  if (parts.size() == 5) parts = parts.subspan(1);  // the version came later
  if (parts.size() != 4)
    fail(ErrorKind::corrupt, "a numpy array whose state has {} parts instead of 5", parts.size());
  return ArrayParts{parts[0], parts[1], parts[3], graph.as_integer(parts[2]).value_or(0) != 0};
}

template <typename T> T reinterpret(std::span<const std::byte> bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

double half_to_double(std::uint16_t bits) {
  const unsigned exponent = bits >> 10U & 0x1FU;
  const double fraction = bits & 0x3FFU;
  double value = 0;
  if (exponent == 0) value = fraction / 16777216.0;
  else if (exponent == 31) value = fraction == 0 ? HUGE_VAL : NAN;
  else value = std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
  return (bits & 0x8000U) != 0 ? -value : value;
}

}  // namespace

std::optional<Bytes> bytes_of(const Document& document, NodeId id) {
  const pickle::Graph& graph = document.graph;
  if (graph.is(id, Kind::bytes) || graph.is(id, Kind::text8)) {
    const std::optional<std::uint64_t> offset = graph.source_offset(id);
    return offset ? slice(document.source, *offset, graph.text(id).size()) : memory_bytes(graph.text(id));
  }
  const Meaning meaning = call_meaning(document, id);
  if (meaning != Meaning::encode && meaning != Meaning::bytes) return std::nullopt;
  const std::span<const NodeId> args = call_args(document, id);
  if (args.empty()) return memory_bytes(std::string_view());
  if (graph.is(args.front(), Kind::text)) {  // both `encode(text, 'latin1')` and `bytearray(text, 'latin-1')`
    const auto [made, is_new] = document.decoded.try_emplace(args.front());
    if (!is_new) return made->second;
    if (const std::optional<std::string> bytes = pickle::encode_latin1(graph.text(args.front())))
      made->second = memory_bytes(*bytes);
    return made->second;
  }
  if (graph.is(args.front(), Kind::bytes) || graph.is(args.front(), Kind::text8))
    return bytes_of(document, args.front());
  return std::nullopt;
}

std::optional<std::variant<Tensor, ArraySummary>> numpy_array(const Document& document, NodeId id) {
  const std::optional<ArrayParts> parts = array_parts(document, id);
  if (!parts) return std::nullopt;
  const std::optional<Shape> shape = shape_of(document, parts->shape);
  const std::optional<NumpyType> type = numpy_type(document, parts->dtype);
  if (!shape) fail(ErrorKind::corrupt, "a numpy array whose shape is {}", describe(document, parts->shape));
  if (!type || !type->dtype)
    return ArraySummary{fmt::format("numpy array of {}, shape {}",
                                    type ? type->text : describe(document, parts->dtype), to_string(*shape))};

  std::optional<Bytes> bytes = bytes_of(document, parts->data);
  if (!bytes)
    fail(ErrorKind::corrupt, "the data of a numpy array is {}, not bytes", describe(document, parts->data));
  const std::optional<std::uint64_t> wanted = byte_count(*shape, *type->dtype);
  if (!wanted || *wanted != (*bytes)->size())
    fail(ErrorKind::corrupt, "a numpy array of {} {} holds {} bytes", name(*type->dtype), to_string(*shape),
         (*bytes)->size());

  Tensor tensor;
  tensor.dtype = *type->dtype;
  tensor.shape = *shape;
  std::vector<std::uint64_t> strides = contiguous_strides(*shape);
  if (parts->fortran) {
    std::uint64_t step = 1;
    for (std::size_t i = 0; i < shape->size(); ++i) {
      strides[i] = step;
      step *= (*shape)[i] == 0 ? 1 : (*shape)[i];
    }
  }
  tensor.view = make_strided_view(std::move(*bytes), 0, tensor.shape, strides, tensor.dtype);
  tensor.view.big_endian = type->big_endian;
  return tensor;
}

bool is_numeric_array(const Document& document, NodeId id) {
  const Meaning meaning = call_meaning(document, id);
  if (meaning != Meaning::numpy_reconstruct && meaning != Meaning::numpy_frombuffer) return false;
  const pickle::Graph& graph = document.graph;
  const NodeId state = meaning == Meaning::numpy_frombuffer ? graph.call(id).args : graph.call(id).state;
  if (!graph.is(state, Kind::tuple)) return true;
  for (const NodeId part : graph.children(state))
    if (call_meaning(document, part) == Meaning::numpy_dtype)
      return numpy_type(document, part).value_or(NumpyType{}).dtype.has_value();
  return true;
}

std::optional<Value> numpy_scalar(const Document& document, NodeId id) {
  if (call_meaning(document, id) != Meaning::numpy_scalar) return std::nullopt;
  const std::span<const NodeId> args = call_args(document, id);
  if (args.size() < 2) return std::nullopt;
  const std::optional<NumpyType> type = numpy_type(document, args[0]);
  const std::optional<Bytes> bytes = bytes_of(document, args[1]);
  if (!type || !type->dtype || !bytes || (*bytes)->size() != element_size(*type->dtype)) return std::nullopt;
  std::vector<std::byte> raw = read_range(**bytes, 0, (*bytes)->size());
  if (type->big_endian) std::ranges::reverse(raw);
  switch (*type->dtype) {
    case DType::f64:
      return Value(reinterpret<double>(raw));
    case DType::f32:
      return Value(static_cast<double>(reinterpret<float>(raw)));
    case DType::f16:
      return Value(half_to_double(reinterpret<std::uint16_t>(raw)));
    case DType::i64:
      return Value(reinterpret<std::int64_t>(raw));
    case DType::i32:
      return Value(std::int64_t{reinterpret<std::int32_t>(raw)});
    case DType::i16:
      return Value(std::int64_t{reinterpret<std::int16_t>(raw)});
    case DType::i8:
      return Value(std::int64_t{reinterpret<std::int8_t>(raw)});
    case DType::u64:
      return Value(reinterpret<std::uint64_t>(raw));
    case DType::u32:
      return Value(std::int64_t{reinterpret<std::uint32_t>(raw)});
    case DType::u16:
      return Value(std::int64_t{reinterpret<std::uint16_t>(raw)});
    case DType::u8:
      return Value(std::int64_t{reinterpret<std::uint8_t>(raw)});
    case DType::boolean:
      return Value(raw.front() != std::byte{0});
    default:
      return std::nullopt;
  }
}

std::string numpy_dtype_text(const Document& document, NodeId id) {
  const std::optional<NumpyType> type = numpy_type(document, id);
  return type ? type->text : std::string();
}

}  // namespace ckpt::pytorch
