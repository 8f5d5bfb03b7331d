// The table of known globals, one row each: torch/_utils.py, torch/_tensor.py, torch/storage.py and
// torch/_weights_only_unpickler.py name those of PyTorch; numpy/core/multiarray.py those of NumPy.
// Whatever is not here stays opaque, which is what keeps reading safe; the list of names that run code
// (dangers.cpp) only serves to warn.
#include "ckpt/formats/pytorch/constructors.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "ckpt/formats/pytorch/dangers.hpp"

namespace ckpt::pytorch {
namespace {

using enum Meaning;

struct Row {
  std::string_view module;  // `a.*`: any module below `a` too
  std::string_view name;    // empty: every name of the module
  Meaning meaning;
};

constexpr std::array table{
    Row{"torch._utils", "_rebuild_tensor", rebuild_tensor},
    Row{"torch._utils", "_rebuild_tensor_v2", rebuild_tensor},
    Row{"torch._utils", "_rebuild_tensor_v3", rebuild_tensor_v3},
    Row{"torch._utils", "_rebuild_parameter", rebuild_parameter},
    Row{"torch._utils", "_rebuild_parameter_with_state", rebuild_parameter},
    Row{"torch._utils", "_rebuild_qtensor", rebuild_quantized},
    Row{"torch._utils", "_rebuild_sparse_tensor", rebuild_sparse},
    Row{"torch._utils", "_rebuild_sparse_csr_tensor", rebuild_sparse_csr},
    Row{"torch._utils", "_rebuild_nested_tensor", rebuild_nested},
    Row{"torch._utils", "_rebuild_meta_tensor_no_storage", rebuild_meta},
    Row{"torch._utils", "_rebuild_wrapper_subclass", rebuild_wrapper},
    Row{"torch._utils", "_rebuild_device_tensor_from_numpy", rebuild_from_numpy},
    Row{"torch._utils", "_rebuild_xla_tensor", rebuild_from_numpy},
    Row{"torch._utils", "_rebuild_device_tensor_from_cpu_tensor", rebuild_from_cpu},
    Row{"torch._tensor", "_rebuild_from_type", rebuild_from_type},
    Row{"torch._tensor", "_rebuild_from_type_v2", rebuild_from_type},
    Row{"torch.tensor", "_rebuild_from_type", rebuild_from_type},
    Row{"torch.tensor", "_rebuild_from_type_v2", rebuild_from_type},
    Row{"torch.storage", "_load_from_bytes", load_from_bytes},
    Row{"torch", "Tensor", tensor_class},
    Row{"torch._tensor", "Tensor", tensor_class},
    Row{"torch.tensor", "Tensor", tensor_class},
    Row{"torch.nn.parameter", "Parameter", parameter_class},
    Row{"torch.nn.parameter", "Buffer", parameter_class},
    Row{"torch.autograd.variable", "Variable", parameter_class},
    Row{"torch", "Size", size},
    Row{"torch", "device", plain},
    Row{"torch", "Generator", plain},
    Row{"torch.serialization", "_get_layout", layout},
    Row{"torch", "per_tensor_affine", plain},
    Row{"torch", "per_tensor_symmetric", plain},
    Row{"torch", "per_channel_affine", plain},
    Row{"torch", "per_channel_symmetric", plain},
    Row{"torch", "per_channel_affine_float_qparams", plain},
    Row{"torch", "contiguous_format", plain},
    Row{"torch", "channels_last", plain},
    Row{"torch", "preserve_format", plain},
    Row{"torch", "strided", plain},
    Row{"torch.nn.functional", "relu", plain},
    Row{"torch.nn.functional", "gelu", plain},
    Row{"torch._C._nn", "gelu", plain},
    Row{"torch._C._functions", "AccumulateGrad", plain},
    Row{"torch.utils.hooks", "RemovableHandle", plain},
    Row{"torch.jit._pickle", "build_intlist", list},
    Row{"torch.jit._pickle", "build_doublelist", list},
    Row{"torch.jit._pickle", "build_boollist", list},
    Row{"torch.jit._pickle", "build_tensorlist", list},
    Row{"torch.jit._pickle", "restore_type_tag", list},
    Row{"collections", "OrderedDict", dict},
    Row{"collections", "defaultdict", dict},
    Row{"collections", "Counter", dict},
    Row{"collections", "deque", list},
    Row{"builtins", "set", set},
    Row{"builtins", "frozenset", set},
    Row{"builtins", "list", list},
    Row{"builtins", "tuple", tuple},
    Row{"builtins", "dict", dict},
    Row{"builtins", "bytes", bytes},
    Row{"builtins", "bytearray", bytes},
    Row{"builtins", "complex", complex},
    Row{"builtins", "int", plain},
    Row{"builtins", "float", plain},
    Row{"builtins", "bool", plain},
    Row{"builtins", "str", plain},
    Row{"builtins", "slice", plain},
    Row{"builtins", "range", plain},
    Row{"builtins", "object", object_class},
    Row{"builtins", "Ellipsis", plain},
    Row{"builtins", "NotImplemented", plain},
    Row{"builtins", "getattr", attribute},
    Row{"copyreg", "_reconstructor", reconstructor},
    Row{"copyreg", "__newobj__", new_object},
    Row{"_codecs", "encode", encode},
    Row{"datetime", "", plain},
    Row{"decimal", "Decimal", plain},
    Row{"fractions", "Fraction", plain},
    Row{"uuid", "UUID", plain},
    Row{"uuid", "SafeUUID", plain},
    Row{"pathlib", "", plain},
    Row{"argparse", "Namespace", plain},
    Row{"types", "SimpleNamespace", plain},
    Row{"functools", "partial", plain},
    Row{"numpy.core.multiarray", "_reconstruct", numpy_reconstruct},
    Row{"numpy._core.multiarray", "_reconstruct", numpy_reconstruct},
    Row{"numpy.core.multiarray", "scalar", numpy_scalar},
    Row{"numpy._core.multiarray", "scalar", numpy_scalar},
    Row{"numpy.core.numeric", "_frombuffer", numpy_frombuffer},
    Row{"numpy._core.numeric", "_frombuffer", numpy_frombuffer},
    Row{"numpy", "dtype", numpy_dtype},
    Row{"numpy", "ndarray", numpy_array},
    Row{"numpy.dtypes", "", plain},
    Row{"numpy.random._pickle", "", plain},
    Row{"numpy", "float32", plain},
    Row{"numpy", "float64", plain},
    Row{"numpy", "int64", plain},
    Row{"pytorch_lightning.utilities.parsing", "AttributeDict", dict},
    Row{"lightning.pytorch.utilities.parsing", "AttributeDict", dict},
    Row{"lightning_fabric.utilities.data", "AttributeDict", dict},
    Row{"lightning.fabric.utilities.data", "AttributeDict", dict},
};

/// dtypes that PyTorch names and `ckpt` cannot deliver, and other names of those that it can.
constexpr std::array homeless_dtypes{
    std::string_view{"bits8"},    std::string_view{"bits16"},   std::string_view{"bits1x8"},
    std::string_view{"bits2x4"},  std::string_view{"bits4x2"},  std::string_view{"float4_e2m1fn_x2"},
    std::string_view{"qint8"},    std::string_view{"quint8"},   std::string_view{"qint32"},
    std::string_view{"quint4x2"}, std::string_view{"quint2x4"},
};
struct Alias {
  std::string_view name;
  DType dtype;
};
constexpr std::array dtype_aliases{
    Alias{"double", DType::f64}, Alias{"float", DType::f32},  Alias{"half", DType::f16},
    Alias{"long", DType::i64},   Alias{"int", DType::i32},    Alias{"short", DType::i16},
    Alias{"chalf", DType::c32},  Alias{"cfloat", DType::c64}, Alias{"cdouble", DType::c128},
};

/// Storages of quantised elements: known, so that legacy files stay readable behind them.
struct QuantizedStorage {
  std::string_view name;
  std::uint8_t element_bytes;
};
constexpr std::array quantized_storages{
    QuantizedStorage{"QInt8Storage", 1},    QuantizedStorage{"QUInt8Storage", 1},
    QuantizedStorage{"QInt32Storage", 4},   QuantizedStorage{"QUInt4x2Storage", 1},
    QuantizedStorage{"QUInt2x4Storage", 1},
};

std::optional<GlobalInfo> classify_storage(std::string_view name) {
  if (name == "UntypedStorage" || name == "_UntypedStorage")
    return GlobalInfo{untyped_storage, std::nullopt, 1};
  for (const DTypeInfo& row : dtype_table())
    if (!row.torch_storage.empty() && row.torch_storage == name)
      return GlobalInfo{storage, row.dtype, static_cast<std::uint8_t>(row.bits / 8)};
  for (const QuantizedStorage& row : quantized_storages)
    if (row.name == name) return GlobalInfo{storage, std::nullopt, row.element_bytes};
  if (name.find("Storage") != std::string_view::npos) return GlobalInfo{unknown_storage, std::nullopt, 0};
  return std::nullopt;
}

std::optional<GlobalInfo> classify_dtype(std::string_view name) {
  for (const DTypeInfo& row : dtype_table())
    if (!row.torch_dtype.empty() && row.torch_dtype == name) return GlobalInfo{torch_dtype, row.dtype, 0};
  for (const Alias& row : dtype_aliases)
    if (row.name == name) return GlobalInfo{torch_dtype, row.dtype, 0};
  if (std::ranges::find(homeless_dtypes, name) != homeless_dtypes.end())
    return GlobalInfo{torch_dtype, std::nullopt, 0};
  return std::nullopt;
}

/// `torch.FloatTensor`: the class of tensors whose storage is `torch.FloatStorage`.
bool is_typed_tensor(std::string_view name) {
  if (!name.ends_with("Tensor")) return false;
  const std::string stem(name.substr(0, name.size() - 6));
  return std::ranges::any_of(dtype_table(),
                             [&](const DTypeInfo& row) { return row.torch_storage == stem + "Storage"; });
}

bool is_torch(std::string_view module) { return module == "torch" || module.starts_with("torch."); }

}  // namespace

GlobalInfo classify(std::string_view module, std::string_view name) {
  for (const Row& row : table)
    if (row.module == module && (row.name.empty() || row.name == name)) return {row.meaning, std::nullopt, 0};
  if (is_torch(module)) {
    if (const auto info = classify_storage(name)) return *info;
    if (module == "torch")
      if (const auto info = classify_dtype(name)) return *info;
    if ((module == "torch" || module == "torch.cuda") && is_typed_tensor(name))
      return {tensor_class, std::nullopt, 0};
  }
  return {is_dangerous(module, name) ? hostile : foreign, std::nullopt, 0};
}

bool makes_tensor(Meaning meaning) { return meaning >= tensor_class && meaning <= rebuild_from_cpu; }

}  // namespace ckpt::pytorch
