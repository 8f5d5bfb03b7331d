#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace ckpt {

/// Turns each unit of `unit` bytes round, in place. `bytes` holds whole units.
inline void swap_bytes(std::span<std::byte> bytes, unsigned unit) {
  if (unit < 2) return;
  for (std::size_t i = 0; i + unit <= bytes.size(); i += unit) std::ranges::reverse(bytes.subspan(i, unit));
}

}  // namespace ckpt
