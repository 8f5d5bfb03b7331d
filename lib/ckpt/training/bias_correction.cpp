#include "ckpt/training/bias_correction.hpp"

#include <cmath>

namespace ckpt {
namespace {

/// What Rust's `powi` compiles to: LLVM's `__powisf2`, squaring and multiplying, every product rounded.
float power(float base, std::uint64_t exponent) {
  float result = 1;
  while (true) {
    if ((exponent & 1U) != 0) result *= base;
    exponent /= 2;
    if (exponent == 0) return result;
    base *= base;
  }
}

template <typename Number> double factor(Number power_1, Number power_2) {
  return static_cast<double>(std::sqrt(1 - power_2) / (1 - power_1));
}

}  // namespace

BiasCorrection BiasCorrection::at(std::uint64_t step, double beta_1, double beta_2) {
  const auto narrow_1 = static_cast<float>(beta_1);
  const auto narrow_2 = static_cast<float>(beta_2);
  const auto t = static_cast<long double>(step);
  BiasCorrection result;
  result.burn = static_cast<float>(factor(power(narrow_1, step), power(narrow_2, step)));
  result.exact = factor(std::pow(static_cast<long double>(narrow_1), t),
                        std::pow(static_cast<long double>(narrow_2), t));
  result.torch =
      factor(std::pow(static_cast<long double>(beta_1), t), std::pow(static_cast<long double>(beta_2), t));
  result.deviation = (static_cast<double>(result.burn) - result.exact) / result.exact * 1e6;
  return result;
}

}  // namespace ckpt
