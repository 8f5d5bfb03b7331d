#include "ckpt/report/identity.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "ckpt/core/error.hpp"
#include "ckpt/core/places.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/kernels/checksum.hpp"
#include "ckpt/kernels/parallel.hpp"

namespace ckpt {
namespace {

// A piece stays in the second-level cache between the kernel's copy and the digest.
constexpr std::uint64_t reader_memory = 1U << 20;
// What a thread takes at once of a large tensor.
constexpr std::uint64_t part_size = 32U << 20;
static_assert(part_size % Blake3::span == 0);

struct Part {
  std::size_t tensor;
  std::uint64_t offset;
  std::uint64_t size;
};

/// A tensor is cut where its bytes lie as they are to be digested.
std::vector<Part> parts_of(const Tensor& tensor, std::size_t index) {
  const std::uint64_t size = tensor.byte_size();
  if (!tensor.is_plain() || size <= part_size) return {{index, 0, size}};
  std::vector<Part> parts;
  for (std::uint64_t at = 0; at < size; at += part_size)
    parts.push_back({index, at, std::min(part_size, size - at)});
  return parts;
}

Blake3 digest_part(const Tensor& tensor, const Part& part, TensorReader& reader) {
  Tensor stretch = tensor;
  if (part.size != tensor.byte_size()) {
    stretch.view.offset += part.offset;
    stretch.view.bytes = part.size;
  }
  Blake3 hasher(part.offset);
  reader.start(stretch);
  for (auto piece = reader.next(); !piece.empty(); piece = reader.next()) hasher.update(piece);
  return hasher;
}

/// The digest of every tensor that is the first of its place; of the others, zeros.
std::vector<Digest> digests_of(const std::vector<Tensor>& tensors, const std::vector<Part>& parts,
                               const Resources& resources) {
  std::vector<Digest> digests(tensors.size());
  std::vector<Blake3> unfinished(parts.size());  // of tensors that were cut
  std::vector<std::uint64_t> sizes;
  for (const Part& part : parts) sizes.push_back(part.size);
  const std::uint64_t memory = std::min(resources.memory / resources.thread_count(), reader_memory);
  const auto make_task = [&] {
    const auto reader = std::make_shared<TensorReader>(memory);
    return [&, reader](std::size_t i) {
      const Tensor& tensor = tensors[parts[i].tensor];
      const std::uint64_t end = parts[i].offset + parts[i].size;
      Blake3 hasher = digest_part(tensor, parts[i], *reader);
      if (parts[i].size == tensor.byte_size()) {
        digests[parts[i].tensor] = hasher.finish();
      } else {
        if (end < tensor.byte_size()) hasher.end_part();
        unfinished[i] = std::move(hasher);
      }
    };
  };
  in_parallel(largest_first(sizes), make_task, resources.threads);

  Blake3 whole;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::uint64_t size = tensors[parts[i].tensor].byte_size();
    if (parts[i].size == size) continue;
    whole.append(std::move(unfinished[i]));
    if (parts[i].offset + parts[i].size == size) digests[parts[i].tensor] = whole.finish();
  }
  return digests;
}

/// What is digested of a tensor beside its name: `<digest> F32 3 4`.
std::string description(const Tensor& tensor, const Digest& digest) {
  std::string line = fmt::format("{} {}", hex(digest), name(tensor.dtype));
  for (const std::uint64_t size : tensor.shape) line += fmt::format(" {}", size);
  if (!tensor.quantization.empty()) line += " scheme " + tensor.quantization;
  return line;
}

Digest digest_of_names(const std::vector<Tensor>& tensors, const std::vector<Digest>& digests) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::string_view(tensors[i].name); });
  Blake3 hasher;
  hasher.update(as_bytes("ckpt id 2\n"));
  for (const std::size_t i : order) {
    const std::string& name = tensors[i].name;
    hasher.update(
        as_bytes(fmt::format("{}: {} {}\n", description(tensors[i], digests[i]), name.size(), name)));
  }
  return hasher.finish();
}

Digest digest_of_weights(const std::vector<Tensor>& tensors, const std::vector<Digest>& digests) {
  std::vector<std::string> lines;
  lines.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i)
    lines.push_back(description(tensors[i], digests[i]) + "\n");
  std::ranges::sort(lines);
  Blake3 hasher;
  hasher.update(as_bytes("ckpt weights 2\n"));
  for (const std::string& line : lines) hasher.update(as_bytes(line));
  return hasher.finish();
}

}  // namespace

Digest tensor_digest(const Tensor& tensor, TensorReader& reader) {
  return digest_part(tensor, {0, 0, tensor.byte_size()}, reader).finish();
}

Identity identify(const Checkpoint& checkpoint, const Resources& resources) {
  const std::vector<Tensor>& tensors = checkpoint.tensors;
  const std::vector<std::size_t> first = first_at_same_place(tensors);
  std::vector<Part> parts;
  Unfolding unfolding;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (const std::string excess = unfolding.excess(tensors[i]); !excess.empty())
      throw Error(ErrorKind::unsupported,
                  fmt::format("tensor {} {}: it has no digest", printable(tensors[i].name), excess))
          .in_file(checkpoint.file)
          .with_hint("leave it out with --exclude");
    if (first[i] == i) std::ranges::copy(parts_of(tensors[i], i), std::back_inserter(parts));
  }
  std::vector<Digest> digests = digests_of(tensors, parts, resources);
  for (std::size_t i = 0; i < first.size(); ++i) digests[i] = digests[first[i]];
  return {.id = digest_of_names(tensors, digests),
          .weights_id = digest_of_weights(tensors, digests),
          .tensors = std::move(digests)};
}

}  // namespace ckpt
