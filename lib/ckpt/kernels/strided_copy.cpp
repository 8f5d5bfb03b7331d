#include "ckpt/kernels/strided_copy.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace ckpt {
namespace {

// Elements along each side of a tile: 16 lines of the source and 16 of the target stay in the
// first-level cache, also when the rows lie a power of two apart.
constexpr std::uint64_t tile = 16;

template <typename Element> void copy_element(std::byte* target, const std::byte* source) {
  std::memcpy(target, source, sizeof(Element));
}

/// `rows` runs along the source's closest elements, `columns` along the target's.
template <typename Element>
void copy_plane(std::byte* target, const std::byte* source, const CopyDimension& rows,
                const CopyDimension& columns) {
  for (std::uint64_t row = 0; row < rows.count; row += tile) {
    const std::uint64_t row_end = std::min(row + tile, rows.count);
    for (std::uint64_t column = 0; column < columns.count; column += tile) {
      const std::uint64_t column_end = std::min(column + tile, columns.count);
      for (std::uint64_t r = row; r < row_end; ++r) {
        std::byte* to = target + r * rows.target_step + column * columns.target_step;
        const std::byte* from = source + r * rows.source_step + column * columns.source_step;
        for (std::uint64_t c = column; c < column_end; ++c) {
          copy_element<Element>(to, from);
          to += columns.target_step;
          from += columns.source_step;
        }
      }
    }
  }
}

struct Bytes16 {
  std::array<std::byte, 16> bytes;
};

using PlaneCopy = void (*)(std::byte*, const std::byte*, const CopyDimension&, const CopyDimension&);

PlaneCopy plane_copy(unsigned size) {
  switch (size) {
    case 1:
      return copy_plane<std::uint8_t>;
    case 2:
      return copy_plane<std::uint16_t>;
    case 4:
      return copy_plane<std::uint32_t>;
    case 8:
      return copy_plane<std::uint64_t>;
    default:
      return copy_plane<Bytes16>;
  }
}

void copy_run(std::byte* target, const std::byte* source, const CopyDimension& run, unsigned size) {
  std::memcpy(target, source, run.count * size);
}

}  // namespace

void copy_strided(std::byte* target, const std::byte* source, std::span<const CopyDimension> dimensions,
                  unsigned size) {
  // The two innermost dimensions: the one whose elements lie closest in the source, and the one whose
  // elements lie closest in the target.
  std::vector<CopyDimension> outer;
  for (const CopyDimension& d : dimensions) {
    if (d.count == 0) return;
    if (d.count > 1) outer.push_back(d);
  }
  const auto take = [&outer](auto step) {
    if (outer.empty()) return CopyDimension{};
    const auto least = std::ranges::min_element(outer, {}, step);
    const CopyDimension d = *least;
    outer.erase(least);
    return d;
  };
  const CopyDimension columns = take(&CopyDimension::target_step);
  const bool is_run = columns.source_step == size && columns.target_step == size;
  const CopyDimension rows = is_run ? CopyDimension{} : take(&CopyDimension::source_step);
  const PlaneCopy plane = plane_copy(size);

  std::vector<std::uint64_t> index(outer.size());
  while (true) {
    if (is_run) copy_run(target, source, columns, size);
    else plane(target, source, rows, columns);
    std::size_t i = outer.size();
    while (i-- > 0) {
      source += outer[i].source_step;
      target += outer[i].target_step;
      if (++index[i] < outer[i].count) break;
      source -= outer[i].source_step * outer[i].count;
      target -= outer[i].target_step * outer[i].count;
      index[i] = 0;
    }
    if (i == SIZE_MAX) return;
  }
}

}  // namespace ckpt
