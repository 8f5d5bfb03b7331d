// The names of well-known models. A row says which modules tell the family and what its modules are; only
// what shapes and siblings leave open is asked here, so a row need not list a convolution or a norm with a
// bias. Sources: the models' own code (transformers, timm, torchvision, open_clip, whisper, llama, nanoGPT,
// diffusers, mamba).
#include "ckpt/stages/families.hpp"

#include <algorithm>
#include <array>

#include "ckpt/codec/regex.hpp"
#include "ckpt/stages/names.hpp"

namespace ckpt {
namespace {

using Mark = FamilyMark;
using Kind = FamilyKind;

constexpr std::array llama_marks{Mark{"self_attn.q_proj"}, Mark{"self_attn.o_proj"}, Mark{"mlp.down_proj"}};
constexpr std::array mixtral_marks{Mark{"self_attn.q_proj"}, Mark{"block_sparse_moe.gate"}};
constexpr std::array moe_marks{Mark{"self_attn.o_proj"}, Mark{"mlp.experts.#.down_proj"}};
constexpr std::array llama{
    Kind{"(^|\\.)embed_tokens$", "Embedding"},
    Kind{"(^|\\.)(([qkvo]|qkv|gate|up|gate_up|down|q_a|q_b|kv_b)_proj|kv_a_proj_with_mqa)$", "Linear"},
    Kind{"(^|\\.)(lm_head|score|w[123]|gate|shared_expert_gate)$", "Linear"},
    Kind{"(norm|layernorm)$", "RmsNorm"},
};

constexpr std::array llama_meta_marks{Mark{"attention.wq"}, Mark{"attention.wo"}, Mark{"feed_forward.w1"}};
constexpr std::array llama_meta{
    Kind{"(^|\\.)tok_embeddings$", "Embedding"},
    Kind{"(^|\\.)(w[qkvo]|w[123]|output)$", "Linear"},
    Kind{"norm$", "RmsNorm"},
};

// GPT-2's own Conv1D and nanoGPT's Linear have the same names; their shapes are the other way round.
constexpr std::array gpt2_marks{Mark{"attn.c_attn", -3}, Mark{"mlp.c_fc", -4}};
constexpr std::array gpt2{
    Kind{"(^|\\.)(c_attn|q_attn|c_proj|c_fc)$", "Conv1D"},
    Kind{"(^|\\.)(wte|wpe)$", "Embedding"},
    Kind{"(^|\\.)lm_head$", "Linear"},
};
constexpr std::array nanogpt_marks{Mark{"attn.c_attn", 3}, Mark{"mlp.c_fc", 4}};
constexpr std::array nanogpt{
    Kind{"(^|\\.)(c_attn|c_proj|c_fc|lm_head)$", "Linear"},
    Kind{"(^|\\.)(wte|wpe)$", "Embedding"},
    Kind{"(^|\\.)ln_(1|2|f)$", "LayerNorm"},
};

constexpr std::array gptj_marks{Mark{"attn.q_proj"}, Mark{"attn.out_proj"}, Mark{"mlp.fc_in"}};
constexpr std::array gptj{
    Kind{"(^|\\.)(wte|wpe)$", "Embedding"},
    Kind{"(^|\\.)([qkv]_proj|out_proj|fc_in|fc_out|lm_head)$", "Linear"},
};

constexpr std::array neox_marks{Mark{"query_key_value"}, Mark{"mlp.dense_h_to_4h"}};
constexpr std::array neox{
    Kind{"(^|\\.)(embed_in|word_embeddings|embedding)$", "Embedding"},
    Kind{"(^|\\.)(query_key_value|dense|dense_h_to_4h|dense_4h_to_h|embed_out|lm_head|output_layer)$",
         "Linear"},
    Kind{"(norm|layernorm)$", "RmsNorm"},
};

constexpr std::array bert_marks{Mark{"attention.self.query"}, Mark{"attention.output.dense"},
                                Mark{"intermediate.dense"}};
constexpr std::array bert{
    Kind{"(^|\\.)(word|position|token_type)_embeddings$", "Embedding"},
    Kind{"(^|\\.)(query|key|value|dense|decoder|classifier|seq_relationship|qa_outputs|out_proj)$", "Linear"},
};
constexpr std::array distilbert_marks{Mark{"attention.q_lin"}, Mark{"ffn.lin1"}};
constexpr std::array distilbert{
    Kind{"(^|\\.)(word|position)_embeddings$", "Embedding"},
    Kind{"(^|\\.)([qkv]_lin|out_lin|lin1|lin2|vocab_\\w+|pre_classifier|classifier|qa_outputs)$", "Linear"},
};

constexpr std::array vit_marks{Mark{"patch_embeddings.projection"}, Mark{"attention.attention.query"}};
constexpr std::array vit{
    Kind{"(^|\\.)(query|key|value|dense|classifier)$", "Linear"},
};
constexpr std::array timm_vit_marks{Mark{"patch_embed.proj"}, Mark{"attn.qkv"}, Mark{"mlp.fc1"}};
constexpr std::array timm_vit{
    Kind{"(^|\\.)(attn\\.(qkv|proj)|fc1|fc2|head|head_dist|reduction)$", "Linear"},
};
constexpr std::array convnext_marks{Mark{"dwconv"}, Mark{"pwconv1"}, Mark{"pwconv2"}};
constexpr std::array convnext{
    Kind{"(^|\\.)(pwconv1|pwconv2|head|classifier)$", "Linear"},
};

constexpr std::array clip_marks{Mark{"self_attn.q_proj"}, Mark{"mlp.fc1"}};
constexpr std::array fc_marks{Mark{"self_attn.q_proj"}, Mark{"self_attn.out_proj"}, Mark{"fc1"}};
constexpr std::array transformer_fc{
    Kind{"(^|\\.)(embed_tokens|embed_positions|token_embedding|position_embedding|shared)$", "Embedding"},
    Kind{"(^|\\.)([qkv]_proj|out_proj|fc1|fc2|proj_out|project_in|project_out|lm_head)$", "Linear"},
    Kind{"(^|\\.)(text|visual)_projection$", "Linear"},
};
constexpr std::array open_clip_marks{Mark{"resblocks.#.mlp.c_fc"}, Mark{"resblocks.#.attn.out_proj"}};
constexpr std::array open_clip{
    Kind{"(^|\\.)token_embedding$", "Embedding"},
    Kind{"(^|\\.)(c_fc|c_proj)$", "Linear"},
};

constexpr std::array whisper_marks{Mark{"attn.query"}, Mark{"attn.out"}, Mark{"attn_ln"}, Mark{"mlp.0"}};
constexpr std::array whisper{
    Kind{"(^|\\.)token_embedding$", "Embedding"},
    Kind{"(^|\\.)(query|key|value|out|mlp\\.[02])$", "Linear"},
};
constexpr std::array wav2vec2_marks{Mark{"feature_extractor.conv_layers.#.conv"}, Mark{"attention.q_proj"}};
constexpr std::array wav2vec2{
    Kind{"(^|\\.)([qkv]_proj|out_proj|intermediate_dense|output_dense|projection|lm_head|project_\\w+)$",
         "Linear"},
};

constexpr std::array t5_marks{Mark{"SelfAttention.q"}, Mark{"SelfAttention.o"}};
constexpr std::array t5{
    Kind{"(^|\\.)(shared|embed_tokens|relative_attention_bias)$", "Embedding"},
    Kind{"Attention\\.[qkvo]$", "Linear"},
    Kind{"(^|\\.)(wi|wi_0|wi_1|wo|lm_head)$", "Linear"},
    Kind{"layer_norm$", "RmsNorm"},
};

constexpr std::array mamba_marks{Mark{"mixer.in_proj"}, Mark{"mixer.out_proj"}};
constexpr std::array mamba{
    Kind{"(^|\\.)(embedding|embeddings)$", "Embedding"},
    Kind{"(^|\\.)(in_proj|x_proj|dt_proj|out_proj|lm_head)$", "Linear"},
    Kind{"(^|\\.)(norm|norm_f)$", "RmsNorm"},
};

constexpr std::array unet_marks{Mark{"attn1.to_q"}, Mark{"ff.net.0.proj"}};
constexpr std::array unet{
    Kind{"(^|\\.)(to_[qkv]|to_out\\.0|net\\.0\\.proj|net\\.2|proj_in|proj_out)$", "Linear"},
    Kind{"(^|\\.)(linear_[12]|time_emb_proj|time_embed\\.\\d+|emb_layers\\.\\d+|label_emb\\.\\d+\\.\\d+)$",
         "Linear"},
};

constexpr std::array resnet_marks{Mark{"conv1"}, Mark{"bn1"}, Mark{"layer1.#.conv1"}, Mark{"fc"}};
constexpr std::array resnet{
    Kind{"(^|\\.)fc$", "Linear"},
};

constexpr std::array table{
    Family{"Llama", llama_marks, llama},
    Family{"Mixtral", mixtral_marks, llama},
    Family{"Llama with experts", moe_marks, llama},
    Family{"Meta's Llama", llama_meta_marks, llama_meta},
    Family{"GPT-2", gpt2_marks, gpt2, true},
    Family{"nanoGPT", nanogpt_marks, nanogpt, true},
    Family{"GPT-J", gptj_marks, gptj},
    Family{"GPT-NeoX, BLOOM or Falcon", neox_marks, neox},
    Family{"BERT", bert_marks, bert},
    Family{"DistilBERT", distilbert_marks, distilbert},
    Family{"ViT", vit_marks, vit},
    Family{"timm's ViT or Swin", timm_vit_marks, timm_vit},
    Family{"ConvNeXt", convnext_marks, convnext},
    Family{"CLIP", clip_marks, transformer_fc},
    Family{"Whisper, BART or OPT", fc_marks, transformer_fc},
    Family{"OpenAI's CLIP", open_clip_marks, open_clip},
    Family{"OpenAI's Whisper", whisper_marks, whisper},
    Family{"wav2vec 2.0", wav2vec2_marks, wav2vec2},
    Family{"T5", t5_marks, t5},
    Family{"Mamba", mamba_marks, mamba},
    Family{"Stable Diffusion's U-Net", unet_marks, unet},
    Family{"ResNet", resnet_marks, resnet},
};

/// Whether the last segments of `path` are those of `tail`; `#` stands for an index.
bool ends_in(std::string_view path, std::string_view tail) {
  while (true) {
    const std::size_t path_dot = path.rfind('.');
    const std::size_t tail_dot = tail.rfind('.');
    const std::string_view segment = path.substr(path_dot + 1);
    const std::string_view wanted = tail.substr(tail_dot + 1);
    if (wanted == "#" ? !is_index(segment) : segment != wanted) return false;
    if (tail_dot == std::string_view::npos) return true;
    if (path_dot == std::string_view::npos) return false;
    path = path.substr(0, path_dot);
    tail = tail.substr(0, tail_dot);
  }
}

bool has_ratio(const Shape* shape, int rows_to_columns) {
  if (rows_to_columns == 0) return true;
  if (shape == nullptr || shape->size() != 2) return false;
  const auto times = static_cast<std::uint64_t>(std::abs(rows_to_columns));
  const std::uint64_t large = (*shape)[rows_to_columns > 0 ? 0 : 1];
  const std::uint64_t small = (*shape)[rows_to_columns > 0 ? 1 : 0];
  return large % times == 0 && large / times == small;
}

}  // namespace

std::span<const Family> family_table() { return table; }

void FamilyEvidence::add(std::string_view path, const Shape* weight) {
  entries_.push_back({std::string(path), weight});
}

bool FamilyEvidence::has(const FamilyMark& mark) const {
  return std::ranges::any_of(entries_, [&](const Entry& entry) {
    return ends_in(entry.path, mark.path) && has_ratio(entry.weight, mark.rows_to_columns);
  });
}

std::string_view kind_in_family(const Family& family, std::string_view path) {
  // Compiled once for a thread, in the order of the table.
  thread_local const std::vector<std::vector<Regex>> patterns = [] {
    std::vector<std::vector<Regex>> all;
    for (const Family& row : table) {
      std::vector<Regex>& own = all.emplace_back();
      for (const FamilyKind& kind : row.kinds) own.emplace_back(std::string(kind.pattern));
    }
    return all;
  }();
  const auto row = static_cast<std::size_t>(&family - table.data());
  for (std::size_t i = 0; i < family.kinds.size(); ++i)
    if (patterns[row][i].matches(path)) return family.kinds[i].kind;
  return {};
}

}  // namespace ckpt
