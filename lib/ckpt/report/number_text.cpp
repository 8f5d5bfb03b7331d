#include "ckpt/report/number_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "ckpt/kernels/decode.hpp"

namespace ckpt {
namespace {

/// The digits `d.ddde±x` of `value` laid out as NumPy does: with an exponent where the value, which may be
/// a little off its digits, is below 1e-4 or from 1e16 on.
std::string laid_out(std::string_view scientific, double value) {
  const bool is_negative = scientific.starts_with('-');
  if (is_negative) scientific.remove_prefix(1);
  const std::size_t e = scientific.find('e');
  int exponent = 0;
  const std::string_view tail = scientific.substr(e + (scientific[e + 1] == '+' ? 2 : 1));
  std::from_chars(tail.data(), tail.data() + tail.size(), exponent);
  std::string digits(scientific.substr(0, e));
  if (digits.size() > 1) digits.erase(1, 1);
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  std::string out;
  const auto count = static_cast<int>(digits.size());
  if (digits == "0") {
    out = "0.0";
  } else if (std::fabs(value) < 1e-4 || std::fabs(value) >= 1e16) {
    out = digits.substr(0, 1) + (count > 1 ? "." + digits.substr(1) : "") +
          fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  } else if (exponent < 0) {
    out = "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  } else if (count <= exponent + 1) {
    out = digits + std::string(static_cast<std::size_t>(exponent + 1 - count), '0') + ".0";
  } else {
    out = digits;
    out.insert(static_cast<std::size_t>(exponent) + 1, ".");
  }
  return (is_negative ? "-" : "") + out;
}

template <typename Float> std::string shortest(Float value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  return laid_out({buffer, static_cast<std::size_t>(end - buffer)}, static_cast<double>(value));
}

/// The value next to a number of a small type, for its bits plus or minus one; the same distance on the
/// other side where there is none.
struct Neighbours {
  double value, below, above;
};

Neighbours neighbours(DType dtype, std::uint16_t bits) {
  std::vector<long double> out;
  const auto decoded = [&](std::uint16_t pattern) {
    std::byte bytes[2];
    std::memcpy(bytes, &pattern, sizeof bytes);
    decode(dtype, std::span<const std::byte>(bytes).first(element_size(dtype)), out);
    return static_cast<double>(out.front());
  };
  const double value = decoded(bits);
  // Towards zero and away from it; the sign is the highest bit and stays.
  double inner = value == 0 ? value : decoded(static_cast<std::uint16_t>(bits - 1));
  if (std::isnan(inner)) inner = 0;  // FNUZ types have it where minus zero would be
  double outer = decoded(static_cast<std::uint16_t>(bits + 1));
  if (!std::isfinite(outer)) outer = value + (value - inner);
  return {value, std::min(inner, outer), std::max(inner, outer)};
}

/// The fewest digits that lie nearer to the number than to its neighbours.
std::string shortest_of_small(DType dtype, std::uint16_t bits) {
  const Neighbours n = neighbours(dtype, bits);
  if (!std::isfinite(n.value) || n.value == 0) return shortest(n.value);
  // Digits that end half way round to the even one, which may be too far where the other is not.
  const double further = std::nextafter(n.value, n.value * 2);
  for (int precision = 0; precision < 17; ++precision) {
    for (const double start : {n.value, further}) {
      const std::string text = fmt::format("{:.{}e}", start, precision);
      double parsed = 0;
      std::from_chars(text.data(), text.data() + text.size(), parsed);
      const double distance = std::fabs(parsed - n.value);
      // Half way goes to the even number, as rounding does.
      const double reach = parsed < n.value ? (n.value - n.below) / 2 : (n.above - n.value) / 2;
      if (distance < reach || (distance == reach && bits % 2 == 0)) return laid_out(text, n.value);
    }
  }
  return shortest(n.value);
}

template <typename T> T load(std::span<const std::byte> element) {
  T value;
  std::memcpy(&value, element.data(), sizeof value);
  return value;
}

/// `(1+2j)`: parts of complex numbers stand without `.0`.
template <typename Float> std::string complex_text(std::span<const std::byte> element) {
  const auto part = [&](std::size_t at) {
    std::string text = shortest(load<Float>(element.subspan(at)));
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text;
  };
  const std::string imaginary = part(sizeof(Float));
  return fmt::format("({}{}{}j)", part(0), imaginary.starts_with('-') ? "" : "+", imaginary);
}

}  // namespace

std::string number_text(double value) { return shortest(value); }

std::string number_text(DType dtype, std::span<const std::byte> element) {
  switch (dtype) {
    case DType::f64:
      return shortest(load<double>(element));
    case DType::f32:
    case DType::flex32:
      return shortest(load<float>(element));
    case DType::f16:
    case DType::bf16:
      return shortest_of_small(dtype, load<std::uint16_t>(element));
    case DType::f8_e4m3:
    case DType::f8_e5m2:
    case DType::f8_e4m3fnuz:
    case DType::f8_e5m2fnuz:
      return shortest_of_small(dtype, std::to_integer<std::uint16_t>(element.front()));
    case DType::c64:
      return complex_text<float>(element);
    case DType::c128:
      return complex_text<double>(element);
    case DType::boolean:
    case DType::bool_u8:
      // Neither 0 nor 1 is no boolean: shown as the number that it is.
      if (std::to_integer<unsigned>(element.front()) < 2)
        return element.front() == std::byte{0} ? "False" : "True";
      break;
    default:
      break;
  }
  std::vector<long double> numbers;
  decode(dtype, element, numbers);
  if (is_floating(dtype) || numbers.size() > 1) {
    std::string text;
    for (const long double x : numbers) text += (text.empty() ? "" : " ") + shortest(static_cast<double>(x));
    return text;
  }
  // Integers: a long double holds all of 64 bits.
  return numbers.front() < 0 ? fmt::format("{}", static_cast<std::int64_t>(numbers.front()))
                             : fmt::format("{}", static_cast<std::uint64_t>(numbers.front()));
}

}  // namespace ckpt
