// A pickle as the object of a checkpoint, without the container around it: what a mutation changes is then
// never hidden by a checksum.
#include "ckpt/formats/pytorch/catalogue.hpp"

#include "ckpt/formats/pytorch/storage_ids.hpp"
#include "fuzz.hpp"
#include "mutate/formats.hpp"

namespace {

/// Every storage that the pickle names has its bytes, up to a limit.
ckpt::Checkpoint read_object(const ckpt::Input& input) {
  using namespace ckpt::pytorch;
  Opened opened;
  opened.container = "zip";
  opened.document = make_document(ckpt::pickle::read(*input.bytes(), 0), input.bytes());
  const std::span<const NodeId> nodes = opened.document.graph.persistents();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto parts = tagged(opened.document, nodes[i], "storage");
    if (!parts) ckpt::fail(ckpt::ErrorKind::corrupt, "no storage");
    const StorageId id = parse_storage_id(opened.document, *parts);
    Storage storage = make_storage(id);
    if (id.bytes > 1U << 16) storage.fault = "too large for a fuzzer";
    else storage.bytes = ckpt::memory_bytes(std::vector<std::byte>(id.bytes));
    opened.document.persistents[i] = std::move(storage);
  }
  return catalogue(std::move(opened));
}

}  // namespace

MUTATES(mutate_pickle)
FUZZ(data, size) { return ckpt::fuzz::read_and_touch(data, size, read_object); }
