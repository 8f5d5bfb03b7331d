#pragma once

#include <cstdint>

namespace ckpt {

/// What reading and writing data may take.
struct Resources {
  std::uint64_t memory = 64U << 20;  ///< bytes of all buffers together
  unsigned threads = 0;              ///< 0: as many as there are processors

  /// `threads`, or how many processors there are.
  unsigned thread_count() const noexcept;
};

}  // namespace ckpt
