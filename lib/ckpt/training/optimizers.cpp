#include "ckpt/training/optimizers.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace ckpt {
namespace {

using enum HyperType;

constexpr std::string_view decay_setter = ".with_weight_decay(Some(WeightDecayConfig::new({})))";

constexpr std::array adam_moments{
    MomentRow{"exp_avg", "momentum.moment_1"},
    MomentRow{"exp_avg_sq", "momentum.moment_2"},
    MomentRow{"max_exp_avg_sq", "momentum.max_moment_2", false},
};
constexpr std::array adam_hypers{
    HyperRow{"betas", 0, "beta_1", ".with_beta_1({})", fraction, 0.9, 0.9},
    HyperRow{"betas", 1, "beta_2", ".with_beta_2({})", fraction, 0.999, 0.999},
    HyperRow{"eps", -1, "epsilon", ".with_epsilon({})", real, 1e-8, 1e-5},
    HyperRow{"weight_decay", -1, "weight_decay", decay_setter, real, 0.0, 0.0},
    HyperRow{"amsgrad", -1, "amsgrad", ".with_amsgrad({})", flag, 0.0, 0.0, false, {}, "max_exp_avg_sq"},
};
constexpr std::array adamw_hypers{
    HyperRow{"betas", 0, "beta_1", ".with_beta_1({})", fraction, 0.9, 0.9},
    HyperRow{"betas", 1, "beta_2", ".with_beta_2({})", fraction, 0.999, 0.999},
    HyperRow{"eps", -1, "epsilon", ".with_epsilon({})", real, 1e-8, 1e-5},
    HyperRow{"weight_decay", -1, "weight_decay", ".with_weight_decay({})", real, 0.01, 1e-4},
    HyperRow{"amsgrad", -1, "amsgrad", ".with_amsgrad({})", flag, 0.0, 0.0, false, {}, "max_exp_avg_sq"},
};
constexpr std::array adan_moments{
    MomentRow{"exp_avg", "momentum.exp_avg"},
    MomentRow{"exp_avg_sq", "momentum.exp_avg_sq"},
    MomentRow{"exp_avg_diff", "momentum.exp_avg_diff"},
    MomentRow{"neg_pre_grad", "momentum.neg_pre_grad"},
};
constexpr std::array adan_hypers{
    HyperRow{"betas", 0, "beta_1", ".with_beta_1({})", fraction, 0.98, 0.98},
    HyperRow{"betas", 1, "beta_2", ".with_beta_2({})", fraction, 0.92, 0.92},
    HyperRow{"betas", 2, "beta_3", ".with_beta_3({})", fraction, 0.99, 0.99},
    HyperRow{"eps", -1, "epsilon", ".with_epsilon({})", real, 1e-8, 1e-8},
    HyperRow{"weight_decay", -1, "weight_decay", ".with_weight_decay({})", real, 0.0, 0.0},
    HyperRow{"no_prox", -1, "no_prox", ".with_no_prox({})", flag, 0.0, 0.0},
};
constexpr std::array velocity{
    MomentRow{"momentum_buffer", "momentum.velocity"},
};
constexpr std::array sgd_hypers{
    HyperRow{"momentum", -1, "momentum", ".with_momentum({})", real, 0.0, 0.9, true, {}, "momentum_buffer"},
    HyperRow{"dampening", -1, "dampening", ".with_dampening({})", any_real, 0.0, 0.1, true},
    HyperRow{"nesterov", -1, "nesterov", ".with_nesterov({})", flag, 0.0, 0.0, true},
    HyperRow{"weight_decay", -1, "weight_decay", decay_setter, real, 0.0, 0.0},
};
constexpr std::array newton_schulz{3.4445, -4.775, 2.0315};
// Muon's own momentum differs from what `MomentumConfig::new()` begins with: all of it is written out.
constexpr std::array muon_hypers{
    HyperRow{"momentum", -1, "momentum", ".with_momentum({})", real, 0.95, {}, true},
    HyperRow{"", -1, "dampening", ".with_dampening({})", any_real, 0.0, {}, true},
    HyperRow{"nesterov", -1, "nesterov", ".with_nesterov({})", flag, 1.0, {}, true},
    HyperRow{"ns_coefficients",
             -1,
             "ns_coefficients",
             ".with_ns_coefficients({})",
             tuple,
             {},
             {},
             false,
             newton_schulz},
    HyperRow{"eps", -1, "epsilon", ".with_epsilon({})", real, 1e-7, 1e-7},
    HyperRow{"ns_steps", -1, "ns_steps", ".with_ns_steps({})", integer, 5.0, 5.0},
    HyperRow{"weight_decay", -1, "weight_decay", decay_setter, real, 0.1, 0.0},
};
// burn computes `centered.avg` anew in every step; it must be there, in the right shape.
constexpr std::array rmsprop_moments{
    MomentRow{"square_avg", "square_avg.square_avg"},
    MomentRow{"grad_avg", "centered.grad_avg", false},
    MomentRow{"", "centered.avg", true, "square_avg"},
    MomentRow{"momentum_buffer", "momentum.buf", false},
};
constexpr std::array rmsprop_hypers{
    HyperRow{"alpha", -1, "alpha", ".with_alpha({})", real, 0.99, 0.99},
    HyperRow{"momentum", -1, "momentum", ".with_momentum({})", real, 0.0, 0.9, false, {}, "momentum_buffer"},
    HyperRow{"eps", -1, "epsilon", ".with_epsilon({})", real, 1e-8, 1e-5},
    HyperRow{"centered", -1, "centered", ".with_centered({})", flag, 0.0, 0.0, false, {}, "grad_avg"},
    HyperRow{"weight_decay", -1, "weight_decay", decay_setter, real, 0.0, 0.0},
};
constexpr std::array adagrad_moments{
    MomentRow{"sum", "lr_decay.sum"},
};
constexpr std::array adagrad_hypers{
    HyperRow{"lr_decay", -1, "lr_decay", ".with_lr_decay({})", real, 0.0, 0.0},
    HyperRow{"eps", -1, "epsilon", ".with_epsilon({})", real, 1e-10, 1e-5},
    HyperRow{"weight_decay", -1, "weight_decay", decay_setter, real, 0.0, 0.0},
};

/// Every optimizer has it; burn takes it in each step.
constexpr HyperRow rate{"lr", -1, "lr", "", real};

using Keys = std::array<std::string_view, 1>;
constexpr std::array<std::string_view, 2> adam_keys{"betas", "amsgrad"};
constexpr Keys adan_keys{"no_prox"};
constexpr std::array<std::string_view, 2> sgd_keys{"dampening", "nesterov"};
constexpr std::array<std::string_view, 2> rmsprop_keys{"alpha", "centered"};
constexpr Keys adagrad_keys{"initial_accumulator_value"};
constexpr Keys muon_keys{"ns_steps"};
constexpr Keys nadam_keys{"momentum_decay"};
constexpr Keys adadelta_keys{"rho"};
constexpr Keys asgd_keys{"lambd"};
constexpr Keys rprop_keys{"etas"};
constexpr Keys lbfgs_keys{"history_size"};
constexpr Keys betas_keys{"betas"};

// Rows are tried in order. AdamW follows Adam, from which its keys do not tell it.
constexpr std::array table{
    OptimizerKind{"NAdam", "", nadam_keys, ""},
    OptimizerKind{"Adan", "AdanConfig", adan_keys, "", adan_moments, "momentum.time", true, false,
                  adan_hypers},
    OptimizerKind{"Adam", "AdamConfig", adam_keys, "exp_avg_sq", adam_moments, "momentum.time", true, true,
                  adam_hypers},
    OptimizerKind{"AdamW", "AdamWConfig", adam_keys, "exp_avg_sq", adam_moments, "momentum.time", true, true,
                  adamw_hypers},
    OptimizerKind{"Muon", "MuonConfig", muon_keys, "momentum_buffer", velocity, "", false, false, muon_hypers,
                  ".with_momentum({})"},
    OptimizerKind{"SGD", "SgdConfig", sgd_keys, "", velocity, "", false, false, sgd_hypers,
                  ".with_momentum(Some({}))"},
    OptimizerKind{"RMSprop", "RmsPropConfig", rmsprop_keys, "square_avg", rmsprop_moments, "", true, false,
                  rmsprop_hypers, "", 1e-2},
    OptimizerKind{"Adagrad", "AdaGradConfig", adagrad_keys, "sum", adagrad_moments, "lr_decay.time", true,
                  true, adagrad_hypers, "", 1e-2},
    OptimizerKind{"Adadelta", "", adadelta_keys, ""},
    OptimizerKind{"ASGD", "", asgd_keys, ""},
    OptimizerKind{"Rprop", "", rprop_keys, ""},
    OptimizerKind{
        .name = "LBFGS",
        .config = "",
        .group_keys = lbfgs_keys,
        .state_key = "",
        .why_not = "keeps one vector of all parameters, in the order in which the program visits them"},
    OptimizerKind{"Adamax", "", betas_keys, "exp_inf"},
    OptimizerKind{"RAdam or SparseAdam", "", betas_keys, "exp_avg_sq"},
};

bool is_same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

std::span<const OptimizerKind> optimizer_table() { return table; }

std::vector<const HyperRow*> rows_of(const OptimizerKind& kind, std::string_view key) {
  if (key == rate.torch) return {&rate};
  std::vector<const HyperRow*> rows;
  for (const HyperRow& row : kind.hypers)
    if (!key.empty() && row.torch == key) rows.push_back(&row);
  return rows;
}

const OptimizerKind* find_optimizer(std::string_view name) {
  const auto row =
      std::ranges::find_if(table, [&](const auto& kind) { return is_same_name(kind.name, name); });
  return row == table.end() ? nullptr : &*row;
}

}  // namespace ckpt
