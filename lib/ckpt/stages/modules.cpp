#include "ckpt/stages/modules.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace ckpt {
namespace {

using enum Operation;

constexpr std::array linear{
    ParameterRow{"weight", "weight", transpose},
    ParameterRow{"bias", "bias"},
};
constexpr std::array weight_and_bias{
    ParameterRow{"weight", "weight"},
    ParameterRow{"bias", "bias"},
};
constexpr std::array norm{
    ParameterRow{"weight", "gamma"},
    ParameterRow{"bias", "beta"},
};
constexpr std::array batch_norm{
    ParameterRow{"weight", "gamma"},
    ParameterRow{"bias", "beta"},
    ParameterRow{"running_mean", "running_mean"},
    ParameterRow{"running_var", "running_var"},
    ParameterRow{"num_batches_tracked", "", drop},
};
constexpr std::array instance_norm{
    ParameterRow{"weight", "gamma"},
    ParameterRow{"bias", "beta"},
    ParameterRow{"running_mean", "", drop},
    ParameterRow{"running_var", "", drop},
    ParameterRow{"num_batches_tracked", "", drop},
};
constexpr std::array prelu{
    ParameterRow{"weight", "alpha"},
};
constexpr std::array attention{
    ParameterRow{"in_proj_weight", "query.weight", transpose, 0, 3},
    ParameterRow{"in_proj_weight", "key.weight", transpose, 1, 3},
    ParameterRow{"in_proj_weight", "value.weight", transpose, 2, 3},
    ParameterRow{"q_proj_weight", "query.weight", transpose, 0, 1, true},
    ParameterRow{"k_proj_weight", "key.weight", transpose, 0, 1, true},
    ParameterRow{"v_proj_weight", "value.weight", transpose, 0, 1, true},
    ParameterRow{"in_proj_bias", "query.bias", copy, 0, 3},
    ParameterRow{"in_proj_bias", "key.bias", copy, 1, 3},
    ParameterRow{"in_proj_bias", "value.bias", copy, 2, 3},
    ParameterRow{"out_proj.weight", "output.weight", transpose},
    ParameterRow{"out_proj.bias", "output.bias"},
};
// PyTorch stacks the gates in the first dimension: input, forget, cell, output.
constexpr std::array lstm{
    ParameterRow{"weight_ih_l0", "input_gate.input_transform.weight", transpose, 0, 4},
    ParameterRow{"weight_ih_l0", "forget_gate.input_transform.weight", transpose, 1, 4},
    ParameterRow{"weight_ih_l0", "cell_gate.input_transform.weight", transpose, 2, 4},
    ParameterRow{"weight_ih_l0", "output_gate.input_transform.weight", transpose, 3, 4},
    ParameterRow{"weight_hh_l0", "input_gate.hidden_transform.weight", transpose, 0, 4},
    ParameterRow{"weight_hh_l0", "forget_gate.hidden_transform.weight", transpose, 1, 4},
    ParameterRow{"weight_hh_l0", "cell_gate.hidden_transform.weight", transpose, 2, 4},
    ParameterRow{"weight_hh_l0", "output_gate.hidden_transform.weight", transpose, 3, 4},
    ParameterRow{"bias_ih_l0", "input_gate.input_transform.bias", copy, 0, 4},
    ParameterRow{"bias_ih_l0", "forget_gate.input_transform.bias", copy, 1, 4},
    ParameterRow{"bias_ih_l0", "cell_gate.input_transform.bias", copy, 2, 4},
    ParameterRow{"bias_ih_l0", "output_gate.input_transform.bias", copy, 3, 4},
    ParameterRow{"bias_hh_l0", "input_gate.hidden_transform.bias", copy, 0, 4},
    ParameterRow{"bias_hh_l0", "forget_gate.hidden_transform.bias", copy, 1, 4},
    ParameterRow{"bias_hh_l0", "cell_gate.hidden_transform.bias", copy, 2, 4},
    ParameterRow{"bias_hh_l0", "output_gate.hidden_transform.bias", copy, 3, 4},
};
// Reset, update, new. burn's default reset_after = true is what PyTorch computes.
constexpr std::array gru{
    ParameterRow{"weight_ih_l0", "reset_gate.input_transform.weight", transpose, 0, 3},
    ParameterRow{"weight_ih_l0", "update_gate.input_transform.weight", transpose, 1, 3},
    ParameterRow{"weight_ih_l0", "new_gate.input_transform.weight", transpose, 2, 3},
    ParameterRow{"weight_hh_l0", "reset_gate.hidden_transform.weight", transpose, 0, 3},
    ParameterRow{"weight_hh_l0", "update_gate.hidden_transform.weight", transpose, 1, 3},
    ParameterRow{"weight_hh_l0", "new_gate.hidden_transform.weight", transpose, 2, 3},
    ParameterRow{"bias_ih_l0", "reset_gate.input_transform.bias", copy, 0, 3},
    ParameterRow{"bias_ih_l0", "update_gate.input_transform.bias", copy, 1, 3},
    ParameterRow{"bias_ih_l0", "new_gate.input_transform.bias", copy, 2, 3},
    ParameterRow{"bias_hh_l0", "reset_gate.hidden_transform.bias", copy, 0, 3},
    ParameterRow{"bias_hh_l0", "update_gate.hidden_transform.bias", copy, 1, 3},
    ParameterRow{"bias_hh_l0", "new_gate.hidden_transform.bias", copy, 2, 3},
};
constexpr std::array rnn{
    ParameterRow{"weight_ih_l0", "gate.input_transform.weight", transpose},
    ParameterRow{"weight_hh_l0", "gate.hidden_transform.weight", transpose},
    ParameterRow{"bias_ih_l0", "gate.input_transform.bias"},
    ParameterRow{"bias_hh_l0", "gate.hidden_transform.bias"},
};

constexpr std::array<std::string_view, 1> linear_aliases{"NonDynamicallyQuantizableLinear"};
constexpr std::array<std::string_view, 1> embedding_aliases{"EmbeddingBag"};
// `Conv1d` is PyTorch's convolution as well as, in any case, GPT-2's `Conv1D`: both are copied.
constexpr std::array<std::string_view, 6> conv_aliases{
    "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "DeformConv2d"};
constexpr std::array<std::string_view, 4> batch_norm_aliases{"BatchNorm1d", "BatchNorm2d", "BatchNorm3d",
                                                             "SyncBatchNorm"};
constexpr std::array<std::string_view, 3> instance_norm_aliases{"InstanceNorm1d", "InstanceNorm2d",
                                                                "InstanceNorm3d"};

constexpr std::array<std::string_view, 2> attention_torch_marks{"in_proj_weight", "q_proj_weight"};
constexpr std::array<std::string_view, 4> attention_burn_marks{"query.weight", "key.weight", "value.weight",
                                                               "output.weight"};
constexpr std::array<std::string_view, 1> recurrent_torch_marks{"weight_ih_l0"};
constexpr std::array<std::string_view, 2> lstm_burn_marks{"forget_gate.input_transform.weight",
                                                          "cell_gate.input_transform.weight"};
constexpr std::array<std::string_view, 2> gru_burn_marks{"reset_gate.input_transform.weight",
                                                         "new_gate.input_transform.weight"};
constexpr std::array<std::string_view, 2> rnn_burn_marks{"gate.input_transform.weight",
                                                         "gate.hidden_transform.weight"};

constexpr std::array table{
    ModuleKind{"Linear", linear_aliases, linear},
    ModuleKind{"Conv1D", {}, weight_and_bias},
    ModuleKind{"Embedding", embedding_aliases, weight_and_bias},
    ModuleKind{"Conv", conv_aliases, weight_and_bias},
    ModuleKind{"BatchNorm", batch_norm_aliases, batch_norm},
    ModuleKind{"LayerNorm", {}, norm},
    ModuleKind{"GroupNorm", {}, norm},
    ModuleKind{"InstanceNorm", instance_norm_aliases, instance_norm},
    ModuleKind{"RmsNorm", {}, norm},
    ModuleKind{"PRelu", {}, prelu},
    ModuleKind{"MultiheadAttention", {}, attention, attention_torch_marks, attention_burn_marks},
    ModuleKind{"LSTM", {}, lstm, recurrent_torch_marks, lstm_burn_marks, 4},
    ModuleKind{"GRU", {}, gru, recurrent_torch_marks, gru_burn_marks, 3},
    ModuleKind{"RNN", {}, rnn, recurrent_torch_marks, rnn_burn_marks, 1},
    ModuleKind{"none", {}, {}},
};

bool is_same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

std::span<const ModuleKind> module_table() { return table; }

const ModuleKind* find_kind(std::string_view name) {
  for (const ModuleKind& kind : table) {
    if (is_same_name(kind.name, name)) return &kind;
    for (const std::string_view alias : kind.aliases)
      if (is_same_name(alias, name)) return &kind;
  }
  return nullptr;
}

}  // namespace ckpt
