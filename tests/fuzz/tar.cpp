// PyTorch's container from before 0.1.10.
#include "ckpt/formats/pytorch/catalogue.hpp"
#include "ckpt/formats/pytorch/tar_container.hpp"
#include "fuzz.hpp"

FUZZ(data, size) {
  using namespace ckpt;
  return fuzz::read_and_touch(
      data, size, [](const Input& input) { return pytorch::catalogue(pytorch::open_tar(input.bytes())); });
}
