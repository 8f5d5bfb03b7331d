#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ckpt {

/// BLAKE3 of a stream, in its plain hash mode with 32 bytes of output (O'Connor, Aumasson, Neves,
/// Wilcox-O'Hearn: "BLAKE3: one function, fast everywhere", 2020; `b3sum` prints the same). Cryptographic,
/// and a tree: sixteen chunks are digested side by side in vectors, and parts of one stream on several
/// threads.
class Blake3 {
 public:
  using Digest = std::array<std::byte, 32>;
  /// Bytes of the parts that a stream may be cut into.
  static constexpr std::uint64_t span = 256U << 10;

  /// Words of the widest vectors that there is code for.
  static constexpr unsigned most_lanes = 16;

  /// Begins `offset` bytes into the stream, a multiple of `span`. Vectors have `lanes` words (4, 8 or 16) at
  /// most, and no more than the machine has; the digest is the same.
  explicit Blake3(std::uint64_t offset = 0, unsigned lanes = most_lanes) : hashed_(offset), lanes_(lanes) {}

  void update(std::span<const std::byte> bytes);
  /// Ends a part that others follow, a multiple of `span` bytes long.
  void end_part();
  /// Goes on with what `next` has digested: the part that begins where this one has ended.
  void append(Blake3&& next);
  /// Ends the stream, which began at offset 0.
  Digest finish();

 private:
  void hash_span(std::span<const std::byte> bytes);

  std::uint64_t hashed_;  // bytes of the stream before those of `buffer_`
  unsigned lanes_;
  std::vector<Digest> spans_;      // the chaining values of the spans before
  std::vector<std::byte> buffer_;  // at most one span; the stream's last one stays here
};

}  // namespace ckpt
