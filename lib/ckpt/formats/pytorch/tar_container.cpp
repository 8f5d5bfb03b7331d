// The tar container (torch/serialization.py, legacy_load), four members in any order:
//
//     sys_info   a pickle, of no account
//     storages   pickle(N), N x { pickle((KEY, LOCATION, CLASS)) | i64 count | bytes }, pickle([(KEY,
//     ROOT_KEY, OFFSET, COUNT), …]) tensors    pickle(M), M x { pickle((KEY, STORAGE_KEY, CLASS)) | i32
//     dimensions | 4 bytes | i64 sizes | i64 strides | i64 offset } pickle     the object; a persistent id is
//     the key of a tensor, or (CLASS, FILE, TEXT) for a class
//
// Counts, offsets and strides are in elements, all numbers little-endian. The last list of `storages` cuts
// windows out of others.
#include "ckpt/formats/pytorch/tar_container.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "ckpt/codec/little_endian.hpp"
#include "ckpt/codec/tar.hpp"
#include "ckpt/core/checked.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/pytorch/storage_ids.hpp"

namespace ckpt::pytorch {
namespace {

/// Reads pickles and numbers one after the other from a member.
class Reader {
 public:
  Reader(Bytes member, std::string_view name) : member_(std::move(member)), name_(name) {}

  bool at_end() const noexcept { return at_ == member_->size(); }
  Document pickle() {
    try {
      pickle::Graph graph = pickle::read(*member_, at_);
      at_ += graph.used();
      return make_document(std::move(graph), member_);
    } catch (Error& error) {
      throw error.in(fmt::format("member {}", name_));
    }
  }
  std::int64_t number() { return static_cast<std::int64_t>(load_le<std::uint64_t>(take(8))); }
  std::int32_t dimensions() { return static_cast<std::int32_t>(load_le<std::uint32_t>(take(8))); }
  Bytes range(std::uint64_t size) {
    check(size);
    Bytes bytes = slice(member_, at_, size);
    at_ += size;
    return bytes;
  }

 private:
  void check(std::uint64_t size) const {
    if (!range_fits(at_, size, member_->size()))
      fail(ErrorKind::corrupt, "member {} is cut off: {} bytes are wanted at byte {}, {} are left", name_,
           size, at_, member_->size() - at_);
  }
  std::vector<std::byte> take(std::uint64_t size) {
    check(size);
    std::vector<std::byte> bytes = read_range(*member_, at_, size);
    at_ += size;
    return bytes;
  }

  Bytes member_;
  std::string_view name_;
  std::uint64_t at_ = 0;
};

/// A key is a number, or text that holds one.
std::string key_of(const Document& document, NodeId id) {
  if (document.graph.is_text(id)) return std::string(document.graph.text(id));
  if (document.graph.is(id, Kind::integer)) return std::to_string(document.graph.integer(id));
  fail(ErrorKind::corrupt, "a key is {}", describe(document, id));
}

std::span<const NodeId> tuple_of(const Document& document, NodeId id, std::size_t size,
                                 std::string_view what) {
  if (!document.graph.is(id, Kind::tuple) || document.graph.children(id).size() != size)
    fail(ErrorKind::corrupt, "the description of a {} is {}, not a tuple of {}", what, describe(document, id),
         size);
  return document.graph.children(id);
}

std::uint64_t positive(const std::optional<std::int64_t>& value, std::string_view what) {
  if (!value || *value < 0)
    fail(ErrorKind::corrupt, "{} is {}", what, value ? std::to_string(*value) : "not a number");
  return static_cast<std::uint64_t>(*value);
}

using StorageMap = std::map<std::string, Storage, std::less<>>;

StorageMap read_storages(Reader reader) {
  StorageMap storages;
  const Document head = reader.pickle();
  const std::uint64_t count = positive(head.graph.as_integer(head.graph.root()), "the number of storages");
  for (std::uint64_t i = 0; i < count; ++i) {
    const Document entry = reader.pickle();
    const std::span<const NodeId> parts = tuple_of(entry, entry.graph.root(), 3, "storage");
    Storage storage;
    storage.key = key_of(entry, parts[0]);
    const GlobalInfo info = entry.graph.is(parts[2], Kind::global)
                                ? entry.globals[entry.graph.global_index(parts[2])]
                                : GlobalInfo{};
    if (info.meaning != Meaning::storage)
      fail(ErrorKind::corrupt, "storage {}: its class is {}, so the size of its elements is unknown",
           printable(storage.key), describe(entry, parts[2]));
    storage.dtype = info.dtype;
    storage.type = storage.dtype ? ckpt::info(*storage.dtype).torch_storage : "a quantised type";
    const std::int64_t elements = reader.number();
    const std::optional<std::uint64_t> bytes = checked_multiply(
        positive(elements, fmt::format("storage {}: its number of elements", printable(storage.key))),
        info.element_bytes);
    if (!bytes)
      fail(ErrorKind::corrupt, "storage {}: {} elements are more than can be counted", printable(storage.key),
           elements);
    storage.bytes = reader.range(*bytes);
    if (!storages.emplace(storage.key, storage).second)
      fail(ErrorKind::corrupt, "storage {} is listed twice", printable(storage.key));
  }
  if (reader.at_end()) return storages;  // burn's test files end here; PyTorch never did

  const Document views = reader.pickle();
  const auto listed = sequence(views, views.graph.root());
  if (!listed) fail(ErrorKind::corrupt, "the list of views is {}", describe(views, views.graph.root()));
  for (const NodeId node : *listed) {
    const std::span<const NodeId> parts = tuple_of(views, node, 4, "view");
    const auto root = storages.find(key_of(views, parts[1]));
    if (root == storages.end())
      fail(ErrorKind::corrupt, "a view of storage {}, which is not in the file",
           printable(key_of(views, parts[1])));
    Storage view = root->second;
    view.key = key_of(views, parts[0]);
    const std::uint64_t size = view.dtype ? element_size(*view.dtype) : 1;
    const std::uint64_t offset = positive(views.graph.as_integer(parts[2]), "the offset of a view");
    const std::uint64_t elements = positive(views.graph.as_integer(parts[3]), "the size of a view");
    if (!range_fits(offset, elements, view.bytes->size() / size))
      fail(ErrorKind::corrupt, "a view goes beyond the {} elements of storage {}", view.bytes->size() / size,
           printable(root->first));
    view.bytes = slice(view.bytes, offset * size, elements * size);
    storages.insert_or_assign(view.key, std::move(view));
  }
  return storages;
}

std::map<std::string, StoredTensor, std::less<>> read_tensors(Reader reader, const StorageMap& storages) {
  std::map<std::string, StoredTensor, std::less<>> tensors;
  const Document head = reader.pickle();
  const std::uint64_t count = positive(head.graph.as_integer(head.graph.root()), "the number of tensors");
  for (std::uint64_t i = 0; i < count; ++i) {
    const Document entry = reader.pickle();
    const std::span<const NodeId> parts = tuple_of(entry, entry.graph.root(), 3, "tensor");
    const std::string key = key_of(entry, parts[0]);
    const auto storage = storages.find(key_of(entry, parts[1]));
    const std::uint64_t dimensions =
        positive(reader.dimensions(), fmt::format("tensor {}: its number of dimensions", printable(key)));
    if (dimensions > limits::dimensions)
      fail(ErrorKind::corrupt, "tensor {} has {} dimensions; at most {} are allowed", printable(key),
           dimensions, limits::dimensions);
    StoredTensor tensor;
    if (storage != storages.end()) tensor.storage = storage->second;
    else
      tensor.storage.fault = fmt::format("its data is missing: storage {} is not in the file",
                                         printable(key_of(entry, parts[1])));
    for (std::uint64_t d = 0; d < dimensions; ++d)
      tensor.shape.push_back(positive(reader.number(), fmt::format("tensor {}: a size", printable(key))));
    for (std::uint64_t d = 0; d < dimensions; ++d)
      tensor.strides.push_back(positive(reader.number(), fmt::format("tensor {}: a stride", printable(key))));
    tensor.offset = positive(reader.number(), fmt::format("tensor {}: its offset", printable(key)));
    tensors.insert_or_assign(key, std::move(tensor));
  }
  return tensors;
}

}  // namespace

Opened open_tar(const Bytes& source) {
  std::map<std::string, Bytes, std::less<>> members;
  const tar::Archive archive = tar::read_archive(*source);
  for (const tar::Member& member : archive.members) {
    const std::string name = member.name.starts_with("./") ? member.name.substr(2) : member.name;
    if (!members.emplace(name, slice(source, member.offset, member.size)).second)
      fail(ErrorKind::corrupt, "tar: two members are named {}", printable(name));
  }
  for (const std::string_view wanted : {"pickle", "storages"})
    if (!members.contains(wanted))
      fail(archive.has_end ? ErrorKind::unsupported : ErrorKind::corrupt, "{}: there is no member {} in it",
           archive.has_end ? "a tar archive, but not one of PyTorch"
                           : "tar: the archive is cut off before its end",
           wanted);

  Opened out;
  out.container = "tar";
  for (const auto& [name, bytes] : members)
    if (name != "sys_info" && name != "storages" && name != "tensors" && name != "pickle")
      out.hidden.push_back(fmt::format("member {} is none of PyTorch's", printable(name)));
  const StorageMap storages = read_storages(Reader(members.at("storages"), "storages"));
  std::map<std::string, StoredTensor, std::less<>> tensors;
  if (const auto found = members.find("tensors"); found != members.end())
    tensors = read_tensors(Reader(found->second, "tensors"), storages);
  else out.notes.emplace_back("there is no member tensors; torch.load refuses such a file");

  const Bytes& object = members.at("pickle");
  out.document = Reader(object, "pickle").pickle();
  Document& document = out.document;
  if (document.graph.used() < object->size())
    out.hidden.push_back(fmt::format("{} bytes follow the object in member pickle; they were not looked into",
                                     object->size() - document.graph.used()));
  const std::span<const NodeId> nodes = document.graph.persistents();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeId id = document.graph.persistent_id(nodes[i]);
    if (document.graph.is(id, Kind::tuple)) {
      const std::span<const NodeId> parts = document.graph.children(id);
      document.persistents[i] = StoredClass{parts.empty() ? no_node : parts.front()};
      continue;
    }
    const std::string key = key_of(document, id);
    const auto found = tensors.find(key);
    if (found != tensors.end()) document.persistents[i] = found->second;
    else
      fail(ErrorKind::corrupt, "pickle, byte {}: tensor {} is not in the file",
           document.graph.offset(nodes[i]), printable(key));
  }
  if (tensors.empty()) document.by_key = storages;
  return out;
}

}  // namespace ckpt::pytorch
