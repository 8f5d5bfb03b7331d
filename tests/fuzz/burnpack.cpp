// A burnpack, and the same bytes as its metadata alone.
#include "ckpt/formats/burnpack/burnpack.hpp"

#include "ckpt/formats/burnpack/layout.hpp"
#include "fuzz.hpp"
#include "mutate/formats.hpp"

MUTATES(mutate_burnpack)
FUZZ(data, size) {
  using namespace ckpt;
  fuzz::attempt([&] {
    cbor::Reader reader(std::as_bytes(std::span(data, size)), 0);
    static_cast<void>(burnpack::read_metadata(reader));
  });
  return fuzz::read_and_touch(data, size, read_burnpack);
}
