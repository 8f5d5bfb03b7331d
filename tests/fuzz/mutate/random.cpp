#include "mutate/random.hpp"

#include <algorithm>
#include <utility>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t at_most);

namespace ckpt::fuzz {

const std::array<std::string_view, 20> odd_names{"",
                                                 ".",
                                                 "..",
                                                 "a/b",
                                                 "../up",
                                                 "a.b.weight",
                                                 "module.fc.weight",
                                                 "layers.18446744073709551616.bias",
                                                 "\x1b[31mred\x1b[0m",
                                                 "line\nbreak",
                                                 "\xe2\x80\xaegnp",
                                                 "\xff\xfe",
                                                 "\xed\xa0\x80",
                                                 "tab\tand \"quotes\"",
                                                 "__metadata__",
                                                 "running_mean",
                                                 "in_proj_weight",
                                                 "weight_ih_l0",
                                                 "exp_avg",
                                                 "weight_scale_inv"};

std::uint64_t Random::edge() {
  switch (below(6)) {
    case 0:
      return below(5);
    case 1:
      return next() >> below(64);
    case 2:
      return (1ULL << below(64)) - 1;
    case 3:
      return (1ULL << below(64)) + 1;
    case 4:
      return ~std::uint64_t{below(4)};
    default:
      return 1ULL << below(64);
  }
}

void mutate_bytes(Buffer& bytes, std::size_t at_most) {
  const std::size_t size = std::min(bytes.size(), at_most);
  bytes.resize(at_most);
  bytes.resize(LLVMFuzzerMutate(bytes.data(), size, at_most));
}

std::string mutate_text(std::string text) {
  Buffer bytes(text.begin(), text.end());
  mutate_bytes(bytes, text.size() + 16);
  return {bytes.begin(), bytes.end()};
}

std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t at_most, unsigned seed,
                   Mutation mutation) {
  Random random(seed);
  Buffer input(data, data + size);
  bool is_changed = false;
  if (!random.one_in(4)) {
    for (std::size_t rounds = 1 + random.below(3); rounds > 0; --rounds)
      is_changed = mutation(input, random) || is_changed;
  }
  if (!is_changed || input.size() > at_most) return LLVMFuzzerMutate(data, size, at_most);
  std::ranges::copy(input, data);
  return input.size();
}

}  // namespace ckpt::fuzz
