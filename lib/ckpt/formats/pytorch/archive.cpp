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
#include <utility>

#include "ckpt/codec/zip.hpp"
#include "ckpt/core/crc32.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/hints.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/pytorch/recover.hpp"
#include "ckpt/formats/pytorch/script.hpp"
#include "ckpt/formats/pytorch/storage_ids.hpp"
#include "ckpt/formats/salvage.hpp"

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
void list_strangers(const zip::Archive& archive, const std::string& top, std::vector<std::string>& hidden) {
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
      hidden.push_back(
          fmt::format("member {} is a second pickle, which PyTorch does not read; it was not looked into",
                      printable(member.name)));
    } else if (!inside) {
      if (foreign++ == 0) first = printable(member.name);
    }
  }
  if (foreign != 0)
    hidden.push_back(fmt::format("{} member{} outside the folder {} (first: {})", foreign,
                                 foreign == 1 ? "" : "s", printable(top), first));
}

/// Finds the records of all storages and opens them in one go.
class StorageRecords {
 public:
  StorageRecords(const zip::Archive& archive, const std::string& top, bool big_endian, Damage damage,
                 Opened& out)
      : archive_(archive),
        damage_(damage),
        prefix_size_(top.size() + 5),
        path_(top + "data/"),
        big_endian_(big_endian),
        out_(out),
        record_of_(archive.members().size(), SIZE_MAX) {}

  void resolve() {
    Document& document = out_.document;
    const std::span<const NodeId> nodes = document.graph.persistents();
    which_.reserve(nodes.size());
    records_.reserve(std::min(nodes.size(), record_of_.size()));
    for (std::size_t i = 0; i < nodes.size(); ++i) document.persistents[i] = add(document, nodes[i]);
    open();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      auto& storage = std::get<Storage>(document.persistents[i]);
      if (!storage.fault.empty()) continue;
      const Record& record = records_[which_[i]];
      storage.bytes = record.bytes;
      storage.fault = record.fault;
    }
  }

 private:
  struct Record {
    std::string_view key;  // of the record's name
    const zip::Member* member = nullptr;
    std::uint64_t claimed = 0;  // the most bytes that the pickle says
    std::optional<DType> dtype = {};
    Bytes bytes = {};
    std::string fault = {};
  };

  Storage add(const Document& document, NodeId node) {
    const auto parts = tagged(document, node, "storage");
    if (!parts)
      fail(ErrorKind::corrupt, "pickle, byte {}: a persistent id that is no storage: {}",
           document.graph.offset(node), describe(document, document.graph.persistent_id(node)));
    const StorageId id = parse_storage_id(document, *parts);
    Storage storage = make_storage(id);
    storage.big_endian = big_endian_;
    path_.resize(prefix_size_);
    path_ += id.key;
    const zip::Member* const member = archive_.find(path_);
    if (member == nullptr) {
      storage.fault = fmt::format("its data is missing: there is no {}record data/{} in the archive",
                                  damage_ == Damage::tolerated ? "whole " : "", printable(id.key));
      which_.push_back(SIZE_MAX);
      return storage;
    }
    const auto index = static_cast<std::size_t>(member - archive_.members().data());
    if (record_of_[index] == SIZE_MAX) {
      record_of_[index] = records_.size();
      records_.push_back({member->name.substr(prefix_size_), member});
    }
    which_.push_back(record_of_[index]);
    Record& record = records_[record_of_[index]];
    record.claimed = std::max(record.claimed, id.bytes);
    if (member->size < id.bytes)
      storage.fault = fmt::format("its storage {} should hold {} bytes, but the record data/{} holds {}",
                                  printable(id.key), id.bytes, printable(id.key), member->size);
    if (storage.dtype && record.dtype && record.dtype != storage.dtype)
      fail(ErrorKind::corrupt, "storage {} is used both as {} and as {}", printable(id.key),
           name(*record.dtype), name(*storage.dtype));
    if (storage.dtype) record.dtype = storage.dtype;
    return storage;
  }

  /// Reads the record to see whether it is what the archive says.
  void probe(Record& record) {
    try {
      const Bytes bytes = archive_.open(*record.member);
      if (!record.member->is_stored() || record.member->crc32 == 0) return;
      const std::uint32_t crc = crc32_of(*bytes);
      if (crc != record.member->crc32)
        record.fault = fmt::format("the CRC-32 of data/{} is {:08x}, the archive says {:08x}",
                                   printable(record.key), crc, record.member->crc32);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::corrupt) throw;
      record.fault = error.message();
    }
  }

  void open() {
    std::vector<const zip::Member*> members;
    members.reserve(records_.size());
    for (Record& record : records_) {
      if (damage_ == Damage::tolerated) probe(record);
      if (record.fault.empty()) members.push_back(record.member);
    }
    std::vector<Bytes> opened = archive_.open(members);
    out_.integrity.reserve(members.size());
    std::size_t next = 0;
    for (Record& record : records_) {
      if (!record.fault.empty()) continue;
      record.bytes = std::move(opened[next++]);
      if (record.member->is_stored() && record.member->crc32 != 0)
        out_.integrity.push_back({"data/" + std::string(record.key), record.bytes, record.member->crc32});
      if (record.member->size <= record.claimed) continue;
      out_.notes.push_back(fmt::format("record data/{} holds {} bytes, {} more than the pickle says",
                                       printable(record.key), record.member->size,
                                       record.member->size - record.claimed));
      record.bytes = slice(record.bytes, 0, record.claimed);
    }
  }

  const zip::Archive& archive_;
  Damage damage_;
  std::size_t prefix_size_;
  std::string path_;  // of the record at hand
  bool big_endian_;
  Opened& out_;
  std::vector<Record> records_;
  std::vector<std::size_t> record_of_;  // by member; SIZE_MAX where nothing uses it
  std::vector<std::size_t> which_;      // by persistent id
};

/// The archive's own directory or, where damage is tolerated, one that is made again from the members.
zip::Archive read_directory(const Bytes& source, Damage damage, std::vector<std::string>& notes) {
  try {
    return zip::Archive(source);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt) throw;
    Recovered recovered = recover_archive(source);
    const std::string cut = recovered.is_cut ? "; " + describe_cut(recovered, source->size()) : "";
    if (damage == Damage::tolerated && !recovered.archive.members().empty()) {
      notes.push_back(error.message() + cut);
      return std::move(recovered.archive);
    }
    Error told(ErrorKind::corrupt, error.message() + cut);
    if (recovered.intact > 0) told.with_hint(std::string(salvage_hint));
    throw told;
  }
}

}  // namespace

Opened open_archive(const Bytes& source, Damage damage) {
  Opened out;
  const zip::Archive archive = read_directory(source, damage, out.notes);
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
    out.hidden.push_back(fmt::format("{} bytes follow the object in data.pkl; they were not looked into",
                                     pickle_source->size() - graph.used()));
  out.document = make_document(std::move(graph), std::move(pickle_source));
  if (archive.find(top + "constants.pkl") != nullptr) {
    out.container = "torchscript";
    out.script_members = read_script_members(archive, top);
    const auto constants = std::ranges::count_if(archive.members(), [&](const zip::Member& member) {
      return member.name.starts_with(top + "constants/");
    });
    if (constants != 0)
      out.notes.push_back(
          fmt::format("{} tensor{} of constants.pkl left out: constants of the program, no part "
                      "of state_dict()",
                      constants, constants == 1 ? "" : "s"));
  } else {
    out.container = "zip";
  }
  if (archive.leading() != 0)
    out.hidden.push_back(fmt::format("{} bytes precede the first member of the archive", archive.leading()));
  if (archive.trailing() != 0)
    out.hidden.push_back(fmt::format("{} bytes follow the end of the archive", archive.trailing()));
  if (damage == Damage::refused) note_version(archive, top, out.notes);
  list_strangers(archive, top, out.hidden);
  StorageRecords(archive, top, big_endian, damage, out).resolve();
  return out;
}

}  // namespace ckpt::pytorch
