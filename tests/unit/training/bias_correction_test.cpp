#include "ckpt/training/bias_correction.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "ckpt/training/burn_state.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

/// What a record holds of one parameter, and the parameter itself.
struct Adam {
  std::vector<float> weights{0.5F, -1.0F, 2.0F};
  std::vector<double> moment_1, moment_2;
  std::uint64_t time = 0;

  explicit Adam(const Checkpoint& record) {
    for (const Tensor& tensor : record.tensors) {
      const std::vector<float> values = values_of<float>(gathered(tensor));
      auto& moment = tensor.name.ends_with("moment_1") ? moment_1 : moment_2;
      moment.assign(values.begin(), values.end());
    }
    time = std::get<std::uint64_t>(record.scalars.at("7.momentum.time"));
  }

  /// A step with the gradient w, the correction being `factor`.
  void step(double factor) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double gradient = weights[i];
      moment_1[i] = 0.9 * moment_1[i] + 0.1 * gradient;
      moment_2[i] = 0.999 * moment_2[i] + 0.001 * gradient * gradient;
      weights[i] -= static_cast<float>(0.01 * factor * moment_1[i] / (std::sqrt(moment_2[i]) + 1e-8));
    }
  }
};

/// The record of a state of PyTorch's that has seen no step.
Checkpoint converted_record() {
  OptimizerState state;
  state.kind = find_optimizer("Adam");
  state.parameters.push_back({.key = "w",
                              .name = "w",
                              .param_id = 7,
                              .step = 0,
                              .rank = 1,
                              .moments = {plain("exp_avg", DType::f32, {3}, std::vector<float>(3)),
                                          plain("exp_avg_sq", DType::f32, {3}, std::vector<float>(3))}});
  return make_burn_optimizer(state);
}

}  // namespace

// Computed with NumPy: betas rounded to 32 bits; powers in 32 bits by squaring, and in 64 bits.
TEST_CASE("burn's bias correction in 32 bits and the exact one are those of the table") {
  constexpr std::array<std::array<double, 2>, 10> table{{{0.316225648, 0.316225655},
                                                         {0.235314354, 0.235315158},
                                                         {0.202007860, 0.202009255},
                                                         {0.183767155, 0.183767705},
                                                         {0.172497287, 0.172497706},
                                                         {0.165106505, 0.165107063},
                                                         {0.160128638, 0.160129522},
                                                         {0.156769529, 0.156770224},
                                                         {0.154555887, 0.154556630},
                                                         {0.153187588, 0.153188071}}};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const BiasCorrection factor = BiasCorrection::at(i + 1);
    CAPTURE(i + 1);
    CHECK(static_cast<double>(factor.burn) == Approx(table.at(i)[0]).margin(5e-10).epsilon(0));
    CHECK(factor.exact == Approx(table.at(i)[1]).margin(5e-10).epsilon(0));
    if (i > 0) CHECK((factor.deviation < -2 && factor.deviation > -7));
  }
  CHECK(BiasCorrection::at(1).torch == Approx(0.316227766).margin(5e-10).epsilon(0));
}

TEST_CASE("ten steps of Adam from a converted record drift by parts per million") {
  const Checkpoint record = converted_record();
  Adam burn(record);
  Adam exact(record);
  const std::vector<float> start = burn.weights;
  REQUIRE(burn.time == 0);
  for (std::uint64_t t = 1; t <= 10; ++t) {
    const BiasCorrection factor = BiasCorrection::at(burn.time + t);
    burn.step(static_cast<double>(factor.burn));
    exact.step(factor.exact);
  }
  for (std::size_t i = 0; i < start.size(); ++i) {
    const double way = std::abs(static_cast<double>(exact.weights[i]) - static_cast<double>(start[i]));
    const double apart =
        std::abs(static_cast<double>(exact.weights[i]) - static_cast<double>(burn.weights[i]));
    CHECK(way > 0.05);
    CHECK(apart < 7e-6 * way + 1e-6);  // and the rounding of the weights themselves
  }
}
