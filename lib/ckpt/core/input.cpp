#include "ckpt/core/input.hpp"

#include "ckpt/core/error.hpp"

namespace ckpt {

std::unique_ptr<Input> MemoryInput::open_sibling(std::string_view name) const {
  fail(ErrorKind::io, "{} has no file {} beside it", name_, name);
}

}  // namespace ckpt
