#include "ckpt/formats/pytorch/pytorch.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "ckpt/codec/tar.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/formats/pytorch/archive.hpp"
#include "ckpt/formats/pytorch/bare.hpp"
#include "ckpt/formats/pytorch/catalogue.hpp"
#include "ckpt/formats/pytorch/legacy.hpp"
#include "ckpt/formats/pytorch/tar_container.hpp"

namespace ckpt {
namespace {

pytorch::Opened open(const Bytes& source, pytorch::Damage damage) {
  const std::vector<std::byte> head = read_range(*source, 0, std::min<std::uint64_t>(source->size(), 512));
  if (as_text(head).starts_with("PK")) return pytorch::open_archive(source, damage);
  if (head.size() == tar::block_size && (tar::is_header(head) || as_text(head).substr(257, 5) == "ustar"))
    return pytorch::open_tar(source);
  if (pytorch::is_legacy(*source)) return pytorch::open_legacy(source, damage);
  return pytorch::open_bare(source);
}

Checkpoint read(const Input& input, pytorch::Damage damage, std::vector<Lost>* lost) {
  try {
    const Bytes source = input.bytes();
    if (!source) fail(ErrorKind::usage, "a directory is not a PyTorch checkpoint");
    Checkpoint checkpoint = pytorch::catalogue(open(source, damage), lost);
    checkpoint.file = input.name();
    checkpoint.size = source->size();
    return checkpoint;
  } catch (Error& error) {
    throw error.in_file(input.name());
  }
}

}  // namespace

Checkpoint read_pytorch(const Input& input) { return read(input, pytorch::Damage::refused, nullptr); }

Salvaged salvage_pytorch(const Input& input) {
  Salvaged out;
  out.checkpoint = read(input, pytorch::Damage::tolerated, &out.lost);
  out.checkpoint.integrity.clear();  // compared
  return out;
}

}  // namespace ckpt
