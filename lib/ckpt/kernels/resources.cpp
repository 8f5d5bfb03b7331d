#include "ckpt/kernels/resources.hpp"

#include <algorithm>
#include <thread>

namespace ckpt {

unsigned Resources::thread_count() const noexcept {
  return threads != 0 ? threads : std::max(std::thread::hardware_concurrency(), 1U);
}

}  // namespace ckpt
