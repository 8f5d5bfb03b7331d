// Any file at all: recognised by its content, read, touched.
#include "ckpt/formats/format.hpp"
#include "fuzz.hpp"
#include "mutate/formats.hpp"

MUTATES(mutate_file)
FUZZ(data, size) { return ckpt::fuzz::read_and_touch(data, size, ckpt::read_checkpoint); }
