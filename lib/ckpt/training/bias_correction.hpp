#pragma once

#include <cstdint>

namespace ckpt {

/// The factor `sqrt(1 - beta_2^t) / (1 - beta_1^t)` with which Adam corrects its moments in step t.
struct BiasCorrection {
  float burn = 0;        ///< in 32-bit arithmetic, powers by squaring, as burn computes it
  double exact = 0;      ///< of the same betas, which burn holds in 32 bits
  double torch = 0;      ///< of the betas in 64 bits, as PyTorch has them
  double deviation = 0;  ///< of burn's from the exact one, in parts per million

  /// `step` counts from 1.
  static BiasCorrection at(std::uint64_t step, double beta_1 = 0.9, double beta_2 = 0.999);
};

}  // namespace ckpt
