#include "ckpt/kernels/strided_copy.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace ckpt {
namespace {

constexpr std::size_t line = 64;  // bytes of a cache line

/// Sixteen bytes of elements, in whatever vector registers the machine has.
template <typename Element> struct Vector {
  static constexpr std::size_t lanes = 16 / sizeof(Element);
  using Type [[gnu::vector_size(16)]] = Element;

  static Type load(const std::byte* from) {
    Type vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
  }
  static void store(std::byte* to, Type vector) { std::memcpy(to, &vector, sizeof vector); }

  /// Lanes of `a` and `b` in turn, of their first halves (`half` 0) or their second ones.
  template <int half> static Type zip(Type a, Type b) {
    return [&]<std::size_t... lane>(std::index_sequence<lane...>) {
      return __builtin_shufflevector(a, b,
                                     static_cast<int>(lane / 2 + lane % 2 * lanes + half * (lanes / 2))...);
    }(std::make_index_sequence<lanes>());
  }
};

/// A square of `lanes` × `lanes` elements, both sides along lines of consecutive elements. After log2(lanes)
/// rounds of zipping vector i with vector i + lanes / 2 the vectors are the columns.
template <typename Element>
void transpose_square(std::byte* target, const std::byte* source, std::uint64_t target_line,
                      std::uint64_t source_line) {
  using V = Vector<Element>;
  std::array<typename V::Type, V::lanes> now;
  for (std::size_t i = 0; i < V::lanes; ++i) now[i] = V::load(source + i * source_line);
  for (std::size_t round = 1; round < V::lanes; round *= 2) {
    std::array<typename V::Type, V::lanes> next;
    for (std::size_t i = 0; i < V::lanes / 2; ++i) {
      next[2 * i] = V::template zip<0>(now[i], now[i + V::lanes / 2]);
      next[2 * i + 1] = V::template zip<1>(now[i], now[i + V::lanes / 2]);
    }
    now = next;
  }
  for (std::size_t i = 0; i < V::lanes; ++i) V::store(target + i * target_line, now[i]);
}

template <typename Element> void copy_element(std::byte* target, const std::byte* source) {
  std::memcpy(target, source, sizeof(Element));
}

/// Elements [row, row_end) × [column, column_end), one by one.
template <typename Element>
void copy_elements(std::byte* target, const std::byte* source, const CopyDimension& rows,
                   const CopyDimension& columns, std::uint64_t row, std::uint64_t row_end,
                   std::uint64_t column, std::uint64_t column_end) {
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

/// `rows` runs along the source's closest elements, `columns` along the target's. In tiles of one cache line
/// on each side, so that what is fetched is used up before it is evicted.
template <typename Element>
void copy_plane(std::byte* target, const std::byte* source, const CopyDimension& rows,
                const CopyDimension& columns) {
  constexpr std::uint64_t tile = std::max(line / sizeof(Element), std::size_t{8});
  constexpr std::size_t lanes = Vector<Element>::lanes;
  const bool are_lines = rows.source_step == sizeof(Element) && columns.target_step == sizeof(Element);
  for (std::uint64_t column = 0; column < columns.count; column += tile) {
    const std::uint64_t column_end = std::min(column + tile, columns.count);
    for (std::uint64_t row = 0; row < rows.count; row += tile) {
      const std::uint64_t row_end = std::min(row + tile, rows.count);
      if (!are_lines || lanes == 1 || column_end - column < tile || row_end - row < tile) {
        copy_elements<Element>(target, source, rows, columns, row, row_end, column, column_end);
        continue;
      }
      for (std::uint64_t r = row; r < row_end; r += lanes)
        for (std::uint64_t c = column; c < column_end; c += lanes)
          transpose_square<Element>(target + r * rows.target_step + c * sizeof(Element),
                                    source + r * sizeof(Element) + c * columns.source_step, rows.target_step,
                                    columns.source_step);
    }
  }
}

__extension__ using Bytes16 = unsigned __int128;

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
