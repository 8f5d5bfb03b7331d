// PyTorch's container from before 1.6.
#include "ckpt/formats/pytorch/legacy.hpp"

#include "ckpt/formats/pytorch/catalogue.hpp"
#include "fuzz.hpp"
#include "mutate/formats.hpp"

MUTATES(mutate_pickle)
FUZZ(data, size) {
  using namespace ckpt;
  return fuzz::read_and_touch(
      data, size, [](const Input& input) { return pytorch::catalogue(pytorch::open_legacy(input.bytes())); });
}
