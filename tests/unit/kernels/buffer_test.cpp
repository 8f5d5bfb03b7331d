#include "ckpt/kernels/buffer.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>

using namespace ckpt;

TEST_CASE("a buffer gives as many bytes as are asked for, aligned to a cache line") {
  Buffer buffer;
  CHECK(buffer.take(0).empty());
  for (const std::size_t size : {1U, 64U, 65U, 100'000U, 4U << 20, (5U << 20) + 3, 7U}) {
    const std::span<std::byte> bytes = buffer.take(size);
    CHECK(bytes.size() == size);
    CHECK(reinterpret_cast<std::uintptr_t>(bytes.data()) % 64 == 0);
    std::ranges::fill(bytes, std::byte{1});
  }
}

TEST_CASE("a buffer stays where it is while it is large enough") {
  Buffer buffer;
  const std::byte* large = buffer.take(5U << 20).data();
  CHECK(buffer.take(100).data() == large);
  CHECK(buffer.take(5U << 20).data() == large);
}
