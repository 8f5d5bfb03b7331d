#include "ckpt/kernels/parallel.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <numeric>
#include <stdexcept>

using namespace ckpt;

TEST_CASE("every index is done once, on any number of threads") {
  std::vector<std::size_t> order(1000);
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  for (const unsigned threads : {0U, 1U, 2U, 7U}) {
    std::vector<int> done(order.size());
    std::atomic<unsigned> made = 0;
    in_parallel(
        order,
        [&] {
          ++made;
          return [&](std::size_t i) { ++done[i]; };
        },
        threads);
    CHECK(done == std::vector<int>(order.size(), 1));
    if (threads > 0) CHECK(made == threads);
  }
  in_parallel({}, [] { return [](std::size_t) { FAIL(); }; });
}

TEST_CASE("the error of the earliest task is thrown, and no task is begun after one") {
  std::vector<std::size_t> order{5, 3, 1};
  const auto run = [&](unsigned threads) {
    in_parallel(
        order, [] { return [](std::size_t i) { throw std::runtime_error(std::to_string(i)); }; }, threads);
  };
  CHECK_THROWS_WITH(run(1), "5");
  CHECK_THROWS_AS(run(3), std::runtime_error);
  int done = 0;
  CHECK_THROWS(in_parallel(
      order,
      [&] {
        return [&](std::size_t) {
          ++done;
          throw std::runtime_error("");
        };
      },
      1));
  CHECK(done == 1);
}

TEST_CASE("the largest come first, equal ones in their order") {
  CHECK(largest_first({1, 5, 3, 5}) == std::vector<std::size_t>{1, 3, 2, 0});
}
