#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt::fuzz {

using Buffer = std::vector<std::uint8_t>;

/// Choices that follow from a seed alone (SplitMix64), so that a run can be repeated.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ z >> 30U) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27U) * 0x94D049BB133111EBU;
    return z ^ z >> 31U;
  }
  /// From 0 to `end` - 1; 0 where `end` is 0.
  std::size_t below(std::size_t end) { return end == 0 ? 0 : static_cast<std::size_t>(next() % end); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <typename Range> auto& pick(Range&& range) { return range[below(std::size(range))]; }

  /// A number of the kind that breaks readers: next to a power of two, small, or any.
  std::uint64_t edge();

 private:
  std::uint64_t state_;
};

/// Names that readers treat in their own way, or ought to.
extern const std::array<std::string_view, 20> odd_names;

/// What libFuzzer itself makes of a few bytes: bits, dictionary words, crossings.
void mutate_bytes(Buffer& bytes, std::size_t at_most);
std::string mutate_text(std::string text);

/// Changes an input in the terms of its format, never by much; says whether it could.
using Mutation = bool (*)(Buffer& input, Random& random);

/// What libFuzzer calls: the mutation most of the time, its own on the bytes as they lie otherwise.
std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t at_most, unsigned seed,
                   Mutation mutation);

}  // namespace ckpt::fuzz

/// A target whose inputs `mutation` understands.
#define MUTATES(mutation)                                                                                   \
  extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t at_most, \
                                                 unsigned seed) {                                           \
    return ckpt::fuzz::mutate(data, size, at_most, seed, ckpt::fuzz::mutation);                             \
  }
