// The container of torch.save before 1.6 (torch/serialization.py, _legacy_save): pickles in a row, then raw
// storages.
//
//     magic | 1001 | system info | OBJECT | [KEY, …] | count, bytes | count, bytes | …
//
// A storage is a persistent id ('storage', CLASS, KEY, LOCATION, NUMEL, VIEW) of OBJECT; its bytes follow in
// the order of the list of keys, each with an i64 count of ELEMENTS in front, so the classes must be known to
// find them. VIEW is None or (VIEW_KEY, OFFSET, SIZE): a window of the storage KEY (before 0.4).
// ('module', CLASS, FILE, TEXT) stands for CLASS. Numbers are little-endian on every machine.
#include "ckpt/formats/pytorch/legacy.hpp"

#include <algorithm>
#include <utility>

#include "ckpt/codec/little_endian.hpp"
#include "ckpt/codec/name_index.hpp"
#include "ckpt/codec/window.hpp"
#include "ckpt/core/checked.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/hints.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/pytorch/storage_ids.hpp"
#include "ckpt/formats/salvage.hpp"

namespace ckpt::pytorch {
namespace {

constexpr std::string_view magic_bytes =
    "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";                        // 0x1950a86a20f9469cfc6c
constexpr std::string_view magic_digits = "119547037146038801333356";  // the same, protocols 0 and 1
constexpr std::int64_t known_version = 1001;

bool is_magic(const pickle::Graph& graph) {
  const NodeId root = graph.root();
  return (graph.is(root, Kind::big_integer) && graph.text(root) == magic_bytes) ||
         (graph.is(root, Kind::decimal) && graph.text(root) == magic_digits);
}

/// What the object says of a storage, and where it was found.
struct Expected {
  std::uint64_t bytes = 0;
  std::uint8_t element_bytes = 1;
  Bytes found = nullptr;
};
struct Expectations {
  NameIndex index;  // by key
  std::vector<Expected> all;
};

Storage cut_window(const Document& document, const StorageId& id, Storage storage) {
  const pickle::Graph& graph = document.graph;
  const std::span<const NodeId> parts =
      graph.is(id.view, Kind::tuple) ? graph.children(id.view) : std::span<const NodeId>{};
  if (parts.size() != 3)
    fail(ErrorKind::corrupt, "storage {}: its view is {}", printable(id.key), describe(document, id.view));
  const std::optional<std::int64_t> offset = graph.as_integer(parts[1]);
  const std::optional<std::int64_t> size = graph.as_integer(parts[2]);
  const std::uint64_t whole = id.bytes / id.info.element_bytes;
  if (!offset || !size || *offset < 0 || *size < 0 ||
      !range_fits(static_cast<std::uint64_t>(*offset), static_cast<std::uint64_t>(*size), whole))
    fail(ErrorKind::corrupt, "storage {}: a view goes beyond its {} elements", printable(id.key), whole);
  if (storage.bytes)
    storage.bytes = slice(storage.bytes, static_cast<std::uint64_t>(*offset) * id.info.element_bytes,
                          static_cast<std::uint64_t>(*size) * id.info.element_bytes);
  return storage;
}

/// What is wrong with a file that ends inside its storages.
std::string describe_cut(std::uint64_t file_size, std::string_view key, std::uint64_t end, std::size_t intact,
                         std::size_t all) {
  return fmt::format(
      "the file is cut off: it ends at byte {}, storage {} should end at byte {}; {} of {} storages are "
      "intact",
      file_size, printable(key), end, intact, all);
}

/// Cuts the storages out of the file. Returns where the last one ends. Where damage is tolerated, those from
/// the first damaged one on are not found, nor is the one before where only a right count after it would
/// prove that it is whole, and `fault` says why.
std::uint64_t locate(const Bytes& source, std::uint64_t at, const Document& keys, Expectations& expected,
                     std::string* fault) {
  const auto listed = sequence(keys, keys.graph.root());
  if (!listed) fail(ErrorKind::corrupt, "the list of storages is {}", describe(keys, keys.graph.root()));
  Window window(*source);
  std::size_t intact = 0;
  Expected* before = nullptr;
  for (const NodeId node : *listed) {
    const pickle::Graph& graph = keys.graph;
    std::string key;
    if (graph.is_text(node)) key = graph.text(node);
    else if (graph.is(node, Kind::integer)) key = std::to_string(graph.integer(node));
    const std::optional<std::uint32_t> found = expected.index.find(key);
    if (!found)
      fail(ErrorKind::corrupt, "storage {} is in the file, but nothing tells the size of its elements",
           printable(key));
    Expected& storage = expected.all[*found];
    if (storage.found) fail(ErrorKind::corrupt, "storage {} is listed twice", printable(key));
    const std::uint64_t end = checked_add(at + 8, storage.bytes).value_or(UINT64_MAX);
    const bool has_count = source->size() - at >= 8;
    const std::uint64_t wanted = storage.bytes / storage.element_bytes;
    const std::uint64_t count = has_count ? load_le<std::uint64_t>(window.get(at, 8)) : wanted;
    if (count != wanted) {
      const std::string what = fmt::format("storage {} holds {} elements at byte {}, but the object says {}",
                                           printable(key), static_cast<std::int64_t>(count), at, wanted);
      if (fault == nullptr) throw Error(ErrorKind::corrupt, what);
      // Bytes may be missing, or too many, in the storage before as well: nothing else proves its end.
      if (before != nullptr) before->found = nullptr;
      *fault = what + ": it or the one before is damaged";
      return source->size();
    }
    if (end > source->size()) {
      const std::string what = describe_cut(source->size(), key, end, intact, listed->size());
      if (fault == nullptr) throw Error(ErrorKind::corrupt, what).with_hint(std::string(salvage_hint));
      *fault = what;
      return source->size();
    }
    storage.found = slice(source, at + 8, storage.bytes);
    before = &storage;
    at = end;
    ++intact;
  }
  return at;
}

}  // namespace

bool is_legacy(const ByteSource& source) {
  constexpr std::uint64_t enough = 64;  // the magic number with a frame and a memo entry takes 30
  std::vector<std::byte> head = read_range(source, 0, std::min(source.size(), enough));
  try {
    return is_magic(pickle::parse(std::move(head)));
  } catch (const Error&) {
    return false;
  }
}

Opened open_legacy(Bytes source, Damage damage) {
  std::uint64_t at = 0;
  const auto next = [&](std::string_view what) {
    if (at == source->size()) fail(ErrorKind::corrupt, "the file is cut off at byte {}, before {}", at, what);
    try {
      pickle::Graph graph = pickle::read(*source, at);
      at += graph.used();
      return graph;
    } catch (Error& error) {
      throw error.in(what);
    }
  };
  if (!is_magic(next("the magic number")))
    fail(ErrorKind::corrupt, "the file does not begin with PyTorch's magic number");
  const pickle::Graph version = next("the version");
  if (version.as_integer(version.root()) != known_version)
    fail(ErrorKind::unsupported, "legacy format version {} ({} is known)",
         version.is(version.root(), Kind::integer) ? std::to_string(version.integer(version.root()))
                                                   : "of an unknown kind",
         known_version);
  next("the system information");

  Opened out;
  out.container = "legacy";
  out.document = make_document(next("the object"), source);
  Document& document = out.document;
  const Document keys = make_document(next("the list of storages"), source);

  // First what the object says of its storages, then where they lie, then each use of one.
  const std::span<const NodeId> nodes = document.graph.persistents();
  Expectations expected{NameIndex(nodes.size()), {}};
  std::vector<std::optional<StorageId>> ids;
  std::vector<std::uint32_t> which;
  ids.reserve(nodes.size());  // the index refers to the keys in it
  for (const NodeId node : nodes) {
    const auto parts = tagged(document, node, "storage");
    ids.push_back(parts ? std::optional(parse_storage_id(document, *parts)) : std::nullopt);
    which.push_back(0);
    if (!parts) continue;
    const StorageId& id = *ids.back();
    const auto fresh = static_cast<std::uint32_t>(expected.all.size());
    which.back() = expected.index.add(id.key, fresh).value_or(fresh);
    if (which.back() == fresh) expected.all.push_back({id.bytes, id.info.element_bytes});
    const Expected& known = expected.all[which.back()];
    if (known.bytes != id.bytes || known.element_bytes != id.info.element_bytes)
      fail(ErrorKind::corrupt, "storage {} is described in two ways", printable(id.key));
  }
  std::string fault;
  at = locate(source, at, keys, expected, damage == Damage::tolerated ? &fault : nullptr);
  if (at < source->size())
    out.hidden.push_back(
        fmt::format("{} bytes follow the last storage; they were not looked into", source->size() - at));

  for (std::size_t i = 0; i < ids.size(); ++i) {
    const NodeId node = nodes[i];
    if (ids[i]) {
      Storage storage = make_storage(*ids[i]);
      storage.bytes = expected.all[which[i]].found;
      if (!storage.bytes && !fault.empty()) storage.fault = fault;
      else if (!storage.bytes)
        storage.fault = fmt::format("its data is missing: storage {} is not in the file's list of storages",
                                    printable(ids[i]->key));
      document.persistents[i] =
          ids[i]->view == no_node ? std::move(storage) : cut_window(document, *ids[i], std::move(storage));
      continue;
    }
    const auto parts = tagged(document, node, "module");
    if (!parts || parts->size() < 2)
      fail(ErrorKind::corrupt, "pickle, byte {}: a persistent id that is neither storage nor module",
           document.graph.offset(node));
    document.persistents[i] = StoredClass{(*parts)[1]};
  }
  return out;
}

Storage read_nested_storage(Bytes source) {
  const Opened nested = open_legacy(std::move(source));
  const pickle::Graph& graph = nested.document.graph;
  if (graph.is(graph.root(), Kind::persistent))
    if (const auto* storage =
            std::get_if<Storage>(&nested.document.persistents[graph.persistent_index(graph.root())]))
      return *storage;
  fail(ErrorKind::corrupt, "the bytes of its storage hold {}", describe(nested.document, graph.root()));
}

}  // namespace ckpt::pytorch
