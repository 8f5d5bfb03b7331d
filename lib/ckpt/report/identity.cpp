#include "ckpt/report/identity.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "ckpt/core/error.hpp"
#include "ckpt/core/places.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/kernels/checksum.hpp"
#include "ckpt/kernels/parallel.hpp"

namespace ckpt {
namespace {

// A piece stays in the second-level cache between the kernel's copy and the digest.
constexpr std::uint64_t reader_memory = 2U << 20;

std::string header(const Tensor& tensor) {
  std::string line = fmt::format("ckpt tensor 1 {}", name(tensor.dtype));
  for (const std::uint64_t size : tensor.shape) line += fmt::format(" {}", size);
  if (!tensor.quantization.empty()) line += " scheme " + tensor.quantization;
  return line + "\n";
}

Digest digest_of_names(const Checkpoint& checkpoint, const std::vector<Digest>& digests) {
  std::vector<std::size_t> order(digests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::string_view(checkpoint.tensors[i].name); });
  Sha256 sha;
  sha.update(as_bytes("ckpt id 1\n"));
  for (const std::size_t i : order) {
    const std::string& name = checkpoint.tensors[i].name;
    sha.update(as_bytes(fmt::format("{} {} {}\n", hex(digests[i]), name.size(), name)));
  }
  return sha.finish();
}

Digest digest_of_weights(std::vector<Digest> digests) {
  std::ranges::sort(digests);
  Sha256 sha;
  sha.update(as_bytes("ckpt weights 1\n"));
  for (const Digest& digest : digests) sha.update(as_bytes(hex(digest) + "\n"));
  return sha.finish();
}

}  // namespace

Digest tensor_digest(const Tensor& tensor, TensorReader& reader) {
  Sha256 sha;
  sha.update(as_bytes(header(tensor)));
  reader.start(tensor);
  for (auto piece = reader.next(); !piece.empty(); piece = reader.next()) sha.update(piece);
  return sha.finish();
}

Identity identify(const Checkpoint& checkpoint, const Resources& resources) {
  const std::vector<std::size_t> first = first_at_same_place(checkpoint.tensors);
  std::vector<std::uint64_t> sizes;
  for (const Tensor& tensor : checkpoint.tensors) {
    if (repeats_too_much(tensor))
      throw Error(ErrorKind::unsupported,
                  fmt::format("{}: {} that repeat {} have no digest", printable(tensor.name),
                              human_size(tensor.byte_size()), human_size(tensor.view.source->size())))
          .in_file(checkpoint.file)
          .with_hint("leave it out with --exclude");
    sizes.push_back(tensor.byte_size());
  }
  std::vector<std::size_t> order = largest_first(sizes);
  std::erase_if(order, [&](std::size_t i) { return first[i] != i; });

  Identity identity;
  identity.tensors.resize(first.size());
  const std::uint64_t memory = std::min(resources.memory / resources.thread_count(), reader_memory);
  const auto make_task = [&] {
    const auto reader = std::make_shared<TensorReader>(memory);
    return
        [&, reader](std::size_t i) { identity.tensors[i] = tensor_digest(checkpoint.tensors[i], *reader); };
  };
  in_parallel(order, make_task, resources.threads);
  for (std::size_t i = 0; i < first.size(); ++i) identity.tensors[i] = identity.tensors[first[i]];
  identity.id = digest_of_names(checkpoint, identity.tensors);
  identity.weights_id = digest_of_weights(identity.tensors);
  return identity;
}

}  // namespace ckpt
