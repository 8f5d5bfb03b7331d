#include "ckpt/kernels/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ckpt/kernels/decode.hpp"

namespace ckpt {
namespace {

// A run stays in the first-level cache while it is gone through three times.
constexpr std::size_t run_length = 1024;
// Sums run side by side, so that each addition need not wait for the one before, and vector code is made.
constexpr std::size_t lanes = 8;

template <typename T> T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename To, typename From> To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

/// The numbers of one stored type, as a number type that holds every one of them.
struct Float32 {
  using Bits = std::uint32_t;
  using Number = double;
  static constexpr Bits magnitude = 0x7FFFFFFF, infinity = 0x7F800000;
  static Number number(Bits bits) { return static_cast<Number>(bits_as<float>(bits)); }
};
struct Brain16 {
  using Bits = std::uint16_t;
  using Number = double;
  static constexpr Bits magnitude = 0x7FFF, infinity = 0x7F80;
  static Number number(Bits bits) {
    return static_cast<Number>(bits_as<float>(static_cast<std::uint32_t>(bits) << 16U));
  }
};
struct Half16 {
  using Bits = std::uint16_t;
  using Number = double;
  static constexpr Bits magnitude = 0x7FFF, infinity = 0x7C00;
  /// The exponent's bias is mended by a product, which is exact and puts subnormals right too. Infinities
  /// and NaN come out as other numbers, but nobody asks for them.
  static Number number(Bits bits) {
    const std::uint32_t wide = (static_cast<std::uint32_t>(bits) & 0x7FFFU) << 13U;
    const std::uint32_t sign = (static_cast<std::uint32_t>(bits) & 0x8000U) << 16U;
    return static_cast<Number>(
        bits_as<float>(bits_as<std::uint32_t>(bits_as<float>(wide) * 0x1p112F) | sign));
  }
};
struct Float64 {
  using Bits = std::uint64_t;
  using Number = long double;  // so that squares of the largest do not overflow
  static constexpr Bits magnitude = 0x7FFFFFFFFFFFFFFF, infinity = 0x7FF0000000000000;
  static Number number(Bits bits) { return static_cast<Number>(bits_as<double>(bits)); }
};

/// How many of a run are NaN, infinite; nothing but counting, in the width of an element.
template <typename Type>
bool has_special(const std::byte* at, std::size_t count, std::uint64_t& nans, std::uint64_t& infinities) {
  using Bits = typename Type::Bits;
  using Count = std::conditional_t<sizeof(Bits) == 2, std::uint16_t, std::uint32_t>;
  Count not_numbers = 0;
  Count infinite = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = static_cast<Bits>(load<Bits>(at + i * sizeof(Bits)) & Type::magnitude);
    not_numbers = static_cast<Count>(not_numbers + (bits > Type::infinity ? 1 : 0));
    infinite = static_cast<Count>(infinite + (bits == Type::infinity ? 1 : 0));
  }
  nans += not_numbers;
  infinities += infinite;
  return not_numbers != 0 || infinite != 0;
}

/// Calls `take(run, nans, infinities)` with the finite numbers, run by run.
template <typename Type, typename Take> void each_float_run(std::span<const std::byte> bytes, Take take) {
  using Bits = typename Type::Bits;
  using Number = typename Type::Number;
  std::array<Number, run_length> numbers;
  const std::size_t count = bytes.size() / sizeof(Bits);
  for (std::size_t at = 0; at < count; at += run_length) {
    const std::size_t n = std::min(run_length, count - at);
    const std::byte* begin = bytes.data() + at * sizeof(Bits);
    std::uint64_t nans = 0;
    std::uint64_t infinities = 0;
    std::size_t kept = n;
    if (!has_special<Type>(begin, n, nans, infinities)) {
      for (std::size_t i = 0; i < n; ++i) numbers[i] = Type::number(load<Bits>(begin + i * sizeof(Bits)));
    } else {
      kept = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const Bits bits = load<Bits>(begin + i * sizeof(Bits));
        if (static_cast<Bits>(bits & Type::magnitude) < Type::infinity) numbers[kept++] = Type::number(bits);
      }
    }
    take(std::span<const Number>(numbers).first(kept), nans, infinities);
  }
}

template <typename Integer, typename Take>
void each_integer_run(std::span<const std::byte> bytes, Take take) {
  using Number = std::conditional_t<sizeof(Integer) == 8, long double, double>;
  std::array<Number, run_length> numbers;
  const std::size_t count = bytes.size() / sizeof(Integer);
  for (std::size_t at = 0; at < count; at += run_length) {
    const std::size_t n = std::min(run_length, count - at);
    for (std::size_t i = 0; i < n; ++i)
      numbers[i] = static_cast<Number>(load<Integer>(bytes.data() + (at + i) * sizeof(Integer)));
    take(std::span<const Number>(numbers).first(n), std::uint64_t{0}, std::uint64_t{0});
  }
}

/// Types of a byte without a loop of their own.
template <typename Take> void each_decoded_run(DType dtype, std::span<const std::byte> bytes, Take take) {
  std::vector<long double> all;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t n = std::min(run_length * element_size(dtype), bytes.size() - at);
    decode(dtype, bytes.subspan(at, n), all);
    std::uint64_t nans = 0;
    std::uint64_t infinities = 0;
    std::erase_if(all, [&](long double x) {
      nans += std::isnan(x) ? 1U : 0U;
      infinities += std::isinf(x) ? 1U : 0U;
      return !std::isfinite(x);
    });
    take(std::span<const long double>(all), nans, infinities);
    at += n;
  }
}

template <typename Take> void each_run(DType dtype, std::span<const std::byte> bytes, Take take) {
  switch (dtype) {
    case DType::f32:
    case DType::flex32:
      return each_float_run<Float32>(bytes, take);
    case DType::f16:
      return each_float_run<Half16>(bytes, take);
    case DType::bf16:
      return each_float_run<Brain16>(bytes, take);
    case DType::f64:
      return each_float_run<Float64>(bytes, take);
    case DType::i64:
      return each_integer_run<std::int64_t>(bytes, take);
    case DType::u64:
      return each_integer_run<std::uint64_t>(bytes, take);
    case DType::i32:
      return each_integer_run<std::int32_t>(bytes, take);
    case DType::u32:
    case DType::bool_u32:
      return each_integer_run<std::uint32_t>(bytes, take);
    case DType::i16:
      return each_integer_run<std::int16_t>(bytes, take);
    case DType::u16:
      return each_integer_run<std::uint16_t>(bytes, take);
    case DType::i8:
      return each_integer_run<std::int8_t>(bytes, take);
    case DType::u8:
    case DType::boolean:
    case DType::bool_u8:
      return each_integer_run<std::uint8_t>(bytes, take);
    default:
      return each_decoded_run(dtype, bytes, take);
  }
}

/// The sum of `of(x)` over all x, lane by lane.
template <typename Number, typename Of> Number sum(std::span<const Number> numbers, Of of) {
  std::array<Number, lanes> sums{};
  std::size_t i = 0;
  for (; i + lanes <= numbers.size(); i += lanes)
    for (std::size_t j = 0; j < lanes; ++j) sums[j] += of(numbers[i + j]);
  for (; i < numbers.size(); ++i) sums[0] += of(numbers[i]);
  for (std::size_t width = lanes / 2; width > 0; width /= 2)
    for (std::size_t j = 0; j < width; ++j) sums[j] += sums[j + width];
  return sums[0];
}

template <typename Number> std::pair<Number, Number> bounds(std::span<const Number> numbers) {
  std::array<Number, lanes> least;
  std::array<Number, lanes> most;
  least.fill(numbers.front());
  most.fill(numbers.front());
  std::size_t i = 0;
  for (; i + lanes <= numbers.size(); i += lanes)
    for (std::size_t j = 0; j < lanes; ++j) {
      least[j] = numbers[i + j] < least[j] ? numbers[i + j] : least[j];
      most[j] = numbers[i + j] > most[j] ? numbers[i + j] : most[j];
    }
  for (; i < numbers.size(); ++i) {
    least[0] = std::min(least[0], numbers[i]);
    most[0] = std::max(most[0], numbers[i]);
  }
  return {*std::ranges::min_element(least), *std::ranges::max_element(most)};
}

}  // namespace

bool can_measure(DType dtype) { return can_decode(dtype) && info(dtype).kind != DTypeClass::complex; }

template <typename Number> void StatisticsGatherer::add_run(std::span<const Number> finite) {
  if (finite.empty()) return;
  const auto [least, most] = bounds(finite);
  const bool is_first = count_ == 0;
  if (is_first || static_cast<long double>(least) < statistics_.min) statistics_.min = least;
  if (is_first || static_cast<long double>(most) > statistics_.max) statistics_.max = most;
  statistics_.zeros += static_cast<std::uint64_t>(
      sum(finite, [](Number x) { return x == Number{0} ? Number{1} : Number{0}; }));
  const auto count = static_cast<Number>(finite.size());
  const Number mean = sum(finite, [](Number x) { return x; }) / count;
  const Number squares = sum(finite, [mean](Number x) { return (x - mean) * (x - mean); });
  // Two sets become one; their means lie `apart`.
  const long double total = count_ + static_cast<long double>(count);
  const long double apart = static_cast<long double>(mean) - mean_;
  mean_ += apart * static_cast<long double>(count) / total;
  squares_ +=
      static_cast<long double>(squares) + apart * apart * count_ * static_cast<long double>(count) / total;
  count_ = total;
}

void StatisticsGatherer::add(std::span<const std::byte> bytes) {
  statistics_.elements += bytes.size() / element_size(dtype_);
  each_run(dtype_, bytes, [this](auto finite, std::uint64_t nans, std::uint64_t infinities) {
    statistics_.nans += nans;
    statistics_.infinities += infinities;
    add_run(finite);
  });
}

Statistics StatisticsGatherer::finish() const {
  Statistics result = statistics_;
  if (count_ > 0) {
    result.mean = static_cast<double>(mean_);
    result.std = static_cast<double>(std::sqrt(squares_ / count_));
  }
  return result;
}

void add_to_histogram(DType dtype, std::span<const std::byte> bytes, Histogram& histogram) {
  if (histogram.counts.empty()) return;
  const long double width = histogram.max - histogram.min;
  const auto last = histogram.counts.size() - 1;
  const long double scale = width > 0 ? static_cast<long double>(histogram.counts.size()) / width : 0;
  each_run(dtype, bytes, [&](auto finite, std::uint64_t, std::uint64_t) {
    for (const long double x : finite) {
      if (x < histogram.min || x > histogram.max) continue;
      const auto step = static_cast<std::size_t>((x - histogram.min) * scale);
      ++histogram.counts[std::min(step, last)];
    }
  });
}

}  // namespace ckpt
