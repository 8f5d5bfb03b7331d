#include "ckpt/kernels/buffer.hpp"

#include <sys/mman.h>

#include <new>

namespace ckpt {
namespace {

constexpr std::size_t line = 64;
constexpr std::size_t large_page = 2U << 20;

}  // namespace

void Buffer::grow(std::size_t size) {
  memory_.reset();  // the old bytes are not wanted; both at once would be more than was asked for
  capacity_ = 0;
  const bool is_large = size >= 2 * large_page;
  const std::size_t alignment = is_large ? large_page : line;
  const std::size_t rounded = (size + line - 1) / line * line;
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)));
  if (!memory_) throw std::bad_alloc();
  capacity_ = rounded;
  // Only a hint; its last part stays on small pages, so that it takes no more than was asked for.
  if (is_large) static_cast<void>(::madvise(memory_.get(), size / large_page * large_page, MADV_HUGEPAGE));
}

}  // namespace ckpt
