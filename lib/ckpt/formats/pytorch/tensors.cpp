// From a call in the pickle to a tensor. Arguments, in order (torch/_utils.py, torch/_tensor.py):
//
//     _rebuild_tensor[_v2]   storage, offset, size, stride [, requires_grad, hooks [, metadata]]
//     _rebuild_tensor_v3     untyped storage, offset, size, stride, requires_grad, hooks, dtype [, metadata]
//     _rebuild_parameter…    tensor, requires_grad, hooks [, state]
//     _rebuild_from_type…    function, type, arguments of the function, state
//     torch.Tensor()         BUILD (storage, offset, size, stride), before 0.4
//
// Offsets and strides count elements of the tensor's dtype.
#include "ckpt/formats/pytorch/tensors.hpp"

#include <utility>

#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/pytorch/legacy.hpp"
#include "ckpt/formats/pytorch/numpy.hpp"
#include "ckpt/formats/pytorch/signs.hpp"
#include "ckpt/formats/pytorch/values.hpp"

namespace ckpt::pytorch {
namespace {

/// Wrappers around one tensor: a parameter of a subclass of a parameter …
constexpr int wrapper_limit = 32;

std::uint64_t whole_number(const Document& document, NodeId id, std::string_view what) {
  const std::optional<std::int64_t> value = document.graph.as_integer(id);
  if (!value)
    fail(ErrorKind::corrupt, "its {} is {}, not a number that fits 64 bits", what, describe(document, id));
  if (*value < 0) fail(ErrorKind::corrupt, "its {} is negative ({})", what, *value);
  return static_cast<std::uint64_t>(*value);
}

std::vector<std::uint64_t> whole_numbers(const Document& document, NodeId id, std::string_view what) {
  const auto items = sequence(document, id);
  if (!items) fail(ErrorKind::corrupt, "its {} is {}, not a tuple", what, describe(document, id));
  if (items->size() > limits::dimensions)
    fail(ErrorKind::corrupt, "its {} has {} dimensions; at most {} are allowed", what, items->size(),
         limits::dimensions);
  std::vector<std::uint64_t> numbers;
  numbers.reserve(items->size());
  for (const NodeId item : *items) numbers.push_back(whole_number(document, item, what));
  return numbers;
}

bool flag(const Document& document, NodeId metadata, std::string_view key) {
  return document.graph.as_integer(member(document, metadata, key)).value_or(0) != 0;
}

NodeId at(std::span<const NodeId> args, std::size_t index) {
  return index < args.size() ? args[index] : no_node;
}

std::string global_name(const Document& document, NodeId id) {
  return document.graph.is(id, Kind::global) ? printable(document.graph.global(id).full())
                                             : describe(document, id);
}

/// ` of float32, shape [2, 3]`, as far as both can be told.
std::string shape_text(const Document& document, NodeId size) {
  const auto items = sequence(document, size);
  if (!items || items->size() > limits::dimensions) return {};
  Shape shape;
  for (const NodeId item : *items) {
    const auto value = document.graph.as_integer(item);
    if (!value || *value < 0) return {};
    shape.push_back(static_cast<std::uint64_t>(*value));
  }
  return ", shape " + to_string(shape);
}

std::string describe_quantized(const Document& document, std::span<const NodeId> args) {
  const auto scheme = sequence(document, at(args, 4));
  return fmt::format("quantised tensor ({}){}",
                     scheme && !scheme->empty() ? global_name(document, scheme->front()) : "unknown scheme",
                     shape_text(document, at(args, 2)));
}

std::string describe_sparse(const Document& document, std::span<const NodeId> args) {
  std::string layout = "unknown layout";
  if (const NodeId id = at(args, 0); call_meaning(document, id) == Meaning::layout) {
    const std::span<const NodeId> names = call_args(document, id);
    if (!names.empty() && document.graph.is_text(names.front()))
      layout = printable(document.graph.text(names.front()));
  }
  std::string shape;
  if (const auto data = sequence(document, at(args, 1)))
    shape = shape_text(document, at(*data, layout == "torch.sparse_coo" ? 2 : 3));
  return fmt::format("sparse tensor ({}){}", layout, shape);
}

}  // namespace

struct Tensors::Rebuild {
  Meaning meaning = Meaning::foreign;
  NodeId node = no_node;  // the call
  std::span<const NodeId> args = {};
};

bool Tensors::is_tensor(NodeId id) const {
  const pickle::Graph& graph = document_.graph;
  if (graph.is(id, Kind::call))
    return makes_tensor(call_meaning(document_, id)) || is_numeric_array(document_, id);
  return graph.is(id, Kind::persistent) &&
         std::holds_alternative<StoredTensor>(document_.persistents[graph.persistent_index(id)]);
}

/// Looks through parameters and subclasses to the call that makes the tensor itself.
Tensors::Rebuild Tensors::unwrap(NodeId id) const {
  const pickle::Graph& graph = document_.graph;
  for (int i = 0; i < wrapper_limit; ++i) {
    if (!graph.is(id, Kind::call)) return {Meaning::foreign, id, {}};
    const Rebuild rebuild{call_meaning(document_, id), id, call_args(document_, id)};
    const NodeId state = graph.call(id).state;
    const std::span<const NodeId> state_items =
        graph.is(state, Kind::tuple) ? graph.children(state) : std::span<const NodeId>{};
    switch (rebuild.meaning) {
      case Meaning::rebuild_parameter:
        if (rebuild.args.empty()) fail(ErrorKind::corrupt, "_rebuild_parameter without a tensor");
        id = rebuild.args.front();
        break;
      case Meaning::parameter_class:
        if (rebuild.args.empty() && state_items.empty())
          fail(ErrorKind::corrupt, "a parameter without a tensor");
        id = rebuild.args.empty() ? state_items.front() : rebuild.args.front();
        break;
      case Meaning::rebuild_from_type:
        if (!graph.is(at(rebuild.args, 2), Kind::tuple))
          fail(ErrorKind::corrupt, "_rebuild_from_type without the arguments of its function");
        // The arguments are those of the function, which is a row of the table like any other.
        if (const Meaning inner = meaning_of(document_, rebuild.args[0]); inner != Meaning::rebuild_parameter)
          return {inner, id, graph.children(rebuild.args[2])};
        id = at(graph.children(rebuild.args[2]), 0);
        break;
      case Meaning::tensor_class:
        if (state_items.size() == 5) {  // a Variable before 0.4: its tensor comes first
          id = state_items.front();
          break;
        }
        return {rebuild.meaning, id, state_items};
      default:
        return rebuild;
    }
  }
  fail(ErrorKind::corrupt, "more than {} wrappers around one tensor", wrapper_limit);
}

std::variant<Tensor, std::string> Tensors::build(NodeId id) {
  const pickle::Graph& graph = document_.graph;
  const Rebuild rebuild = unwrap(id);
  if (graph.is(rebuild.node, Kind::persistent))
    if (const auto* stored =
            std::get_if<StoredTensor>(&document_.persistents[graph.persistent_index(rebuild.node)]))
      return assemble(stored->storage, stored->storage.dtype, stored->storage.type, stored->offset,
                      stored->shape, stored->strides);
  switch (rebuild.meaning) {
    case Meaning::tensor_class:
    case Meaning::rebuild_tensor:
    case Meaning::rebuild_tensor_v3:
      return build_strided(rebuild);
    case Meaning::rebuild_from_numpy:
    case Meaning::rebuild_from_cpu:
      return build_cast(rebuild);
    case Meaning::rebuild_quantized:
      return describe_quantized(document_, rebuild.args);
    case Meaning::rebuild_sparse:
      return describe_sparse(document_, rebuild.args);
    case Meaning::rebuild_sparse_csr:
      return "sparse tensor (torch.sparse_csr)" + shape_text(document_, at(rebuild.args, 3));
    case Meaning::rebuild_nested:
      return std::string("nested tensor");
    case Meaning::rebuild_meta:
      return "meta tensor (no data in the file)" + shape_text(document_, at(rebuild.args, 1));
    case Meaning::rebuild_wrapper:
      return fmt::format("wrapper subclass {} (its data is elsewhere, or a part only){}",
                         global_name(document_, at(rebuild.args, 0)),
                         shape_text(document_, at(rebuild.args, 2)));
    case Meaning::numpy_reconstruct:
    case Meaning::numpy_frombuffer: {
      std::variant<Tensor, ArraySummary> array = numpy_array(document_, rebuild.node).value();
      if (auto* tensor = std::get_if<Tensor>(&array)) return std::move(*tensor);
      return std::get<ArraySummary>(array).text;
    }
    default:
      return "tensor made from " + describe(document_, rebuild.node);
  }
}

std::variant<Tensor, std::string> Tensors::build_strided(const Rebuild& rebuild) {
  const std::span<const NodeId> args = rebuild.args;
  const bool v3 = rebuild.meaning == Meaning::rebuild_tensor_v3;
  if (args.size() < (v3 ? 7U : 4U))
    fail(ErrorKind::corrupt, "it is rebuilt from {} arguments; {} are wanted", args.size(), v3 ? 7 : 4);
  const Storage& storage = storage_of(args[0]);
  std::optional<DType> dtype = storage.dtype;
  std::string dtype_name(storage.type);
  if (v3) {
    if (meaning_of(document_, args[6]) != Meaning::torch_dtype)
      fail(ErrorKind::corrupt, "its dtype is {}", describe(document_, args[6]));
    dtype = document_.globals[document_.graph.global_index(args[6])].dtype;
    dtype_name = global_name(document_, args[6]);
  }
  const std::uint64_t offset = whole_number(document_, args[1], "offset");
  Shape shape = whole_numbers(document_, args[2], "size");
  const std::vector<std::uint64_t> strides = whole_numbers(document_, args[3], "stride");
  std::variant<Tensor, std::string> made =
      assemble(storage, dtype, dtype_name, offset, std::move(shape), strides);

  const NodeId metadata = at(args, v3 ? 7 : 6);
  look_for_unknown(metadata);
  const bool conjugate = flag(document_, metadata, "conj");
  const bool negative = flag(document_, metadata, "neg");
  auto* tensor = std::get_if<Tensor>(&made);
  if (tensor == nullptr || (!conjugate && !negative)) return made;
  const DTypeClass kind = info(tensor->dtype).kind;
  if (kind != DTypeClass::floating && kind != DTypeClass::complex)
    return fmt::format("{} tensor with a lazy sign", name(tensor->dtype));
  tensor->view.source = flipped(storage, tensor->dtype, conjugate, negative);
  return made;
}

/// PyTorch gives what it does not know itself to the backend whose tensor it was.
void Tensors::look_for_unknown(NodeId metadata) {
  const auto items = mapping(document_, metadata);
  if (!items) return;
  for (std::size_t i = 0; i + 1 < items->size(); i += 2) {
    const std::string key = key_text(document_, (*items)[i]);
    if (key == "conj" || key == "neg") continue;
    if (unknown_.tensors++ == 0) unknown_.first_key = key;
    return;
  }
}

Bytes Tensors::flipped(const Storage& storage, DType dtype, bool conjugate, bool negative) {
  const unsigned flags = (conjugate ? 1U : 0U) + (negative ? 2U : 0U) + 4U * static_cast<unsigned>(dtype);
  Bytes& bytes = flipped_[{storage.bytes.get(), flags}];
  if (!bytes) bytes = with_signs_flipped(storage.bytes, dtype, storage.big_endian, conjugate, negative);
  return bytes;
}

/// `_rebuild_device_tensor_from_numpy` and its kin: another tensor, and the dtype that it shall have.
std::variant<Tensor, std::string> Tensors::build_cast(const Rebuild& rebuild) {
  if (rebuild.args.size() < 2)
    fail(ErrorKind::corrupt, "it is rebuilt from {} arguments; 4 are wanted", rebuild.args.size());
  if (!is_tensor(rebuild.args[0]) || unwrap(rebuild.args[0]).meaning == rebuild.meaning)
    fail(ErrorKind::corrupt, "it is rebuilt from {}", describe(document_, rebuild.args[0]));
  std::variant<Tensor, std::string> made = build(rebuild.args[0]);
  auto* tensor = std::get_if<Tensor>(&made);
  if (tensor == nullptr) return made;
  if (meaning_of(document_, rebuild.args[1]) != Meaning::torch_dtype)
    fail(ErrorKind::corrupt, "its dtype is {}", describe(document_, rebuild.args[1]));
  const std::optional<DType> dtype = document_.globals[document_.graph.global_index(rebuild.args[1])].dtype;
  if (!dtype) return "tensor of " + global_name(document_, rebuild.args[1]);
  if (!byte_count(tensor->shape, *dtype)) fail(ErrorKind::corrupt, "its size in bytes cannot be counted");
  tensor->dtype = *dtype;
  return made;
}

std::variant<Tensor, std::string> Tensors::assemble(const Storage& storage, std::optional<DType> dtype,
                                                    std::string_view dtype_name, std::uint64_t offset,
                                                    Shape shape, const std::vector<std::uint64_t>& strides) {
  if (!storage.fault.empty()) fail(ErrorKind::corrupt, "{}", storage.fault);
  if (!dtype)
    return fmt::format("tensor of {}, which has no counterpart here, shape {}", printable(dtype_name),
                       to_string(shape));
  if (storage.big_endian && storage.untyped && info(*dtype).unit > 1)
    return fmt::format(
        "big-endian {} tensor in an untyped storage: PyTorch itself reads its bytes in the wrong order",
        name(*dtype));
  Tensor tensor;
  tensor.dtype = *dtype;
  tensor.shape = std::move(shape);
  try {
    tensor.view = make_strided_view(storage.bytes, offset, tensor.shape, strides, *dtype);
  } catch (Error& error) {
    throw error.in(fmt::format("storage {}", printable(storage.key)));
  }
  tensor.view.big_endian = storage.big_endian && info(*dtype).unit > 1;
  return tensor;
}

const Storage& Tensors::storage_of(NodeId id) {
  if (document_.graph.is(id, Kind::persistent))
    if (const auto* storage =
            std::get_if<Storage>(&document_.persistents[document_.graph.persistent_index(id)]))
      return *storage;
  if (call_meaning(document_, id) == Meaning::load_from_bytes) {
    const auto [entry, fresh] = nested_.try_emplace(id);
    if (fresh) {
      const std::span<const NodeId> args = call_args(document_, id);
      const std::optional<Bytes> bytes = args.empty() ? std::nullopt : bytes_of(document_, args.front());
      if (!bytes) fail(ErrorKind::corrupt, "its storage is loaded from something that is not bytes");
      entry->second = read_nested_storage(*bytes);
    }
    return entry->second;
  }
  if (!document_.by_key.empty() && document_.graph.is(id, Kind::tuple)) {
    const auto parts = document_.graph.children(id);
    const auto found = parts.size() > 2 && document_.graph.is_text(parts[2])
                           ? document_.by_key.find(document_.graph.text(parts[2]))
                           : document_.by_key.end();
    if (found != document_.by_key.end()) return found->second;
  }
  fail(ErrorKind::corrupt, "its storage is {}", describe(document_, id));
}

}  // namespace ckpt::pytorch
