// The ZIP container of torch.save since 1.6 (torch/serialization.py, caffe2/serialize/inline_container.cc):
//
//     TOP/data.pkl        the object; storages are persistent ids ('storage', CLASS, KEY, LOCATION, NUMEL)
//     TOP/data/KEY        the bytes of each storage
//     TOP/byteorder       `little` or `big`; missing before 2.1: little
//     TOP/version         a number in text (or TOP/.data/version)
//     TOP/constants.pkl   TorchScript only, with TOP/code/…
//
// TOP is the folder of the first member. Other members are of no account to PyTorch.
#include "ckpt/formats/pytorch/archive.hpp"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "ckpt/codec/zip.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/pytorch/storage_ids.hpp"

namespace ckpt::pytorch {
namespace {

constexpr std::uint64_t small_record = 4096;
/// PyTorch refuses records of a version above its own (10 as of 2.x), and 0.
constexpr unsigned newest_version = 10;

std::string small_text(const zip::Archive& archive, const zip::Member& member) {
  const std::vector<std::byte> bytes = archive.read(member, small_record);
  std::string_view text = as_text(bytes);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.remove_suffix(1);
  return std::string(text);
}

bool is_big_endian(const zip::Archive& archive, const std::string& top) {
  const zip::Member* const member = archive.find(top + "byteorder");
  if (member == nullptr) return false;
  const std::string order = small_text(archive, *member);
  if (order != "little" && order != "big")
    fail(ErrorKind::corrupt, "the byteorder record says `{}`; `little` or `big` is expected",
         printable(order));
  return order == "big";
}

void note_version(const zip::Archive& archive, const std::string& top, std::vector<std::string>& notes) {
  const zip::Member* member = archive.find(top + "version");
  if (member == nullptr) member = archive.find(top + ".data/version");
  if (member == nullptr) {
    notes.push_back("there is no version record; torch.load refuses such a file");
    return;
  }
  const std::string text = small_text(archive, *member);
  unsigned version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc{} || end != text.data() + text.size() || version == 0 || version > newest_version)
    notes.push_back(fmt::format("the version record says `{}`; torch.load accepts 1 to {}", printable(text),
                                newest_version));
}

/// Members that no part of PyTorch would have written, above all other pickles.
void note_strangers(const zip::Archive& archive, const std::string& top, std::vector<std::string>& notes) {
  std::size_t foreign = 0;
  std::string first;
  for (const zip::Member& member : archive.members()) {
    if (member.is_folder()) continue;
    const bool inside = member.name.starts_with(top);
    const std::string_view name = inside ? member.name.substr(top.size()) : member.name;
    if (inside && (name == "data.pkl" || name == "constants.pkl" || name == "bytecode.pkl" ||
                   name.starts_with("data/") || name.starts_with("constants/")))
      continue;
    if (name.ends_with(".pkl") || name.ends_with(".pickle")) {
      notes.push_back(
          fmt::format("member {} is a second pickle, which PyTorch does not read; it was not looked into",
                      printable(member.name)));
    } else if (!inside) {
      if (foreign++ == 0) first = printable(member.name);
    }
  }
  if (foreign != 0)
    notes.push_back(fmt::format("{} member{} outside the folder {} (first: {})", foreign,
                                foreign == 1 ? "" : "s", printable(top), first));
}

/// Finds the records of all storages and opens them in one go.
class StorageRecords {
 public:
  StorageRecords(const zip::Archive& archive, std::string top, bool big_endian, Opened& out)
      : archive_(archive), prefix_(std::move(top)), big_endian_(big_endian), out_(out) {}

  void resolve() {
    Document& document = out_.document;
    const std::span<const NodeId> nodes = document.graph.persistents();
    uses_.reserve(nodes.size());
    keys_.reserve(nodes.size());
    for (const NodeId node : nodes) add(document, node);
    open();
    for (std::size_t i = 0; i < uses_.size(); ++i) document.persistents[i] = std::move(uses_[i]);
  }

 private:
  struct Record {
    std::string key;
    const zip::Member* member;
    Bytes bytes;
    std::uint64_t claimed = 0;  // the most bytes that the pickle says
    std::optional<DType> dtype;
  };

  void add(const Document& document, NodeId node) {
    const auto parts = tagged(document, node, "storage");
    if (!parts)
      fail(ErrorKind::corrupt, "pickle, byte {}: a persistent id that is no storage: {}",
           document.graph.offset(node), describe(document, document.graph.persistent_id(node)));
    const StorageId id = parse_storage_id(document, *parts);
    Storage storage = make_storage(id);
    storage.big_endian = big_endian_;
    const auto [entry, fresh] = keys_.try_emplace(id.key, records_.size());
    if (fresh)
      records_.push_back({id.key, archive_.find(prefix_ + "data/" + id.key), nullptr, 0, id.info.dtype});
    Record& record = records_[entry->second];
    if (record.member == nullptr) {
      storage.fault =
          fmt::format("its data is missing: there is no record data/{} in the archive", printable(id.key));
    } else if (record.member->size < id.bytes) {
      storage.fault = fmt::format("its storage {} should hold {} bytes, but the record data/{} holds {}",
                                  printable(id.key), id.bytes, printable(id.key), record.member->size);
    }
    record.claimed = std::max(record.claimed, id.bytes);
    if (!storage.untyped && id.info.dtype && record.dtype && record.dtype != id.info.dtype)
      fail(ErrorKind::corrupt, "storage {} is used both as {} and as {}", printable(id.key),
           name(*record.dtype), name(*id.info.dtype));
    if (!storage.untyped && id.info.dtype) record.dtype = id.info.dtype;
    which_.push_back(entry->second);
    uses_.push_back(std::move(storage));
  }

  void open() {
    std::vector<const zip::Member*> members;
    std::vector<std::size_t> of;
    members.reserve(records_.size());
    for (std::size_t i = 0; i < records_.size(); ++i)
      if (records_[i].member != nullptr) members.push_back(records_[i].member), of.push_back(i);
    std::vector<Bytes> opened = archive_.open(members);
    for (std::size_t i = 0; i < members.size(); ++i) {
      Record& record = records_[of[i]];
      if (record.member->is_stored() && record.member->crc32 != 0)
        out_.integrity.push_back({"data/" + record.key, opened[i], record.member->crc32});
      if (record.member->size > record.claimed) {
        out_.notes.push_back(fmt::format("record data/{} holds {} bytes, {} more than the pickle says",
                                         printable(record.key), record.member->size,
                                         record.member->size - record.claimed));
        opened[i] = slice(opened[i], 0, record.claimed);
      }
      record.bytes = std::move(opened[i]);
    }
    for (std::size_t i = 0; i < uses_.size(); ++i)
      if (uses_[i].fault.empty()) uses_[i].bytes = records_[which_[i]].bytes;
  }

  const zip::Archive& archive_;
  std::string prefix_;
  bool big_endian_;
  Opened& out_;
  std::vector<Record> records_;
  std::unordered_map<std::string, std::size_t> keys_;
  std::vector<Storage> uses_;       // one for each persistent id
  std::vector<std::size_t> which_;  // its record
};

}  // namespace

Opened open_archive(Bytes source) {
  const zip::Archive archive(source);
  if (archive.members().empty())
    fail(ErrorKind::unsupported, "an empty zip archive: there is no data.pkl in it");
  const std::string_view first = archive.members().front().name;
  const std::string top(first.substr(0, first.find('/') == std::string_view::npos ? 0 : first.find('/') + 1));
  const zip::Member* const pickle_member = archive.find(top + "data.pkl");
  if (pickle_member == nullptr)
    fail(ErrorKind::unsupported,
         "a zip archive, but not one of PyTorch: there is no {}data.pkl in it (its first member is {})",
         printable(top), printable(first));
  if (top.empty())
    fail(ErrorKind::corrupt, "data.pkl stands at the top of the archive; PyTorch puts it into a folder");

  Opened out;
  const bool big_endian = is_big_endian(archive, top);
  std::vector<std::byte> pickle_bytes = archive.read(*pickle_member, limits::pickle_bytes);
  Bytes pickle_source = archive.open(*pickle_member);
  pickle::Graph graph;
  try {
    graph = pickle::parse(std::move(pickle_bytes));
  } catch (Error& error) {
    throw error.in("data.pkl");
  }
  if (graph.used() < pickle_source->size())
    out.notes.push_back(fmt::format("{} bytes follow the object in data.pkl; they were not looked into",
                                    pickle_source->size() - graph.used()));
  out.document = make_document(std::move(graph), std::move(pickle_source));
  out.container = archive.find(top + "constants.pkl") != nullptr ? "torchscript" : "zip";
  if (archive.trailing() != 0)
    out.notes.push_back(fmt::format("{} bytes follow the end of the archive", archive.trailing()));
  note_version(archive, top, out.notes);
  note_strangers(archive, top, out.notes);
  StorageRecords(archive, top, big_endian, out).resolve();
  return out;
}

}  // namespace ckpt::pytorch
