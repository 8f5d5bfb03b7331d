#include "ckpt/report/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "ckpt/kernels/decode.hpp"
#include "ckpt/kernels/tensor_reader.hpp"

namespace ckpt {
namespace {

/// The index of the element that stands at `position` in row-major order.
std::vector<std::uint64_t> unravel(std::uint64_t position, const Shape& shape) {
  std::vector<std::uint64_t> index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = position % shape[i];
    position /= shape[i];
  }
  return index;
}

struct Number {
  long double real = 0;
  long double imaginary = 0;  // 0 for all but complex types
};

bool is_same(long double p, long double q) { return p == q || (std::isnan(p) && std::isnan(q)); }

/// The difference of two parts; none where both are the same infinity or NaN.
long double difference_of(long double p, long double q) { return is_same(p, q) ? 0 : p - q; }

/// NaN where a part is NaN, which `hypot` forgets beside an infinity.
long double modulus(long double real, long double imaginary) {
  if (imaginary == 0 || std::isnan(real)) return std::fabs(real);
  return std::isnan(imaginary) ? imaginary : std::hypot(real, imaginary);
}

class ValueComparer {
 public:
  ValueComparer(const Tolerance& tolerance, std::uint64_t memory)
      : tolerance_(tolerance), a_(memory / 2), b_(memory / 2) {}

  ValueDifference run(const Tensor& a, const Tensor& b) {
    difference_ = {.count = 0, .elements = a.elements(), .max_abs = 0};
    const bool is_same_type = a.dtype == b.dtype;
    if (is_same_type && same_place(a, b)) return difference_;
    const bool is_number = can_decode(a.dtype) && can_decode(b.dtype);
    // Packed elements have no size in bytes of their own: they are compared byte by byte.
    const std::size_t a_size = is_number ? element_size(a.dtype) : 1;
    const std::size_t b_size = is_number ? element_size(b.dtype) : 1;
    if (!is_number && a.byte_size() != b.byte_size()) {
      difference_.count = difference_.elements;
      difference_.max_abs = std::numeric_limits<double>::quiet_NaN();
      return difference_;
    }
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
      if (!is_same_type || std::memcmp(x.data(), y.data(), x.size()) != 0) {
        if (is_number) compare_numbers(a.dtype, x, b.dtype, y, position);
        else compare_bytes(x, y);
      }
      left = left.subspan(x.size());
      right = right.subspan(y.size());
      position += count;
    }
    if (has_place_) difference_.at = unravel(place_, a.shape);
    has_place_ = false;
    return difference_;
  }

 private:
  void compare_bytes(std::span<const std::byte> x, std::span<const std::byte> y) {
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i] != y[i]) ++difference_.count;
    difference_.max_abs = std::numeric_limits<double>::quiet_NaN();
  }

  void compare_numbers(DType a, std::span<const std::byte> x, DType b, std::span<const std::byte> y,
                       std::uint64_t position) {
    // In steps that keep the decoded numbers in the first-level cache.
    constexpr std::size_t step = 1024;
    const std::size_t count = x.size() / element_size(a);
    for (std::size_t at = 0; at < count; at += step) {
      const std::size_t n = std::min(step, count - at);
      const std::span<const std::byte> left = x.subspan(at * element_size(a), n * element_size(a));
      const std::span<const std::byte> right = y.subspan(at * element_size(b), n * element_size(b));
      if (a == b && std::memcmp(left.data(), right.data(), left.size()) == 0) continue;
      decode(a, left, numbers_a_);
      decode(b, right, numbers_b_);
      const std::size_t per_a = numbers_per_element(a);
      const std::size_t per_b = numbers_per_element(b);
      for (std::size_t i = 0; i < n; ++i) {
        const Number p{numbers_a_[i * per_a], per_a == 2 ? numbers_a_[i * per_a + 1] : 0};
        const Number q{numbers_b_[i * per_b], per_b == 2 ? numbers_b_[i * per_b + 1] : 0};
        if (is_outside(p, q, position + at + i)) ++difference_.count;
      }
    }
  }

  /// Whether the pair lies outside the tolerance; keeps the largest distance.
  bool is_outside(const Number& p, const Number& q, std::uint64_t position) {
    if (is_same(p.real, q.real) && is_same(p.imaginary, q.imaginary)) return false;
    const auto distance =
        static_cast<double>(modulus(difference_of(p.real, q.real), difference_of(p.imaginary, q.imaginary)));
    // A number against NaN is farther than any distance, and stays so.
    const bool is_farther =
        !std::isnan(difference_.max_abs) && (std::isnan(distance) || distance > difference_.max_abs);
    if (is_farther) {
      difference_.max_abs = distance;
      place_ = position;
      has_place_ = true;
    }
    const long double size = modulus(q.real, q.imaginary);
    if (!std::isfinite(distance) || !std::isfinite(size)) return true;
    return !(static_cast<long double>(distance) <= static_cast<long double>(tolerance_.absolute) +
                                                       static_cast<long double>(tolerance_.relative) * size);
  }

  Tolerance tolerance_;
  TensorReader a_;
  TensorReader b_;
  ValueDifference difference_;
  std::uint64_t place_ = 0;
  bool has_place_ = false;
  std::vector<long double> numbers_a_;
  std::vector<long double> numbers_b_;
};

}  // namespace

Comparison compare(const Checkpoint& a, const Checkpoint& b, const Tolerance& tolerance,
                   std::uint64_t memory) {
  Comparison result;
  ValueComparer values(tolerance, memory);
  std::unordered_map<std::string_view, const Tensor*> in_b;
  for (const Tensor& tensor : b.tensors) in_b.emplace(tensor.name, &tensor);
  std::unordered_map<std::string_view, bool> in_a;
  for (const Tensor& tensor : a.tensors) {
    in_a.emplace(tensor.name, true);
    const auto other = in_b.find(tensor.name);
    if (other == in_b.end()) {
      result.only_in_a.push_back(&tensor);
      continue;
    }
    Difference difference{.a = &tensor, .b = other->second, .values = std::nullopt};
    if (tensor.shape != other->second->shape) {
      difference.what = Difference::What::shape;
      result.different.push_back(std::move(difference));
      continue;
    }
    const ValueDifference value = values.run(tensor, *other->second);
    if (std::isnan(value.max_abs) || value.max_abs > result.max_abs) result.max_abs = value.max_abs;
    if (value.count > 0) difference.values = value;
    const bool is_other_type =
        tensor.dtype != other->second->dtype || tensor.quantization != other->second->quantization;
    if (is_other_type) difference.what = Difference::What::dtype;
    if (is_other_type || difference.values) result.different.push_back(std::move(difference));
    else ++result.equal;
  }
  for (const Tensor& tensor : b.tensors)
    if (!in_a.contains(tensor.name)) result.only_in_b.push_back(&tensor);
  return result;
}

}  // namespace ckpt
