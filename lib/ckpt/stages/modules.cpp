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
// A recurrent module's names go on with the layer: `_l0`, `_l0_reverse`, or nothing for a cell. PyTorch
// stacks the gates in the first dimension: input, forget, cell, output.
constexpr std::array lstm{
    ParameterRow{"weight_ih", "input_gate.input_transform.weight", transpose, 0, 4},
    ParameterRow{"weight_ih", "forget_gate.input_transform.weight", transpose, 1, 4},
    ParameterRow{"weight_ih", "cell_gate.input_transform.weight", transpose, 2, 4},
    ParameterRow{"weight_ih", "output_gate.input_transform.weight", transpose, 3, 4},
    ParameterRow{"weight_hh", "input_gate.hidden_transform.weight", transpose, 0, 4},
    ParameterRow{"weight_hh", "forget_gate.hidden_transform.weight", transpose, 1, 4},
    ParameterRow{"weight_hh", "cell_gate.hidden_transform.weight", transpose, 2, 4},
    ParameterRow{"weight_hh", "output_gate.hidden_transform.weight", transpose, 3, 4},
    ParameterRow{"bias_ih", "input_gate.input_transform.bias", copy, 0, 4},
    ParameterRow{"bias_ih", "forget_gate.input_transform.bias", copy, 1, 4},
    ParameterRow{"bias_ih", "cell_gate.input_transform.bias", copy, 2, 4},
    ParameterRow{"bias_ih", "output_gate.input_transform.bias", copy, 3, 4},
    ParameterRow{"bias_hh", "input_gate.hidden_transform.bias", copy, 0, 4},
    ParameterRow{"bias_hh", "forget_gate.hidden_transform.bias", copy, 1, 4},
    ParameterRow{"bias_hh", "cell_gate.hidden_transform.bias", copy, 2, 4},
    ParameterRow{"bias_hh", "output_gate.hidden_transform.bias", copy, 3, 4},
};
// Reset, update, new. burn's default reset_after = true is what PyTorch computes.
constexpr std::array gru{
    ParameterRow{"weight_ih", "reset_gate.input_transform.weight", transpose, 0, 3},
    ParameterRow{"weight_ih", "update_gate.input_transform.weight", transpose, 1, 3},
    ParameterRow{"weight_ih", "new_gate.input_transform.weight", transpose, 2, 3},
    ParameterRow{"weight_hh", "reset_gate.hidden_transform.weight", transpose, 0, 3},
    ParameterRow{"weight_hh", "update_gate.hidden_transform.weight", transpose, 1, 3},
    ParameterRow{"weight_hh", "new_gate.hidden_transform.weight", transpose, 2, 3},
    ParameterRow{"bias_ih", "reset_gate.input_transform.bias", copy, 0, 3},
    ParameterRow{"bias_ih", "update_gate.input_transform.bias", copy, 1, 3},
    ParameterRow{"bias_ih", "new_gate.input_transform.bias", copy, 2, 3},
    ParameterRow{"bias_hh", "reset_gate.hidden_transform.bias", copy, 0, 3},
    ParameterRow{"bias_hh", "update_gate.hidden_transform.bias", copy, 1, 3},
    ParameterRow{"bias_hh", "new_gate.hidden_transform.bias", copy, 2, 3},
};
constexpr std::array rnn{
    ParameterRow{"weight_ih", "gate.input_transform.weight", transpose},
    ParameterRow{"weight_hh", "gate.hidden_transform.weight", transpose},
    ParameterRow{"bias_ih", "gate.input_transform.bias"},
    ParameterRow{"bias_hh", "gate.hidden_transform.bias"},
};

constexpr std::array encoder_attention{
    ParameterRow{"self_attn.in_proj_weight", "mha.query.weight", transpose, 0, 3},
    ParameterRow{"self_attn.in_proj_weight", "mha.key.weight", transpose, 1, 3},
    ParameterRow{"self_attn.in_proj_weight", "mha.value.weight", transpose, 2, 3},
    ParameterRow{"self_attn.in_proj_bias", "mha.query.bias", copy, 0, 3},
    ParameterRow{"self_attn.in_proj_bias", "mha.key.bias", copy, 1, 3},
    ParameterRow{"self_attn.in_proj_bias", "mha.value.bias", copy, 2, 3},
    ParameterRow{"self_attn.out_proj.weight", "mha.output.weight", transpose},
    ParameterRow{"self_attn.out_proj.bias", "mha.output.bias"},
};
constexpr std::array decoder_self_attention{
    ParameterRow{"self_attn.in_proj_weight", "self_attn.query.weight", transpose, 0, 3},
    ParameterRow{"self_attn.in_proj_weight", "self_attn.key.weight", transpose, 1, 3},
    ParameterRow{"self_attn.in_proj_weight", "self_attn.value.weight", transpose, 2, 3},
    ParameterRow{"self_attn.in_proj_bias", "self_attn.query.bias", copy, 0, 3},
    ParameterRow{"self_attn.in_proj_bias", "self_attn.key.bias", copy, 1, 3},
    ParameterRow{"self_attn.in_proj_bias", "self_attn.value.bias", copy, 2, 3},
    ParameterRow{"self_attn.out_proj.weight", "self_attn.output.weight", transpose},
    ParameterRow{"self_attn.out_proj.bias", "self_attn.output.bias"},
};
constexpr std::array decoder_cross_attention{
    ParameterRow{"multihead_attn.in_proj_weight", "cross_attn.query.weight", transpose, 0, 3},
    ParameterRow{"multihead_attn.in_proj_weight", "cross_attn.key.weight", transpose, 1, 3},
    ParameterRow{"multihead_attn.in_proj_weight", "cross_attn.value.weight", transpose, 2, 3},
    ParameterRow{"multihead_attn.in_proj_bias", "cross_attn.query.bias", copy, 0, 3},
    ParameterRow{"multihead_attn.in_proj_bias", "cross_attn.key.bias", copy, 1, 3},
    ParameterRow{"multihead_attn.in_proj_bias", "cross_attn.value.bias", copy, 2, 3},
    ParameterRow{"multihead_attn.out_proj.weight", "cross_attn.output.weight", transpose},
    ParameterRow{"multihead_attn.out_proj.bias", "cross_attn.output.bias"},
};
constexpr std::array feed_forward{
    ParameterRow{"linear1.weight", "pwff.linear_inner.weight", transpose},
    ParameterRow{"linear1.bias", "pwff.linear_inner.bias"},
    ParameterRow{"linear2.weight", "pwff.linear_outer.weight", transpose},
    ParameterRow{"linear2.bias", "pwff.linear_outer.bias"},
};
constexpr std::array encoder_norms{
    ParameterRow{"norm1.weight", "norm_1.gamma"},
    ParameterRow{"norm1.bias", "norm_1.beta"},
    ParameterRow{"norm2.weight", "norm_2.gamma"},
    ParameterRow{"norm2.bias", "norm_2.beta"},
};
// burn numbers its norms by where they stand after the sums; before them, its last one feeds self-attention.
constexpr std::array encoder_norms_first{
    ParameterRow{"norm1.weight", "norm_2.gamma"},
    ParameterRow{"norm1.bias", "norm_2.beta"},
    ParameterRow{"norm2.weight", "norm_1.gamma"},
    ParameterRow{"norm2.bias", "norm_1.beta"},
};
constexpr std::array decoder_norms{
    ParameterRow{"norm1.weight", "norm_1.gamma"}, ParameterRow{"norm1.bias", "norm_1.beta"},
    ParameterRow{"norm2.weight", "norm_2.gamma"}, ParameterRow{"norm2.bias", "norm_2.beta"},
    ParameterRow{"norm3.weight", "norm_3.gamma"}, ParameterRow{"norm3.bias", "norm_3.beta"},
};
constexpr std::array decoder_norms_first{
    ParameterRow{"norm1.weight", "norm_3.gamma"}, ParameterRow{"norm1.bias", "norm_3.beta"},
    ParameterRow{"norm2.weight", "norm_1.gamma"}, ParameterRow{"norm2.bias", "norm_1.beta"},
    ParameterRow{"norm3.weight", "norm_2.gamma"}, ParameterRow{"norm3.bias", "norm_2.beta"},
};

/// The rows of all parts, one after the other.
template <std::size_t... N> constexpr auto rows_of(const std::array<ParameterRow, N>&... parts) {
  std::array<ParameterRow, (N + ...)> all{};
  auto at = all.begin();
  ((at = std::ranges::copy(parts, at).out), ...);
  return all;
}
constexpr auto encoder = rows_of(encoder_attention, feed_forward, encoder_norms);
constexpr auto encoder_first = rows_of(encoder_attention, feed_forward, encoder_norms_first);
constexpr auto decoder =
    rows_of(decoder_self_attention, decoder_cross_attention, feed_forward, decoder_norms);
constexpr auto decoder_first =
    rows_of(decoder_self_attention, decoder_cross_attention, feed_forward, decoder_norms_first);

constexpr std::array<std::string_view, 1> linear_aliases{"NonDynamicallyQuantizableLinear"};
constexpr std::array<std::string_view, 1> embedding_aliases{"EmbeddingBag"};
// `Conv1d` is PyTorch's convolution; in any other case it is GPT-2's `Conv1D`. Both are copied.
constexpr std::array<std::string_view, 7> conv_aliases{
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "DeformConv2d"};
constexpr std::array<std::string_view, 4> batch_norm_aliases{"BatchNorm1d", "BatchNorm2d", "BatchNorm3d",
                                                             "SyncBatchNorm"};
constexpr std::array<std::string_view, 3> instance_norm_aliases{"InstanceNorm1d", "InstanceNorm2d",
                                                                "InstanceNorm3d"};

constexpr std::array<std::string_view, 1> encoder_aliases{"TransformerEncoderLayer(norm_first=False)"};
constexpr std::array<std::string_view, 1> encoder_first_aliases{"TransformerEncoderLayer(norm_first=True)"};
constexpr std::array<std::string_view, 1> decoder_aliases{"TransformerDecoderLayer(norm_first=False)"};
constexpr std::array<std::string_view, 1> decoder_first_aliases{"TransformerDecoderLayer(norm_first=True)"};

constexpr std::array<std::string_view, 1> decoder_torch{"multihead_attn.in_proj_weight"};
constexpr std::array<std::string_view, 4> decoder_needs{"self_attn.in_proj_weight", "linear1.weight",
                                                        "linear2.weight", "norm3.weight"};
constexpr std::array<std::string_view, 4> decoder_burn{"cross_attn.query.weight", "self_attn.query.weight",
                                                       "pwff.linear_inner.weight", "norm_3.gamma"};
constexpr std::array<std::string_view, 1> encoder_torch{"self_attn.in_proj_weight"};
constexpr std::array<std::string_view, 4> encoder_needs{"linear1.weight", "linear2.weight", "norm1.weight",
                                                        "norm2.weight"};
constexpr std::array<std::string_view, 4> encoder_burn{"mha.query.weight", "pwff.linear_inner.weight",
                                                       "norm_1.gamma", "norm_2.gamma"};
constexpr std::array<std::string_view, 2> attention_torch{"in_proj_weight", "q_proj_weight"};
constexpr std::array<std::string_view, 4> attention_burn{"query.weight", "key.weight", "value.weight",
                                                         "output.weight"};
constexpr std::array<std::string_view, 1> layer_torch{"weight_ih_l0"};
constexpr std::array<std::string_view, 1> cell_torch{"weight_ih"};
constexpr std::array<std::string_view, 2> lstm_burn{"forget_gate.input_transform.weight",
                                                    "cell_gate.input_transform.weight"};
constexpr std::array<std::string_view, 2> gru_burn{"reset_gate.input_transform.weight",
                                                   "new_gate.input_transform.weight"};
constexpr std::array<std::string_view, 2> rnn_burn{"gate.input_transform.weight",
                                                   "gate.hidden_transform.weight"};

// Of kinds that own what lies below them, those that hold others come first.
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
    ModuleKind{.name = "TransformerDecoderLayer(norm_first)",
               .aliases = decoder_first_aliases,
               .parameters = decoder_first,
               .owner = {decoder_torch, decoder_needs, decoder_burn, Owner::Proof::told}},
    ModuleKind{.name = "TransformerDecoderLayer",
               .aliases = decoder_aliases,
               .parameters = decoder,
               .owner = {decoder_torch, decoder_needs, decoder_burn, Owner::Proof::asked}},
    ModuleKind{.name = "TransformerEncoderLayer(norm_first)",
               .aliases = encoder_first_aliases,
               .parameters = encoder_first,
               .owner = {encoder_torch, encoder_needs, encoder_burn, Owner::Proof::told}},
    ModuleKind{.name = "TransformerEncoderLayer",
               .aliases = encoder_aliases,
               .parameters = encoder,
               .owner = {encoder_torch, encoder_needs, encoder_burn, Owner::Proof::asked}},
    ModuleKind{.name = "MultiheadAttention",
               .parameters = attention,
               .owner = {attention_torch, {}, attention_burn}},
    ModuleKind{.name = "LSTM",
               .parameters = lstm,
               .owner = {layer_torch, {}, lstm_burn},
               .gates = 4,
               .suffix = "_l0"},
    ModuleKind{
        .name = "GRU", .parameters = gru, .owner = {layer_torch, {}, gru_burn}, .gates = 3, .suffix = "_l0"},
    ModuleKind{
        .name = "RNN", .parameters = rnn, .owner = {layer_torch, {}, rnn_burn}, .gates = 1, .suffix = "_l0"},
    ModuleKind{.name = "LSTMCell", .parameters = lstm, .owner = {cell_torch, {}, lstm_burn}, .gates = 4},
    ModuleKind{.name = "GRUCell", .parameters = gru, .owner = {cell_torch, {}, gru_burn}, .gates = 3},
    ModuleKind{.name = "RNNCell", .parameters = rnn, .owner = {cell_torch, {}, rnn_burn}, .gates = 1},
    ModuleKind{"none", {}, {}},
};

bool is_same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

std::span<const ModuleKind> module_table() { return table; }

const ModuleKind* find_kind(std::string_view name) {
  for (const ModuleKind& kind : table)
    if (kind.name == name || std::ranges::find(kind.aliases, name) != kind.aliases.end()) return &kind;
  for (const ModuleKind& kind : table) {
    if (is_same_name(kind.name, name)) return &kind;
    for (const std::string_view alias : kind.aliases)
      if (is_same_name(alias, name)) return &kind;
  }
  return nullptr;
}

}  // namespace ckpt
