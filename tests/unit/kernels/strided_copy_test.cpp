#include "ckpt/kernels/strided_copy.hpp"

#include <catch2/catch.hpp>

#include <cstring>

#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

void copy_naively(std::byte* target, const std::byte* source, std::span<const CopyDimension> dimensions,
                  unsigned size) {
  if (dimensions.empty()) {
    std::memcpy(target, source, size);
    return;
  }
  const CopyDimension& outer = dimensions.front();
  for (std::uint64_t i = 0; i < outer.count; ++i)
    copy_naively(target + i * outer.target_step, source + i * outer.source_step, dimensions.subspan(1), size);
}

}  // namespace

TEST_CASE("elements of every size are copied from any layout to any other") {
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    const unsigned size = 1U << random.number(0, 4);
    std::vector<CopyDimension> dimensions(random.number(0, 4));
    std::uint64_t source_size = size;
    std::uint64_t target_size = size;
    std::uint64_t step = size;
    for (CopyDimension& d : dimensions) {
      d.count = random.number(0, 20) == 0 ? 0 : random.number(1, 19);
      d.source_step = random.number(0, 60);
      d.target_step = step;
      step = (step * std::max<std::uint64_t>(d.count, 1)) + random.number(0, 1) * size;
      if (d.count == 0) continue;
      source_size += (d.count - 1) * d.source_step;
      target_size += (d.count - 1) * d.target_step;
    }
    if (target_size > 1U << 16) continue;
    std::ranges::shuffle(dimensions, random.engine());
    const std::vector<std::byte> source = random.bytes(source_size);
    std::vector<std::byte> expected(target_size);
    std::vector<std::byte> target(target_size);
    copy_naively(expected.data(), source.data(), dimensions, size);
    copy_strided(target.data(), source.data(), dimensions, size);
    REQUIRE(target == expected);
  }
}

TEST_CASE("a transpose of more than one tile is a transpose") {
  const std::uint64_t rows = 37;
  const std::uint64_t columns = 65;
  std::vector<std::uint32_t> source(rows * columns);
  for (std::uint32_t i = 0; i < source.size(); ++i) source[i] = i;
  std::vector<std::byte> target(source.size() * 4);
  const std::vector<CopyDimension> dimensions{{columns, 4, rows * 4}, {rows, columns * 4, 4}};
  copy_strided(target.data(), bytes_of(source).data(), dimensions, 4);
  const std::vector<std::uint32_t> result = values_of<std::uint32_t>(target);
  for (std::uint64_t c = 0; c < columns; ++c)
    for (std::uint64_t r = 0; r < rows; ++r) REQUIRE(result[c * rows + r] == r * columns + c);
}
