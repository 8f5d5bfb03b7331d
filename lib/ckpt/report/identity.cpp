#include "ckpt/report/identity.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "ckpt/core/error.hpp"
#include "ckpt/core/places.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/kernels/checksum.hpp"

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

/// The work of some threads: indices of `order`, taken one by one, and the first error by index.
class Work {
 public:
  Work(const Checkpoint& checkpoint, std::vector<std::size_t> order, std::vector<Digest>& digests)
      : checkpoint_(checkpoint), order_(std::move(order)), digests_(digests) {}

  void run() {
    TensorReader reader(reader_memory);
    for (std::size_t i = next_++; i < order_.size() && !has_failed_; i = next_++) {
      const std::size_t index = order_[i];
      try {
        digests_[index] = tensor_digest(checkpoint_.tensors[index], reader);
      } catch (...) {
        const std::scoped_lock lock(mutex_);
        has_failed_ = true;
        if (!error_ || index < failed_) error_ = std::current_exception(), failed_ = index;
      }
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  const Checkpoint& checkpoint_;
  std::vector<std::size_t> order_;
  std::vector<Digest>& digests_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> has_failed_ = false;
  std::mutex mutex_;
  std::exception_ptr error_;
  std::size_t failed_ = 0;
};

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

Identity identify(const Checkpoint& checkpoint, unsigned threads) {
  const std::vector<std::size_t> first = first_at_same_place(checkpoint.tensors);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const Tensor& tensor = checkpoint.tensors[i];
    if (repeats_too_much(tensor))
      throw Error(ErrorKind::unsupported,
                  fmt::format("{}: {} that repeat {} have no digest", printable(tensor.name),
                              human_size(tensor.byte_size()), human_size(tensor.view.source->size())))
          .in_file(checkpoint.file)
          .with_hint("leave it out with --exclude");
    if (first[i] == i) order.push_back(i);
  }
  // The largest first: otherwise one thread may be left with it at the end.
  std::ranges::stable_sort(order, std::greater(),
                           [&](std::size_t i) { return checkpoint.tensors[i].byte_size(); });

  Identity identity;
  identity.tensors.resize(first.size());
  if (threads == 0) threads = std::max(std::thread::hardware_concurrency(), 1U);
  const std::size_t helpers = std::min<std::size_t>(threads, order.size());
  Work work(checkpoint, std::move(order), identity.tensors);
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < helpers; ++i) others.emplace_back([&work] { work.run(); });
    work.run();
  }
  work.rethrow();
  for (std::size_t i = 0; i < first.size(); ++i) identity.tensors[i] = identity.tensors[first[i]];
  identity.id = digest_of_names(checkpoint, identity.tensors);
  identity.weights_id = digest_of_weights(identity.tensors);
  return identity;
}

}  // namespace ckpt
