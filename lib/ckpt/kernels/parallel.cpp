#include "ckpt/kernels/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

namespace ckpt {
namespace {

class Work {
 public:
  Work(const std::vector<std::size_t>& order,
       const std::function<std::function<void(std::size_t)>()>& make_task)
      : order_(order), make_task_(make_task) {}

  void run() {
    std::size_t at = order_.size();
    try {
      const std::function<void(std::size_t)> task = make_task_();
      for (at = next_++; at < order_.size() && !has_failed_; at = next_++) task(order_[at]);
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      has_failed_ = true;
      if (!error_ || at < failed_) error_ = std::current_exception(), failed_ = at;
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  const std::vector<std::size_t>& order_;
  const std::function<std::function<void(std::size_t)>()>& make_task_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> has_failed_ = false;
  std::mutex mutex_;
  std::exception_ptr error_;
  std::size_t failed_ = 0;
};

/// All threads but this one; fewer where the system gives no more, as those that run do all of it.
std::vector<std::jthread> start(std::size_t threads, Work& work) {
  std::vector<std::jthread> others;
  try {
    while (others.size() + 1 < threads) others.emplace_back([&work] { work.run(); });
  } catch (const std::system_error&) {
    return others;
  }
  return others;
}

}  // namespace

void in_parallel(const std::vector<std::size_t>& order,
                 const std::function<std::function<void(std::size_t)>()>& make_task, unsigned threads) {
  if (threads == 0) threads = std::max(std::thread::hardware_concurrency(), 1U);
  Work work(order, make_task);
  {
    const std::vector<std::jthread> others = start(std::min<std::size_t>(threads, order.size()), work);
    work.run();
  }
  work.rethrow();
}

std::vector<std::size_t> largest_first(const std::vector<std::uint64_t>& sizes) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return sizes[i]; });
  return order;
}

}  // namespace ckpt
