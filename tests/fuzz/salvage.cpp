// What is whole of a damaged file must be readable.
#include "ckpt/formats/salvage.hpp"

#include "fuzz.hpp"
#include "mutate/formats.hpp"

MUTATES(mutate_file)
FUZZ(data, size) {
  using namespace ckpt;
  return fuzz::read_and_touch(data, size, [](const Input& input) { return salvage(input).checkpoint; });
}
