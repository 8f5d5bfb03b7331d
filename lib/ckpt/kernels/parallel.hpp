#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace ckpt {

/// Does every task once, on several threads: `task(index)` for every index of `order`, which each thread
/// takes one by one from the front. `make_task` is called once on each thread, so that a task may keep
/// buffers; tasks of different threads must not write to the same place. The error of the earliest of the
/// order that failed is thrown when all threads have ended; after an error no new index is begun.
/// `threads` 0: as many as there are processors.
void in_parallel(const std::vector<std::size_t>& order,
                 const std::function<std::function<void(std::size_t index)>()>& make_task,
                 unsigned threads = 0);

/// The indices of `sizes`, the largest first: otherwise one thread may be left with it at the end.
std::vector<std::size_t> largest_first(const std::vector<std::uint64_t>& sizes);

}  // namespace ckpt
