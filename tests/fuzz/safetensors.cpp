// A safetensors file, and the same bytes as a header alone.
#include "ckpt/formats/safetensors.hpp"

#include "ckpt/codec/safetensors_header.hpp"
#include "fuzz.hpp"
#include "mutate/formats.hpp"

MUTATES(mutate_safetensors)
FUZZ(data, size) {
  using namespace ckpt;
  fuzz::attempt([&] { static_cast<void>(parse_safetensors_header(fuzz::text_of(data, size))); });
  return fuzz::read_and_touch(data, size, read_safetensors);
}
