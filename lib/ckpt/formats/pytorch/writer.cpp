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

/// The tensors of a checkpoint as an archive's storages: those that lie at one place share one.
class Storages {
 public:
  explicit Storages(const std::vector<Tensor>& tensors)
      : tensors_(tensors), first_(first_at_same_place(tensors)), keys_(tensors.size(), no_key) {}

  /// Writes the tensor of that index.
  void put(PickleWriter& pickle, std::size_t index) {
    require_writable(tensors_[index]);
    std::size_t& key = keys_[first_[index]];
    if (key == no_key) {
      key = storages_.size();
      storages_.push_back(first_[index]);
    }
    put_tensor(pickle, tensors_[index], std::to_string(key));
  }

  Plan archive(PickleWriter pickle) const {
    ZipWriter zip;
    zip.add(std::string(folder) + "data.pkl", std::move(pickle).finish());
    zip.add(std::string(folder) + "byteorder", as_bytes("little"));
    for (std::size_t key = 0; key < storages_.size(); ++key)
      zip.add_tensor(fmt::format("{}data/{}", folder, key), storages_[key],
                     tensors_[storages_[key]].byte_size());
    zip.add(std::string(folder) + "version", as_bytes("3\n"));
    return std::move(zip).finish();
  }

 private:
  static constexpr std::size_t no_key = SIZE_MAX;
  const std::vector<Tensor>& tensors_;
  std::vector<std::size_t> first_;     // of each tensor, the first that lies where it does
  std::vector<std::size_t> keys_;      // of such first ones, once they are written
  std::vector<std::size_t> storages_;  // for each key, the tensor whose elements it holds
};

void put_ordered_dict(PickleWriter& pickle) {
  pickle.global("collections", "OrderedDict");
  pickle.empty_tuple();
  pickle.reduce();
}

/// A dict on its way into a pickle: values and tensors under one key, or more of them.
struct Node {
  std::vector<std::pair<std::string, Node>> members = {};
  std::optional<std::size_t> tensor = {};
  const Value* value = nullptr;  // nothing but an object is taken apart

  Node& member(std::string_view key) {
    for (std::size_t i = members.size(); i-- > 0;)  // mostly the one that came last
      if (members[i].first == key) return members[i].second;
    return members.emplace_back(key, Node{}).second;
  }
};

void add_values(Node& node, const Value& value) {
  if (const auto* object = value.as<Value::Object>())
    for (const auto& [key, member] : *object) add_values(node.member(key), member);
  else node.value = &value;
}

class TrainingPickle {
 public:
  TrainingPickle(PickleWriter& pickle, Storages& storages) : pickle_(pickle), storages_(storages) {}

  void put(const Node& node, bool has_tuples = false) {
    if (node.tensor) return storages_.put(pickle_, *node.tensor);
    if (node.value != nullptr) return put(*node.value, has_tuples);
    pickle_.empty_dict();
    pickle_.mark();
    for (const auto& [key, member] : node.members) {
      put_key(key);
      put(member, key == "param_groups");
    }
    pickle_.set_items();
  }

 private:
  void put_key(const std::string& key) {
    const bool is_number = !key.empty() && key.size() < 19 && key.find_first_not_of("0123456789") == key.npos;
    if (is_number) pickle_.integer(std::stoull(key));
    else pickle_.text(key);
  }

  void put(const Value& value, bool has_tuples) {
    if (value.is_null()) pickle_.none();
    else if (const auto* b = value.as<bool>()) pickle_.boolean(*b);
    else if (const auto* u = value.as<std::uint64_t>()) pickle_.integer(*u);
    else if (const auto* d = value.as<double>()) pickle_.real(*d);
    else if (const auto* s = value.as<std::string>()) pickle_.text(*s);
    else if (const auto* i = value.as<std::int64_t>())
      *i < 0 ? pickle_.negative_integer(*i) : pickle_.integer(static_cast<std::uint64_t>(*i));
    else if (const auto* array = value.as<Value::Array>()) put_list(*array, has_tuples);
    else if (const auto* object = value.as<Value::Object>()) put_dict(*object, has_tuples);
    else pickle_.long_integer(value.as<Value::Number>()->text);
  }

  void put_list(const Value::Array& items, bool has_tuples) {
    const bool is_tuple = has_tuples && !items.empty() && !items.front().is_object();
    if (!is_tuple) pickle_.empty_list();
    pickle_.mark();
    for (const Value& item : items) put(item, has_tuples);
    if (is_tuple) pickle_.tuple();
    else pickle_.append_items();
  }

  void put_dict(const Value::Object& members, bool has_tuples) {
    pickle_.empty_dict();
    pickle_.mark();
    for (const auto& [key, member] : members) {
      pickle_.text(key);
      put(member, has_tuples && key != "params" && key != "param_names");
    }
    pickle_.set_items();
  }

  PickleWriter& pickle_;
  Storages& storages_;
};

}  // namespace

bool pytorch_holds(DType dtype) { return !info(dtype).torch_dtype.empty(); }

Plan plan_pytorch(const Checkpoint& checkpoint) {
  PickleWriter pickle;
  Storages storages(checkpoint.tensors);
  put_ordered_dict(pickle);
  pickle.mark();
  for (std::size_t i = 0; i < checkpoint.tensors.size(); ++i) {
    pickle.text(checkpoint.tensors[i].name);
    storages.put(pickle, i);
  }
  pickle.set_items();
  return storages.archive(std::move(pickle));
}

Plan plan_pytorch_training(const Checkpoint& checkpoint) {
  constexpr std::string_view model = "model.";
  PickleWriter pickle;
  Storages storages(checkpoint.tensors);
  Node rest;
  add_values(rest, checkpoint.values);
  pickle.empty_dict();
  pickle.mark();
  pickle.text("model");
  put_ordered_dict(pickle);
  pickle.mark();
  for (std::size_t i = 0; i < checkpoint.tensors.size(); ++i) {
    const std::string_view name = checkpoint.tensors[i].name;
    if (name.starts_with(model)) {
      pickle.text(name.substr(model.size()));
      storages.put(pickle, i);
      continue;
    }
    Node* node = &rest;
    for (std::size_t at = 0; at <= name.size();) {
      const std::size_t dot = std::min(name.find('.', at), name.size());
      node = &node->member(name.substr(at, dot - at));
      at = dot + 1;
    }
    node->tensor = i;
  }
  pickle.set_items();
  TrainingPickle writer(pickle, storages);
  for (const auto& [key, member] : rest.members) {
    pickle.text(key);
    writer.put(member, false);
  }
  pickle.set_items();
  return storages.archive(std::move(pickle));
}

}  // namespace ckpt
