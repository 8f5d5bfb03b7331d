// A file made by pickle.dump: arrays of NumPy, plain values, or a state dict each of whose storages is
// `torch.storage._load_from_bytes` of a whole legacy file.
#include "ckpt/formats/pytorch/bare.hpp"

#include "ckpt/core/error.hpp"

namespace ckpt::pytorch {

Opened open_bare(Bytes source) {
  Opened out;
  out.container = "pickle";
  pickle::Graph graph = pickle::read(*source, 0);
  const std::uint64_t used = graph.used();
  if (!graph.persistents().empty())
    fail(ErrorKind::corrupt,
         "pickle, byte {}: a persistent id, but nothing in the file says what it stands for",
         graph.offset(graph.persistents().front()));
  if (used < source->size())
    out.hidden.push_back(fmt::format(
        "{} bytes follow the object (at byte {}); they are not part of it and were not looked into",
        source->size() - used, used));
  out.document = make_document(std::move(graph), std::move(source));
  return out;
}

}  // namespace ckpt::pytorch
