// PyTorch in any container, taken for such whatever it looks like.
#include "ckpt/formats/pytorch/pytorch.hpp"

#include "fuzz.hpp"
#include "mutate/formats.hpp"

MUTATES(mutate_file)
FUZZ(data, size) { return ckpt::fuzz::read_and_touch(data, size, ckpt::read_pytorch); }
