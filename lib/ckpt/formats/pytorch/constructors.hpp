#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ckpt/core/dtype.hpp"

namespace ckpt::pytorch {

/// What a global of a pickle means to a reader that calls nothing.
enum class Meaning : std::uint8_t {
  foreign,  ///< unknown: kept as an opaque object
  hostile,  ///< on the list of names that run code
  plain,    ///< plain data that needs no rule of its own

  // containers and values
  dict,
  list,
  set,
  tuple,
  size,
  bytes,
  encode,
  complex,
  attribute,
  reconstructor,
  new_object,
  object_class,
  // tensors
  storage,
  untyped_storage,
  unknown_storage,
  torch_dtype,
  layout,
  tensor_class,
  parameter_class,
  rebuild_tensor,
  rebuild_tensor_v3,
  rebuild_parameter,
  rebuild_from_type,
  rebuild_quantized,
  rebuild_sparse,
  rebuild_sparse_csr,
  rebuild_nested,
  rebuild_meta,
  rebuild_wrapper,
  rebuild_from_numpy,
  rebuild_from_cpu,
  load_from_bytes,
  // numpy
  numpy_reconstruct,
  numpy_frombuffer,
  numpy_scalar,
  numpy_dtype,
  numpy_array,
};

struct GlobalInfo {
  Meaning meaning = Meaning::foreign;
  std::optional<DType> dtype;      ///< of a storage or dtype, where `ckpt` has it
  std::uint8_t element_bytes = 0;  ///< of a storage
};

/// Looks the global up under Python 3's name of its module.
GlobalInfo classify(std::string_view module, std::string_view name);

/// Whether unpickling that global would make a tensor (or something in a tensor's place).
bool makes_tensor(Meaning meaning);

}  // namespace ckpt::pytorch
