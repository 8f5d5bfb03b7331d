#include "ckpt/formats/pytorch/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/codec/pickle_writer.hpp"
#include "ckpt/codec/zip_writer.hpp"
#include "ckpt/core/checked.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/places.hpp"
#include "ckpt/core/text.hpp"

// archive/data.pkl   a pickle of protocol 2: OrderedDict of name -> _rebuild_tensor_v2(storage, 0, size,
// stride,
//                    False, OrderedDict()), where the storage is the persistent id ('storage', class, key,
//                    'cpu', n)
// archive/byteorder  little
// archive/data/KEY   the elements, contiguous, in the order in which the pickle first names them
// archive/version    3
//
// These records, in this order and without memo opcodes, are the least that every torch.load since 1.6 takes.
// What newer versions add (.format_version, .storage_alignment) lets them compute offsets from their own
// writer's exact layout and is left out. Types without a typed storage class go through _rebuild_tensor_v3,
// as torch 2.1 writes them.

namespace ckpt {
namespace {

constexpr std::string_view folder = "archive/";

/// `torch.FloatStorage` or, for types that have none, the untyped one, which counts bytes.
void put_storage(PickleWriter& pickle, const Tensor& tensor, const std::string& key) {
  const DTypeInfo& type = info(tensor.dtype);
  const bool is_typed = !type.torch_storage.empty();
  pickle.mark();
  pickle.text("storage");
  if (is_typed) pickle.global("torch", type.torch_storage);
  else pickle.global("torch.storage", "UntypedStorage");
  pickle.text(key);
  pickle.text("cpu");
  pickle.integer(is_typed ? tensor.elements() : tensor.byte_size());
  pickle.tuple();
  pickle.persistent_id();
}

void put_tensor(PickleWriter& pickle, const Tensor& tensor, const std::string& key) {
  const DTypeInfo& type = info(tensor.dtype);
  const bool is_typed = !type.torch_storage.empty();
  pickle.global("torch._utils", is_typed ? "_rebuild_tensor_v2" : "_rebuild_tensor_v3");
  pickle.mark();
  put_storage(pickle, tensor, key);
  pickle.integer(0);
  pickle.integers(tensor.shape);
  pickle.integers(contiguous_strides(tensor.shape));
  pickle.boolean(false);
  pickle.global("collections", "OrderedDict");
  pickle.empty_tuple();
  pickle.reduce();
  if (!is_typed) pickle.global("torch", type.torch_dtype);
  pickle.tuple();
  pickle.reduce();
}

/// PyTorch counts sizes and strides in 64 bits with a sign; a tensor without elements can name larger ones.
bool fits_pytorch(const Shape& shape) {
  std::uint64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] > INT64_MAX || step > INT64_MAX) return false;
    const std::optional<std::uint64_t> next = checked_multiply(step, std::max<std::uint64_t>(shape[i], 1));
    if (!next) return i == 0;
    step = *next;
  }
  return true;
}

// torch/csrc: sizes are int64, and a tensor has at most 64 dimensions.
constexpr std::size_t most_dimensions = 64;

void require_writable(const Tensor& tensor) {
  if (tensor.shape.size() > most_dimensions ||
      std::ranges::any_of(tensor.shape, [](std::uint64_t size) { return size > INT64_MAX; }))
    throw Error(ErrorKind::refused,
                fmt::format("tensor {}: PyTorch has no tensors of shape {}", printable(tensor.name),
                            to_string(tensor.shape).substr(0, 80)))
        .with_hint("leave it out with --exclude, or write another format");
  if (!pytorch_holds(tensor.dtype))
    throw Error(ErrorKind::refused, fmt::format("tensor {}: PyTorch has no type for {}",
                                                printable(tensor.name), name(tensor.dtype)))
        .with_hint("leave it out with --exclude, or write another format");
  if (!fits_pytorch(tensor.shape))
    throw Error(ErrorKind::refused,
                fmt::format("tensor {}: PyTorch cannot count to the sizes of its shape {}",
                            printable(tensor.name), to_string(tensor.shape)))
        .with_hint("leave it out with --exclude, or write another format");
  if (!is_utf8(tensor.name, Surrogates::allowed))
    throw Error(ErrorKind::refused,
                fmt::format("tensor {}: the name is not UTF-8, which PyTorch wants", printable(tensor.name)))
        .with_hint("rename it with --rename");
}

}  // namespace

bool pytorch_holds(DType dtype) { return !info(dtype).torch_dtype.empty(); }

Plan plan_pytorch(const Checkpoint& checkpoint) {
  PickleWriter pickle;
  pickle.global("collections", "OrderedDict");
  pickle.empty_tuple();
  pickle.reduce();
  pickle.mark();
  std::vector<std::size_t> storages;  // for each key, the tensor whose elements it holds
  std::vector<std::size_t> keys;      // of each tensor's storage
  const std::vector<std::size_t> first = first_at_same_place(checkpoint.tensors);
  for (std::size_t i = 0; i < checkpoint.tensors.size(); ++i) {
    const Tensor& tensor = checkpoint.tensors[i];
    require_writable(tensor);
    keys.push_back(first[i] == i ? storages.size() : keys[first[i]]);
    if (first[i] == i) storages.push_back(i);
    pickle.text(tensor.name);
    put_tensor(pickle, tensor, std::to_string(keys.back()));
  }
  pickle.set_items();

  ZipWriter zip;
  zip.add(std::string(folder) + "data.pkl", std::move(pickle).finish());
  zip.add(std::string(folder) + "byteorder", as_bytes("little"));
  for (std::size_t key = 0; key < storages.size(); ++key)
    zip.add_tensor(fmt::format("{}data/{}", folder, key), storages[key],
                   checkpoint.tensors[storages[key]].byte_size());
  zip.add(std::string(folder) + "version", as_bytes("3\n"));
  return std::move(zip).finish();
}

}  // namespace ckpt
