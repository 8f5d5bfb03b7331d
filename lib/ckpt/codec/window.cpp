#include "ckpt/codec/window.hpp"

#include <algorithm>

#include "ckpt/core/checked.hpp"

namespace ckpt {

std::span<const std::byte> Window::get(std::uint64_t offset, std::uint64_t size) {
  constexpr std::uint64_t window = 64U << 10U;
  constexpr std::uint64_t close = 4U << 10U;
  if (offset >= begin_ && range_fits(offset - begin_, size, held_))
    return std::span(bytes_).subspan(offset - begin_, size);
  const bool is_close = held_ != 0 && offset >= begin_ && offset - begin_ <= held_ + close;
  std::uint64_t wanted = size;
  if (is_close && range_fits(offset, size, source_.size()))
    wanted = std::max(size, std::min(window, source_.size() - offset));
  held_ = 0;  // so that a failed read leaves nothing behind
  if (bytes_.size() < wanted) bytes_.resize(wanted);
  source_.read_at(offset, std::span(bytes_).first(wanted));
  begin_ = offset;
  held_ = wanted;
  return std::span(bytes_).first(size);
}

}  // namespace ckpt
