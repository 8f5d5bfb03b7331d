#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ckpt/report/names.hpp"

namespace ckpt::test {

/// One model under the names of two conventions, small, with the proportions of the real one.
struct Convention {
  std::vector<NamedShape> source, target;
  std::vector<std::pair<std::string, std::string>> pairs;  // as the models' own conversion scripts have it

  void add(const std::string& from, const std::string& to, const Shape& shape, DType dtype = DType::f32) {
    source.push_back({from, dtype, shape});
    target.push_back({to, dtype, shape});
    pairs.emplace_back(from, to);
  }
  /// The other world's matrices are transposed.
  void add_transposed(const std::string& from, const std::string& to, const Shape& shape) {
    add(from, to, shape);
    if (shape.size() == 2) std::swap(target.back().shape[0], target.back().shape[1]);
  }
  void add_linear(const std::string& from, const std::string& to, std::uint64_t out, std::uint64_t in) {
    add(from + ".weight", to + ".weight", {out, in});
    add(from + ".bias", to + ".bias", {out});
  }
  void add_norm(const std::string& from, const std::string& to, std::uint64_t size,
                const std::string& weight = "weight", const std::string& bias = "bias") {
    add(from + ".weight", to + "." + weight, {size});
    add(from + ".bias", to + "." + bias, {size});
  }
  Convention reversed() const {
    Convention other{.source = target, .target = source, .pairs = {}};
    for (const auto& [from, to] : pairs) other.pairs.emplace_back(to, from);
    return other;
  }
};

/// Hugging Face's names of Llama and Meta's.
inline Convention llama(int layers) {
  Convention c;
  c.add("model.embed_tokens.weight", "tok_embeddings.weight", {32, 8});
  for (int i = 0; i < layers; ++i) {
    const std::string a = "model.layers." + std::to_string(i);
    const std::string b = "layers." + std::to_string(i);
    c.add(a + ".self_attn.q_proj.weight", b + ".attention.wq.weight", {8, 8});
    c.add(a + ".self_attn.k_proj.weight", b + ".attention.wk.weight", {4, 8});
    c.add(a + ".self_attn.v_proj.weight", b + ".attention.wv.weight", {4, 8});
    c.add(a + ".self_attn.o_proj.weight", b + ".attention.wo.weight", {8, 8});
    c.add(a + ".mlp.gate_proj.weight", b + ".feed_forward.w1.weight", {16, 8});
    c.add(a + ".mlp.up_proj.weight", b + ".feed_forward.w3.weight", {16, 8});
    c.add(a + ".mlp.down_proj.weight", b + ".feed_forward.w2.weight", {8, 16});
    c.add(a + ".input_layernorm.weight", b + ".attention_norm.weight", {8});
    c.add(a + ".post_attention_layernorm.weight", b + ".ffn_norm.weight", {8});
  }
  c.add("model.norm.weight", "norm.weight", {8});
  c.add("lm_head.weight", "output.weight", {32, 8});
  return c;
}

/// GPT-2 bare and as a part of a model with a head, which stores its matrices the other way round.
inline Convention gpt2(int layers) {
  Convention c;
  c.add("wte.weight", "transformer.wte.weight", {50, 8});
  c.add("wpe.weight", "transformer.wpe.weight", {16, 8});
  for (int i = 0; i < layers; ++i) {
    const std::string a = "h." + std::to_string(i);
    const std::string b = "transformer." + a;
    c.add_norm(a + ".ln_1", b + ".ln_1", 8);
    c.add_norm(a + ".ln_2", b + ".ln_2", 8);
    const auto conv1d = [&](const std::string& name, std::uint64_t in, std::uint64_t out) {
      c.add_transposed(a + name + ".weight", b + name + ".weight", {in, out});
      c.add(a + name + ".bias", b + name + ".bias", {out});
    };
    conv1d(".attn.c_attn", 8, 24);
    conv1d(".attn.c_proj", 8, 8);
    conv1d(".mlp.c_fc", 8, 32);
    conv1d(".mlp.c_proj", 32, 8);
  }
  c.add_norm("ln_f", "transformer.ln_f", 8);
  return c;
}

/// BERT as TensorFlow's checkpoints had it, gamma and beta, and as it is now.
inline Convention bert(int layers) {
  Convention c;
  const auto norm = [&](const std::string& name) {
    c.add(name + ".LayerNorm.gamma", name + ".LayerNorm.weight", {8});
    c.add(name + ".LayerNorm.beta", name + ".LayerNorm.bias", {8});
  };
  const auto same = [&](const std::string& name, const Shape& shape) { c.add(name, name, shape); };
  same("bert.embeddings.word_embeddings.weight", {30, 8});
  same("bert.embeddings.position_embeddings.weight", {16, 8});
  same("bert.embeddings.token_type_embeddings.weight", {2, 8});
  norm("bert.embeddings");
  for (int i = 0; i < layers; ++i) {
    const std::string layer = "bert.encoder.layer." + std::to_string(i);
    for (const char* name :
         {".attention.self.query", ".attention.self.key", ".attention.self.value", ".attention.output.dense"})
      c.add_linear(layer + name, layer + name, 8, 8);
    c.add_linear(layer + ".intermediate.dense", layer + ".intermediate.dense", 32, 8);
    c.add_linear(layer + ".output.dense", layer + ".output.dense", 8, 32);
    norm(layer + ".attention.output");
    norm(layer + ".output");
  }
  norm("cls.predictions.transform");
  c.add_linear("cls.predictions.transform.dense", "cls.predictions.transform.dense", 8, 8);
  same("cls.predictions.bias", {30});
  return c;
}

/// torchvision's ResNet and burn's, which has `blocks`, names for the parts of a downsample, and gamma and
/// beta; the linear layer is transposed.
inline Convention resnet(bool has_burn_norms) {
  Convention c;
  const std::string weight = has_burn_norms ? "gamma" : "weight";
  const std::string bias = has_burn_norms ? "beta" : "bias";
  const auto norm = [&](const std::string& a, const std::string& b, std::uint64_t size) {
    c.add_norm(a, b, size, weight, bias);
    c.add(a + ".running_mean", b + ".running_mean", {size});
    c.add(a + ".running_var", b + ".running_var", {size});
    if (!has_burn_norms) c.add(a + ".num_batches_tracked", b + ".num_batches_tracked", {}, DType::i64);
  };
  c.add("conv1.weight", "conv1.weight", {4, 3, 3, 3});
  norm("bn1", "bn1", 4);
  std::uint64_t in = 4;
  for (int layer = 1; layer <= 4; ++layer) {
    const std::uint64_t out = layer == 1 ? 4 : in * 2;
    for (int block = 0; block < 2; ++block) {
      const std::string a = "layer" + std::to_string(layer) + "." + std::to_string(block);
      const std::string b = "layer" + std::to_string(layer) + ".blocks." + std::to_string(block);
      c.add(a + ".conv1.weight", b + ".conv1.weight", {out, block == 0 ? in : out, 3, 3});
      norm(a + ".bn1", b + ".bn1", out);
      c.add(a + ".conv2.weight", b + ".conv2.weight", {out, out, 3, 3});
      norm(a + ".bn2", b + ".bn2", out);
      if (block > 0 || layer == 1) continue;
      c.add(a + ".downsample.0.weight", b + ".downsample.conv.weight", {out, in, 1, 1});
      norm(a + ".downsample.1", b + ".downsample.bn", out);
    }
    in = out;
  }
  c.add_transposed("fc.weight", "fc.weight", {10, in});
  c.add("fc.bias", "fc.bias", {10});
  return c;
}

/// OpenAI's Whisper and Hugging Face's.
inline Convention whisper(int layers) {
  Convention c;
  c.add_linear("encoder.conv1", "model.encoder.conv1", 8, 4);
  c.add_linear("encoder.conv2", "model.encoder.conv2", 8, 8);
  c.add("encoder.positional_embedding", "model.encoder.embed_positions.weight", {6, 8});
  c.add("decoder.token_embedding.weight", "model.decoder.embed_tokens.weight", {20, 8});
  c.add("decoder.positional_embedding", "model.decoder.embed_positions.weight", {5, 8});
  for (const std::string side : {"encoder", "decoder"})
    for (int i = 0; i < layers; ++i) {
      const std::string a = side + ".blocks." + std::to_string(i);
      const std::string b = "model." + side + ".layers." + std::to_string(i);
      const auto attention = [&](const std::string& from, const std::string& to) {
        c.add_linear(a + from + ".query", b + to + ".q_proj", 8, 8);
        c.add(a + from + ".key.weight", b + to + ".k_proj.weight", {8, 8});
        c.add_linear(a + from + ".value", b + to + ".v_proj", 8, 8);
        c.add_linear(a + from + ".out", b + to + ".out_proj", 8, 8);
        c.add_norm(a + from + "_ln", b + to + "_layer_norm", 8);
      };
      attention(".attn", ".self_attn");
      if (side == "decoder") attention(".cross_attn", ".encoder_attn");
      c.add_linear(a + ".mlp.0", b + ".fc1", 32, 8);
      c.add_linear(a + ".mlp.2", b + ".fc2", 8, 32);
      c.add_norm(a + ".mlp_ln", b + ".final_layer_norm", 8);
    }
  c.add_norm("encoder.ln_post", "model.encoder.layer_norm", 8);
  c.add_norm("decoder.ln", "model.decoder.layer_norm", 8);
  return c;
}

/// timm's vision transformer and Hugging Face's, without the projections that one of them fuses.
inline Convention vision_transformer(int layers) {
  Convention c;
  c.add("cls_token", "vit.embeddings.cls_token", {1, 1, 8});
  c.add("pos_embed", "vit.embeddings.position_embeddings", {1, 5, 8});
  c.add("patch_embed.proj.weight", "vit.embeddings.patch_embeddings.projection.weight", {8, 3, 2, 2});
  c.add("patch_embed.proj.bias", "vit.embeddings.patch_embeddings.projection.bias", {8});
  for (int i = 0; i < layers; ++i) {
    const std::string a = "blocks." + std::to_string(i);
    const std::string b = "vit.encoder.layer." + std::to_string(i);
    c.add_norm(a + ".norm1", b + ".layernorm_before", 8);
    c.add_linear(a + ".attn.proj", b + ".attention.output.dense", 8, 8);
    c.add_norm(a + ".norm2", b + ".layernorm_after", 8);
    c.add_linear(a + ".mlp.fc1", b + ".intermediate.dense", 32, 8);
    c.add_linear(a + ".mlp.fc2", b + ".output.dense", 8, 32);
  }
  c.add_norm("norm", "vit.layernorm", 8);
  c.add_linear("head", "classifier", 10, 8);
  return c;
}

/// A mixture of experts, two numbers deep.
inline Convention experts(int layers, int count) {
  Convention c;
  for (int i = 0; i < layers; ++i) {
    const std::string a = "model.layers." + std::to_string(i) + ".block_sparse_moe";
    const std::string b = "model.layers." + std::to_string(i) + ".mlp";
    for (int e = 0; e < count; ++e) {
      const std::string expert = ".experts." + std::to_string(e);
      c.add(a + expert + ".w1.weight", b + expert + ".gate_proj.weight", {16, 8});
      c.add(a + expert + ".w2.weight", b + expert + ".down_proj.weight", {8, 16});
      c.add(a + expert + ".w3.weight", b + expert + ".up_proj.weight", {16, 8});
    }
    c.add(a + ".gate.weight", b + ".gate.weight", {8, 8});
  }
  return c;
}

/// A prefix before every name of `inner`'s target.
inline Convention wrapped(const Convention& inner, const std::string& prefix) {
  Convention c;
  for (const NamedShape& tensor : inner.target)
    c.add(prefix + tensor.name, tensor.name, tensor.shape, tensor.dtype);
  return c;
}

}  // namespace ckpt::test
