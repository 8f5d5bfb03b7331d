#include "ckpt/kernels/blake3.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <utility>

#include "ckpt/kernels/vector_clones.hpp"

// Names and numbers are those of the paper: sections 2.1 (tree), 2.2 (compression function) and 2.3 (modes).
namespace ckpt {
namespace {

using Words = std::array<std::uint32_t, 8>;
using Value = Blake3::Digest;  // a chaining value, as a parent's block holds it

constexpr std::size_t block_size = 64;
constexpr std::size_t chunk_size = 1024;

constexpr Words initial{0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                        0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};

enum Flag : std::uint32_t { chunk_start = 1, chunk_end = 2, parent = 4, root = 8 };

// Which message word each place of a round takes: the permutation of table 2, applied round after round.
constexpr std::size_t rounds = 7;
constexpr auto schedule = [] {
  constexpr std::array<std::size_t, 16> permutation{2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8};
  std::array<std::array<std::size_t, 16>, rounds> words{};
  for (std::size_t i = 0; i < 16; ++i) words[0][i] = i;
  for (std::size_t round = 1; round < rounds; ++round)
    for (std::size_t i = 0; i < 16; ++i) words[round][i] = words[round - 1][permutation[i]];
  return words;
}();

template <unsigned bits, typename Word> CKPT_INLINE void rotate_right(Word& word) {
  word = (word >> bits) | (word << (32U - bits));
}

/// The quarter round G. `Word` is one word of one state, or a vector of that word of several.
template <typename Word>
CKPT_INLINE void mix(Word& a, Word& b, Word& c, Word& d, const Word& x, const Word& y) {
  a += b + x;
  d ^= a;
  rotate_right<16>(d);
  c += d;
  b ^= c;
  rotate_right<12>(b);
  a += b + y;
  d ^= a;
  rotate_right<8>(d);
  c += d;
  b ^= c;
  rotate_right<7>(b);
}

template <std::size_t round, typename Word>
CKPT_INLINE void mix_all(std::array<Word, 16>& v, const std::array<Word, 16>& m) {
  constexpr auto& s = schedule[round];
  mix(v[0], v[4], v[8], v[12], m[s[0]], m[s[1]]);
  mix(v[1], v[5], v[9], v[13], m[s[2]], m[s[3]]);
  mix(v[2], v[6], v[10], v[14], m[s[4]], m[s[5]]);
  mix(v[3], v[7], v[11], v[15], m[s[6]], m[s[7]]);
  mix(v[0], v[5], v[10], v[15], m[s[8]], m[s[9]]);
  mix(v[1], v[6], v[11], v[12], m[s[10]], m[s[11]]);
  mix(v[2], v[7], v[8], v[13], m[s[12]], m[s[13]]);
  mix(v[3], v[4], v[9], v[14], m[s[14]], m[s[15]]);
}

template <typename Word> CKPT_INLINE void mix_rounds(std::array<Word, 16>& v, const std::array<Word, 16>& m) {
  mix_all<0>(v, m);
  mix_all<1>(v, m);
  mix_all<2>(v, m);
  mix_all<3>(v, m);
  mix_all<4>(v, m);
  mix_all<5>(v, m);
  mix_all<6>(v, m);
}

/// One block into the chaining value `h`; `size` is what of the block is no padding.
void compress(Words& h, const std::byte* block, std::uint32_t size, std::uint64_t counter,
              std::uint32_t flags) {
  std::array<std::uint32_t, 16> m;
  std::memcpy(m.data(), block, sizeof m);
  std::array<std::uint32_t, 16> v{};
  std::ranges::copy(h, v.begin());
  std::copy_n(initial.begin(), 4, v.begin() + 8);
  v[12] = static_cast<std::uint32_t>(counter);
  v[13] = static_cast<std::uint32_t>(counter >> 32U);
  v[14] = size;
  v[15] = flags;
  mix_rounds(v, m);
  for (std::size_t i = 0; i < h.size(); ++i) h[i] = v[i] ^ v[i + 8];
}

// --- several at once -------------------------------------------------------------------------------

constexpr std::size_t at_once = 16;  // inputs of one task, a multiple of the lanes of any vector

/// Sixteen inputs of whole blocks, which lie one after the other.
struct Task {
  std::size_t blocks = 1;     // of each input
  std::uint64_t counter = 0;  // of the first input
  bool counts = false;        // each input has the next counter
  std::uint32_t flags = 0;    // of every block; what the first and the last have beside them
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

template <std::size_t lanes> struct VectorOf;
template <> struct VectorOf<4> {
  using Type [[gnu::vector_size(16)]] = std::uint32_t;
};
template <> struct VectorOf<8> {
  using Type [[gnu::vector_size(32)]] = std::uint32_t;
};
template <> struct VectorOf<16> {
  using Type [[gnu::vector_size(64)]] = std::uint32_t;
};
template <std::size_t lanes> using Vector = typename VectorOf<lanes>::Type;

/// Squares of rows become columns: after log2(lanes) rounds of zipping vector i with vector i + lanes / 2.
template <std::size_t lanes, std::size_t... lane>
CKPT_INLINE void transpose(Vector<lanes>* rows, std::index_sequence<lane...> /*of one vector*/) {
  for (std::size_t round = 1; round < lanes; round *= 2) {
    std::array<Vector<lanes>, lanes> next;
    for (std::size_t i = 0; i < lanes / 2; ++i) {
      const Vector<lanes>& a = rows[i];
      const Vector<lanes>& b = rows[i + lanes / 2];
      next[2 * i] = __builtin_shufflevector(a, b, static_cast<int>(lane / 2 + lane % 2 * lanes)...);
      next[2 * i + 1] =
          __builtin_shufflevector(a, b, static_cast<int>(lane / 2 + lane % 2 * lanes + lanes / 2)...);
    }
    for (std::size_t i = 0; i < lanes; ++i) rows[i] = next[i];
  }
}

template <std::size_t lanes>
CKPT_INLINE void compress_lanes(const std::byte* inputs, const Task& task, std::uint64_t counter,
                                Value* out) {
  using V = Vector<lanes>;
  std::array<V, 8> h;
  for (std::size_t i = 0; i < h.size(); ++i) h[i] = V{} + initial[i];
  V low{};
  V high{};
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    low[lane] = static_cast<std::uint32_t>(counter);
    high[lane] = static_cast<std::uint32_t>(counter >> 32U);
    if (task.counts) ++counter;
  }
  for (std::size_t block = 0; block < task.blocks; ++block) {
    std::array<V, 16> m;
    for (std::size_t part = 0; part < 16; part += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane)
        std::memcpy(&m[part + lane], inputs + (lane * task.blocks + block) * block_size + part * 4,
                    sizeof(V));
      transpose<lanes>(&m[part], std::make_index_sequence<lanes>());
    }
    const std::uint32_t flags =
        task.flags | (block == 0 ? task.first : 0U) | (block + 1 == task.blocks ? task.last : 0U);
    std::array<V, 16> v{};
    for (std::size_t i = 0; i < 8; ++i) v[i] = h[i];
    for (std::size_t i = 0; i < 4; ++i) v[8 + i] = V{} + initial[i];
    v[12] = low;
    v[13] = high;
    v[14] = V{} + static_cast<std::uint32_t>(block_size);
    v[15] = V{} + flags;
    mix_rounds(v, m);
    for (std::size_t i = 0; i < h.size(); ++i) h[i] = v[i] ^ v[i + 8];
  }
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    Words words;
    for (std::size_t i = 0; i < h.size(); ++i) words[i] = h[i][lane];
    std::memcpy(&out[lane], words.data(), sizeof words);
  }
}

template <std::size_t lanes>
CKPT_INLINE void compress_all(const std::byte* inputs, const Task& task, Value* out) {
  for (std::size_t i = 0; i < at_once; i += lanes)
    compress_lanes<lanes>(inputs + i * task.blocks * block_size, task, task.counter + (task.counts ? i : 0),
                          out + i);
}

#ifdef CKPT_TARGET
CKPT_TARGET("avx512f") void compress_by_16(const std::byte* inputs, const Task& task, Value* out) {
  compress_all<16>(inputs, task, out);
}
CKPT_TARGET("avx2") void compress_by_8(const std::byte* inputs, const Task& task, Value* out) {
  compress_all<8>(inputs, task, out);
}
#endif
void compress_by_4(const std::byte* inputs, const Task& task, Value* out) {
  compress_all<4>(inputs, task, out);
}

using Compress = void (*)(const std::byte*, const Task&, Value*);

/// With the widest vectors of at most `lanes` words that the machine has.
Compress compress_sixteen([[maybe_unused]] unsigned lanes) {
#ifdef CKPT_TARGET
  if (lanes >= 16 && __builtin_cpu_supports("avx512f")) return compress_by_16;
  if (lanes >= 8 && __builtin_cpu_supports("avx2")) return compress_by_8;
#endif
  return compress_by_4;
}

// --- the tree --------------------------------------------------------------------------------------

/// The chaining value of one chunk, which may be shorter than others where it is the stream's last.
Value hash_chunk(std::span<const std::byte> chunk, std::uint64_t counter, std::uint32_t last_flags = 0) {
  Words h = initial;
  std::uint32_t flags = chunk_start;
  for (; chunk.size() > block_size; chunk = chunk.subspan(block_size)) {
    compress(h, chunk.data(), block_size, counter, flags);
    flags = 0;
  }
  std::array<std::byte, block_size> padded{};
  std::ranges::copy(chunk, padded.begin());
  compress(h, padded.data(), static_cast<std::uint32_t>(chunk.size()), counter,
           flags | chunk_end | last_flags);
  return std::bit_cast<Value>(h);
}

Value hash_pair(const Value* children, std::uint32_t flags) {
  Words h = initial;
  compress(h, children->data(), block_size, 0, flags);
  return std::bit_cast<Value>(h);
}

std::vector<Value> hash_chunks(std::span<const std::byte> bytes, std::uint64_t counter, unsigned lanes) {
  const Compress compress_each = compress_sixteen(lanes);
  std::vector<Value> values((bytes.size() + chunk_size - 1) / chunk_size);
  std::size_t done = 0;
  for (; bytes.size() >= at_once * chunk_size; bytes = bytes.subspan(at_once * chunk_size), done += at_once)
    compress_each(bytes.data(),
                  {.blocks = chunk_size / block_size,
                   .counter = counter + done,
                   .counts = true,
                   .first = chunk_start,
                   .last = chunk_end},
                  values.data() + done);
  for (; !bytes.empty(); ++done) {
    const std::size_t size = std::min(bytes.size(), chunk_size);
    values[done] = hash_chunk(bytes.first(size), counter + done);
    bytes = bytes.subspan(size);
  }
  return values;
}

/// Pairs become their parents, level by level, until `left` values are left; what has no partner goes up as
/// it is. That is the paper's tree, in which every left child is full.
void reduce(std::vector<Value>& values, std::size_t left, unsigned lanes) {
  const Compress compress_each = compress_sixteen(lanes);
  while (values.size() > left) {
    const std::size_t parents = values.size() / 2;
    std::size_t done = 0;
    for (; parents - done >= at_once; done += at_once) {
      std::array<Value, at_once> sixteen;
      compress_each(values[2 * done].data(), {.flags = parent}, sixteen.data());
      std::ranges::copy(sixteen, values.begin() + static_cast<std::ptrdiff_t>(done));
    }
    for (; done < parents; ++done) values[done] = hash_pair(&values[2 * done], parent);
    if (values.size() % 2 != 0) values[done++] = values.back();
    values.resize(done);
  }
}

}  // namespace

void Blake3::hash_span(std::span<const std::byte> bytes) {
  std::vector<Value> values = hash_chunks(bytes, hashed_ / chunk_size, lanes_);
  reduce(values, 1, lanes_);
  spans_.push_back(values.front());
  hashed_ += bytes.size();
}

void Blake3::update(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (buffer_.size() == span) {
      hash_span(buffer_);
      buffer_.clear();
    }
    const bool is_direct = buffer_.empty() && bytes.size() > span;
    const auto part = bytes.first(std::min<std::size_t>(bytes.size(), span - buffer_.size()));
    if (is_direct) hash_span(part);
    else buffer_.insert(buffer_.end(), part.begin(), part.end());
    bytes = bytes.subspan(part.size());
  }
}

void Blake3::end_part() {
  if (!buffer_.empty()) hash_span(buffer_);
  buffer_ = {};
}

void Blake3::append(Blake3&& next) {
  spans_.insert(spans_.end(), next.spans_.begin(), next.spans_.end());
  buffer_ = std::move(next.buffer_);
  hashed_ = next.hashed_;
}

Blake3::Digest Blake3::finish() {
  Digest digest;
  if (spans_.empty() && buffer_.size() <= chunk_size) {
    digest = hash_chunk(buffer_, 0, root);
  } else {
    std::vector<Value> values = hash_chunks(buffer_, hashed_ / chunk_size, lanes_);
    if (!spans_.empty()) {
      reduce(values, 1, lanes_);
      spans_.insert(spans_.end(), values.begin(), values.end());
      values = std::move(spans_);
    }
    reduce(values, 2, lanes_);
    digest = hash_pair(values.data(), parent | root);
  }
  *this = Blake3(0, lanes_);
  return digest;
}

}  // namespace ckpt
