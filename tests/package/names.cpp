#include <cstdio>

#include "ckpt/core/error.hpp"
#include "ckpt/formats/format.hpp"
#include "ckpt/io/file.hpp"

// Lists the tensors of a checkpoint of any format.
int main(int count, char** arguments) try {
  if (count != 2) return 2;
  const auto input = ckpt::open_input(arguments[1]);
  const ckpt::Checkpoint checkpoint = ckpt::read_checkpoint(*input);
  for (const ckpt::Tensor& tensor : checkpoint.tensors)
    std::printf("%s %s\n", tensor.name.c_str(), ckpt::to_string(tensor.shape).c_str());
  return 0;
} catch (const ckpt::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
