#include "ckpt/report/compare_values.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/kernels/decode.hpp"
#include "ckpt/kernels/vector_clones.hpp"

namespace ckpt {
namespace {

// Two chunks stay in the second-level cache between the kernel's copy and the comparison.
constexpr std::uint64_t plain_chunk = 512U << 10;

/// The index of the element that stands at `position` in row-major order.
std::vector<std::uint64_t> unravel(std::uint64_t position, const Shape& shape) {
  std::vector<std::uint64_t> index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = position % shape[i];
    position /= shape[i];
  }
  return index;
}

bool is_same(long double p, long double q) { return p == q || (std::isnan(p) && std::isnan(q)); }

/// The difference of two parts; none where both are the same infinity or NaN.
long double difference_of(long double p, long double q) { return is_same(p, q) ? 0 : p - q; }

/// NaN where a part is NaN, which `hypot` forgets beside an infinity.
long double modulus(long double real, long double imaginary) {
  if (imaginary == 0 || std::isnan(real)) return std::fabs(real);
  return std::isnan(imaginary) ? imaginary : std::hypot(real, imaginary);
}

/// What a run of numbers says, none of them NaN or infinite. Its lanes are put together at the end; maxima
/// are kept as the bits of numbers that are not negative, which grow with them.
struct Lanes {
  static constexpr std::size_t count = 8;
  std::array<double, count> sum{};
  std::array<std::int64_t, count> outside{};
  std::array<std::int64_t, count> farthest{};
  std::array<std::int64_t, count> relative{};
  std::array<std::int64_t, count> special{};  // bits of which some are set where a number is no finite one

  CKPT_INLINE void add(const double* a, const double* b, const Tolerance& tolerance) {
    constexpr std::int64_t infinity = 0x7FF0000000000000;
    for (std::size_t i = 0; i < count; ++i) {
      const double distance = std::fabs(a[i] - b[i]);
      const double size = std::fabs(b[i]);
      const auto bits = std::bit_cast<std::int64_t>(distance);
      // One that has no size has no relative difference: divided by infinity it counts for nothing.
      const auto size_bits = std::bit_cast<std::int64_t>(size);
      const std::int64_t is_zero = (size_bits - 1) >> 63;
      const auto ratio =
          std::bit_cast<std::int64_t>(distance / std::bit_cast<double>(size_bits | (is_zero & infinity)));
      const double excess = tolerance.absolute + tolerance.relative * size - distance;
      outside[i] -= std::bit_cast<std::int64_t>(excess) >> 63;
      sum[i] += distance;
      farthest[i] = farthest[i] > bits ? farthest[i] : bits;
      relative[i] = relative[i] > ratio ? relative[i] : ratio;
      special[i] |= infinity - 1 - bits;  // its sign, where the distance is infinite or NaN
      special[i] |= infinity - 1 - size_bits;
    }
  }
};

CKPT_VECTOR_CLONES void add_all(std::span<const double> a, std::span<const double> b,
                                const Tolerance& tolerance, Lanes& lanes) {
  for (std::size_t at = 0; at < a.size(); at += Lanes::count) lanes.add(&a[at], &b[at], tolerance);
}

}  // namespace

ValueComparer::ValueComparer(const Tolerance& tolerance, std::uint64_t memory)
    : tolerance_(tolerance),
      chunk_(std::clamp<std::uint64_t>(memory / 4 / 16 * 16, 16, plain_chunk)),
      a_(memory / 2),
      b_(memory / 2) {}

ValueDifference ValueComparer::run(const Tensor& a, const Tensor& b) {
  difference_ = {.elements = a.elements()};
  sum_ = 0;
  place_.reset();
  if (a.dtype == b.dtype && same_place(a, b)) return difference_;
  const bool is_number = can_decode(a.dtype) && can_decode(b.dtype);
  if (!is_number && a.byte_size() != b.byte_size()) {
    difference_.count = difference_.elements;
    difference_.max_abs = difference_.mean_abs = std::numeric_limits<double>::quiet_NaN();
    return difference_;
  }
  if (a.dtype == b.dtype && a.is_plain() && b.is_plain()) compare_plain(a, b);
  else compare_pieces(a, b);
  if (place_) difference_.at = unravel(*place_, a.shape);
  if (difference_.elements > 0)
    difference_.mean_abs = static_cast<double>(sum_ / static_cast<long double>(difference_.elements));
  return difference_;
}

/// Equal bytes are seen to be equal at the speed of memory, and nothing is decoded.
void ValueComparer::compare_plain(const Tensor& a, const Tensor& b) {
  const std::uint64_t size = a.view.bytes;
  const std::size_t element = std::max(element_size(a.dtype), 1U);
  const std::uint64_t most = std::min(size, std::max<std::uint64_t>(chunk_ / element * element, element));
  if (bytes_a_.size() < most) bytes_a_.resize(most), bytes_b_.resize(most);
  for (std::uint64_t at = 0; at < size;) {
    const std::uint64_t part = std::min(most, size - at);
    const std::span<std::byte> x = std::span(bytes_a_).first(part);
    const std::span<std::byte> y = std::span(bytes_b_).first(part);
    try {
      a.view.source->read_at(a.view.offset + at, x);
      b.view.source->read_at(b.view.offset + at, y);
    } catch (Error& error) {
      throw error.in(fmt::format("tensor {}", printable(a.name)));
    }
    compare_chunk(a.dtype, x, b.dtype, y, at / element);
    at += part;
  }
}

void ValueComparer::compare_pieces(const Tensor& a, const Tensor& b) {
  // Packed elements have no size in bytes of their own: they are compared byte by byte.
  const bool is_number = can_decode(a.dtype) && can_decode(b.dtype);
  const std::size_t a_size = is_number ? element_size(a.dtype) : 1;
  const std::size_t b_size = is_number ? element_size(b.dtype) : 1;
  a_.start(a);
  b_.start(b);
  std::span<const std::byte> left;
  std::span<const std::byte> right;
  std::uint64_t position = 0;
  while (true) {
    if (left.empty()) left = a_.next();
    if (right.empty()) right = b_.next();
    const std::size_t count = std::min(left.size() / a_size, right.size() / b_size);
    if (count == 0) break;
    const std::span<const std::byte> x = left.first(count * a_size);
    const std::span<const std::byte> y = right.first(count * b_size);
    compare_chunk(a.dtype, x, b.dtype, y, position);
    left = left.subspan(x.size());
    right = right.subspan(y.size());
    position += count;
  }
}

void ValueComparer::compare_chunk(DType a, std::span<const std::byte> x, DType b,
                                  std::span<const std::byte> y, std::uint64_t position) {
  if (a == b && std::memcmp(x.data(), y.data(), x.size()) == 0) return;
  if (can_decode(a) && can_decode(b)) compare_numbers(a, x, b, y, position);
  else compare_bytes(x, y);
}

void ValueComparer::compare_bytes(std::span<const std::byte> x, std::span<const std::byte> y) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i] != y[i]) ++difference_.count;
  difference_.max_abs = std::numeric_limits<double>::quiet_NaN();
  sum_ = std::numeric_limits<long double>::quiet_NaN();
}

void ValueComparer::compare_numbers(DType a, std::span<const std::byte> x, DType b,
                                    std::span<const std::byte> y, std::uint64_t position) {
  // In steps that keep the decoded numbers in the first-level cache.
  constexpr std::size_t step = 1024;
  const std::size_t count = x.size() / element_size(a);
  const bool are_doubles = decodes_to_double(a) && decodes_to_double(b);
  for (std::size_t at = 0; at < count; at += step) {
    const std::size_t n = std::min(step, count - at);
    const std::span<const std::byte> left = x.subspan(at * element_size(a), n * element_size(a));
    const std::span<const std::byte> right = y.subspan(at * element_size(b), n * element_size(b));
    if (a == b && std::memcmp(left.data(), right.data(), left.size()) == 0) continue;
    if (are_doubles) {
      decode(a, left, doubles_a_);
      decode(b, right, doubles_b_);
      compare_doubles(position + at);
    } else {
      decode(a, left, numbers_a_);
      decode(b, right, numbers_b_);
      compare_long_doubles(numbers_per_element(a), numbers_per_element(b), position + at);
    }
  }
}

/// Real numbers that are doubles, with the arithmetic of NumPy's `allclose`.
void ValueComparer::compare_doubles(std::uint64_t position) {
  if (compare_finite(position)) return;
  double sum = 0;  // of one step only: the whole is kept in more digits
  for (std::size_t i = 0; i < doubles_a_.size(); ++i) {
    const double p = doubles_a_[i];
    const double q = doubles_b_[i];
    if (p == q || (std::isnan(p) && std::isnan(q))) continue;
    const double distance = std::fabs(p - q);
    const double size = std::fabs(q);
    const bool is_inside = std::isfinite(distance) && std::isfinite(size) &&
                           distance <= tolerance_.absolute + tolerance_.relative * size;
    sum += distance;
    take(distance, size, !is_inside, position + i);
  }
  sum_ += static_cast<long double>(sum);
}

/// The same of numbers that are all finite, in vectors; false where some are not, and nothing was done.
bool ValueComparer::compare_finite(std::uint64_t position) {
  if (doubles_a_.size() % Lanes::count != 0) return false;
  Lanes lanes;
  add_all(doubles_a_, doubles_b_, tolerance_, lanes);
  if (std::ranges::any_of(lanes.special, [](std::int64_t bits) { return bits < 0; })) return false;
  for (std::size_t i = 0; i < Lanes::count; ++i) {
    difference_.count += static_cast<std::uint64_t>(lanes.outside[i]);
    difference_.max_relative = std::max(difference_.max_relative, std::bit_cast<double>(lanes.relative[i]));
    sum_ += static_cast<long double>(lanes.sum[i]);
  }
  const auto farthest = std::bit_cast<double>(std::ranges::max(lanes.farthest));
  if (std::isnan(difference_.max_abs) || farthest <= difference_.max_abs) return true;
  difference_.max_abs = farthest;
  std::size_t at = 0;
  while (std::fabs(doubles_a_[at] - doubles_b_[at]) != farthest) ++at;
  place_ = position + at;
  return true;
}

void ValueComparer::compare_long_doubles(std::size_t per_a, std::size_t per_b, std::uint64_t position) {
  const std::size_t count = numbers_a_.size() / per_a;
  for (std::size_t i = 0; i < count; ++i) {
    const long double real = numbers_a_[i * per_a];
    const long double imaginary = per_a == 2 ? numbers_a_[i * per_a + 1] : 0;
    const long double other_real = numbers_b_[i * per_b];
    const long double other_imaginary = per_b == 2 ? numbers_b_[i * per_b + 1] : 0;
    if (is_same(real, other_real) && is_same(imaginary, other_imaginary)) continue;
    const auto distance = static_cast<double>(
        modulus(difference_of(real, other_real), difference_of(imaginary, other_imaginary)));
    const long double size = modulus(other_real, other_imaginary);
    const bool is_inside =
        std::isfinite(distance) && std::isfinite(size) &&
        static_cast<long double>(distance) <= static_cast<long double>(tolerance_.absolute) +
                                                  static_cast<long double>(tolerance_.relative) * size;
    sum_ += static_cast<long double>(distance);
    take(distance, static_cast<double>(size), !is_inside, position + i);
  }
}

/// Two numbers that are not the same.
void ValueComparer::take(double distance, double size, bool is_outside, std::uint64_t position) {
  if (is_outside) ++difference_.count;
  if (size > 0 && std::isfinite(size) && distance > difference_.max_relative * size)
    difference_.max_relative = distance / size;
  // A number against NaN is farther than any distance, and stays so.
  if (std::isnan(difference_.max_abs)) return;
  if (std::isnan(distance) || distance > difference_.max_abs) {
    difference_.max_abs = distance;
    place_ = position;
  }
}

}  // namespace ckpt
