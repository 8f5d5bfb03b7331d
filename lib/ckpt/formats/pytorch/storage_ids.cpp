#include "ckpt/formats/pytorch/storage_ids.hpp"

#include "ckpt/core/checked.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt::pytorch {

std::optional<std::span<const NodeId>> tagged(const Document& document, NodeId persistent,
                                              std::string_view kind) {
  const pickle::Graph& graph = document.graph;
  const NodeId id = graph.persistent_id(persistent);
  if (!graph.is(id, Kind::tuple)) return std::nullopt;
  const std::span<const NodeId> parts = graph.children(id);
  if (parts.empty() || !graph.is_text(parts.front()) || graph.text(parts.front()) != kind)
    return std::nullopt;
  return parts;
}

StorageId parse_storage_id(const Document& document, std::span<const NodeId> parts) {
  const pickle::Graph& graph = document.graph;
  if (parts.size() < 5)
    fail(ErrorKind::corrupt, "a storage is described by {} parts; at least 5 are wanted", parts.size());
  StorageId id;
  if (graph.is_text(parts[2])) id.key = graph.text(parts[2]);
  else if (graph.is(parts[2], Kind::integer)) id.key = std::to_string(graph.integer(parts[2]));
  else fail(ErrorKind::corrupt, "the key of a storage is {}", describe(document, parts[2]));

  if (!graph.is(parts[1], Kind::global))
    fail(ErrorKind::corrupt, "storage {}: its class is {}", printable(id.key), describe(document, parts[1]));
  id.info = document.globals[graph.global_index(parts[1])];
  if (id.info.meaning != Meaning::storage && id.info.meaning != Meaning::untyped_storage)
    fail(ErrorKind::corrupt,
         "storage {}: {} is not a known class of storages, so the size of its elements is unknown",
         printable(id.key), printable(graph.global(parts[1]).full()));

  const std::optional<std::int64_t> count = graph.as_integer(parts[4]);
  if (!count)
    fail(ErrorKind::corrupt, "storage {}: its size is {}", printable(id.key), describe(document, parts[4]));
  if (*count < 0)
    fail(ErrorKind::corrupt, "storage {}: its size is negative ({})", printable(id.key), *count);
  const std::optional<std::uint64_t> bytes =
      checked_multiply(static_cast<std::uint64_t>(*count), id.info.element_bytes);
  if (!bytes)
    fail(ErrorKind::corrupt, "storage {}: {} elements are more than can be counted", printable(id.key),
         *count);
  id.bytes = *bytes;
  if (parts.size() > 5 && !graph.is(parts[5], Kind::none)) id.view = parts[5];
  return id;
}

Storage make_storage(const StorageId& id) {
  Storage storage;
  storage.key = id.key;
  storage.dtype = id.info.dtype;
  storage.untyped = id.info.meaning == Meaning::untyped_storage;
  storage.type = storage.dtype     ? info(*storage.dtype).torch_storage
                 : storage.untyped ? "UntypedStorage"
                                   : "a quantised type";
  return storage;
}

}  // namespace ckpt::pytorch
