#!/usr/bin/env python3
"""Has `ckpt remap --infer` explain the names of well-known models: conventions.py CKPT [-v]

Each pair of conventions is generated at its real depth from the published architectures (transformers, the models' own
repositories, torchvision, timm, diffusers), with small dimensions. Of every pair: no name gets a wrong partner, and all that
have one are explained, but for so many as the table of those that cannot be told says. Then a tenth of the tensors is
deleted on both sides: what is missing must not make wrong pairs."""

import json
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from language import LANGUAGE
from others import OTHERS
from pair import Pair
from vision import VISION


def llama(layers: int, kv: int = 4) -> Pair:
    """transformers' LlamaForCausalLM and Meta's own."""
    d, h, v, p = 16, 40, 100, Pair()
    p.add("model.embed_tokens.weight", "tok_embeddings.weight", [v, d])
    for i in range(layers):
        a, b = f"model.layers.{i}.", f"layers.{i}."
        for x, y, s in (("q", "q", [d, d]), ("k", "k", [kv, d]), ("v", "v", [kv, d]), ("o", "o", [d, d])):
            p.add(f"{a}self_attn.{x}_proj.weight", f"{b}attention.w{y}.weight", s)
        for x, y, s in (("gate", "1", [h, d]), ("down", "2", [d, h]), ("up", "3", [h, d])):
            p.add(f"{a}mlp.{x}_proj.weight", f"{b}feed_forward.w{y}.weight", s)
        p.add(a + "input_layernorm.weight", b + "attention_norm.weight", [d])
        p.add(a + "post_attention_layernorm.weight", b + "ffn_norm.weight", [d])
        p.add(a + "self_attn.rotary_emb.inv_freq", None, [d // 4])
    p.add("model.norm.weight", "norm.weight", [d])
    p.add("lm_head.weight", "output.weight", [v, d])
    p.add(None, "rope.freqs", [d // 8])
    return p


def mixtral(layers: int, experts: int) -> Pair:
    """transformers' Mixtral and Mistral's own."""
    d, h, v, p = 16, 40, 100, Pair()
    p.add("model.embed_tokens.weight", "tok_embeddings.weight", [v, d])
    for i in range(layers):
        a, b = f"model.layers.{i}.", f"layers.{i}."
        for x in "qkvo":
            p.add(f"{a}self_attn.{x}_proj.weight", f"{b}attention.w{x}.weight", [d if x in "qo" else 4, d])
        p.add(a + "block_sparse_moe.gate.weight", b + "feed_forward.gate.weight", [experts, d])
        for e in range(experts):
            for w in "123":
                p.add(f"{a}block_sparse_moe.experts.{e}.w{w}.weight", f"{b}feed_forward.experts.{e}.w{w}.weight",
                      [d, h] if w == "2" else [h, d])
        p.add(a + "input_layernorm.weight", b + "attention_norm.weight", [d])
        p.add(a + "post_attention_layernorm.weight", b + "ffn_norm.weight", [d])
    p.add("model.norm.weight", "norm.weight", [d])
    p.add("lm_head.weight", "output.weight", [v, d])
    return p


def gpt2(layers: int) -> Pair:
    """The GPT-2 of the Hub (Conv1D, mask buffers) and nanoGPT's (Linear: transposed)."""
    d, v, p = 8, 50, Pair()
    p.add("wte.weight", "transformer.wte.weight", [v, d])
    p.add("wpe.weight", "transformer.wpe.weight", [16, d])
    for i in range(layers):
        a, b = f"h.{i}.", f"transformer.h.{i}."
        p.add(a + "attn.bias", None, [1, 1, 16, 16])
        for name, s in (("attn.c_attn", [d, 3 * d]), ("attn.c_proj", [d, d]), ("mlp.c_fc", [d, 4 * d]), ("mlp.c_proj", [4 * d, d])):
            p.add(f"{a}{name}.weight", f"{b}{name}.weight", s, s[::-1])
            p.add(f"{a}{name}.bias", f"{b}{name}.bias", [s[1]])
        p.both(a + "ln_1", b + "ln_1", d)
        p.both(a + "ln_2", b + "ln_2", d)
    p.both("ln_f", "transformer.ln_f", d)
    p.add(None, "lm_head.weight", [v, d])
    return p


def bert(layers: int) -> Pair:
    """BERT as it was first published (gamma, beta) and as the Hub has it today."""
    d, v, p = 8, 50, Pair()
    def norm(path: str):
        p.add(f"bert.{path}.gamma", f"bert.{path}.weight", [d])
        p.add(f"bert.{path}.beta", f"bert.{path}.bias", [d])
    for name, n in (("word", v), ("position", 16), ("token_type", 2)):
        p.add(f"bert.embeddings.{name}_embeddings.weight", f"bert.embeddings.{name}_embeddings.weight", [n, d])
    norm("embeddings.LayerNorm")
    for i in range(layers):
        a = f"bert.encoder.layer.{i}."
        for name in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            p.both(a + name, a + name, d, d)
        p.both(a + "intermediate.dense", a + "intermediate.dense", 4 * d, d)
        p.both(a + "output.dense", a + "output.dense", d, 4 * d)
        norm(f"encoder.layer.{i}.attention.output.LayerNorm")
        norm(f"encoder.layer.{i}.output.LayerNorm")
    p.both("bert.pooler.dense", "bert.pooler.dense", d, d)
    p.both("cls.predictions.transform.dense", "cls.predictions.transform.dense", d, d)
    p.add("cls.predictions.transform.LayerNorm.gamma", "cls.predictions.transform.LayerNorm.weight", [d])
    p.add("cls.predictions.transform.LayerNorm.beta", "cls.predictions.transform.LayerNorm.bias", [d])
    p.add("cls.predictions.bias", "cls.predictions.bias", [v])
    return p


def resnet50() -> Pair:
    """torchvision's ResNet-50 and one of burn's, whose norms say gamma and beta."""
    p = Pair()
    def conv(a: str, b: str, out: int, into: int, k: int):
        p.add(a + ".weight", b + ".weight", [out, into, k, k])
    def norm(a: str, b: str, n: int):
        p.add(a + ".weight", b + ".gamma", [n])
        p.add(a + ".bias", b + ".beta", [n])
        p.add(a + ".running_mean", b + ".running_mean", [n])
        p.add(a + ".running_var", b + ".running_var", [n])
        p.add(a + ".num_batches_tracked", None, [])
    conv("conv1", "conv1", 4, 3, 7)
    norm("bn1", "bn1", 4)
    into = 4
    for layer, (blocks, width) in enumerate(((3, 4), (4, 8), (6, 16), (3, 32)), 1):
        for i in range(blocks):
            a, b = f"layer{layer}.{i}.", f"layer{layer}.blocks.{i}."
            for n, (out, inp, k) in enumerate(((width, into, 1), (width, width, 3), (4 * width, width, 1)), 1):
                conv(f"{a}conv{n}", f"{b}conv{n}", out, inp, k)
                norm(f"{a}bn{n}", f"{b}bn{n}", out)
            if i == 0:
                conv(a + "downsample.0", b + "downsample.conv", 4 * width, into, 1)
                norm(a + "downsample.1", b + "downsample.bn", 4 * width)
            into = 4 * width
    p.both("fc", "fc", 10, into)
    return p


def whisper(layers: int) -> Pair:
    """transformers' Whisper and OpenAI's; proj_out is tied there and has no name of its own."""
    d, v, p = 8, 60, Pair()
    for n, into in ((1, 5), (2, d)):
        p.add(f"model.encoder.conv{n}.weight", f"encoder.conv{n}.weight", [d, into, 3])
        p.add(f"model.encoder.conv{n}.bias", f"encoder.conv{n}.bias", [d])
    p.add("model.encoder.embed_positions.weight", "encoder.positional_embedding", [30, d])
    p.add("model.decoder.embed_positions.weight", "decoder.positional_embedding", [14, d])
    p.add("model.decoder.embed_tokens.weight", "decoder.token_embedding.weight", [v, d])
    for side in "encoder", "decoder":
        for i in range(layers):
            a, b = f"model.{side}.layers.{i}.", f"{side}.blocks.{i}."
            kinds = [("self_attn", "attn")] + ([("encoder_attn", "cross_attn")] if side == "decoder" else [])
            for x, y in kinds:
                for q, r in (("q_proj", "query"), ("k_proj", "key"), ("v_proj", "value"), ("out_proj", "out")):
                    p.add(f"{a}{x}.{q}.weight", f"{b}{y}.{r}.weight", [d, d])
                    if r != "key":
                        p.add(f"{a}{x}.{q}.bias", f"{b}{y}.{r}.bias", [d])
                p.both(f"{a}{x}_layer_norm", f"{b}{y}_ln", d)
            p.both(a + "fc1", b + "mlp.0", 4 * d, d)
            p.both(a + "fc2", b + "mlp.2", d, 4 * d)
            p.both(a + "final_layer_norm", b + "mlp_ln", d)
    p.both("model.encoder.layer_norm", "encoder.ln_post", d)
    p.both("model.decoder.layer_norm", "decoder.ln", d)
    p.add("proj_out.weight", None, [v, d])
    return p


def vit(layers: int) -> Pair:
    """timm's ViT and transformers': the fused qkv has no single partner."""
    d, p = 12, Pair()
    p.add("cls_token", "vit.embeddings.cls_token", [1, 1, d])
    p.add("pos_embed", "vit.embeddings.position_embeddings", [1, 17, d])
    p.add("patch_embed.proj.weight", "vit.embeddings.patch_embeddings.projection.weight", [d, 3, 4, 4])
    p.add("patch_embed.proj.bias", "vit.embeddings.patch_embeddings.projection.bias", [d])
    for i in range(layers):
        a, b = f"blocks.{i}.", f"vit.encoder.layer.{i}."
        p.both(a + "norm1", b + "layernorm_before", d)
        p.add(a + "attn.qkv.weight", None, [3 * d, d])
        p.add(a + "attn.qkv.bias", None, [3 * d])
        for x in "query", "key", "value":
            p.add(None, f"{b}attention.attention.{x}.weight", [d, d])
            p.add(None, f"{b}attention.attention.{x}.bias", [d])
        p.both(a + "attn.proj", b + "attention.output.dense", d, d)
        p.both(a + "norm2", b + "layernorm_after", d)
        p.both(a + "mlp.fc1", b + "intermediate.dense", 4 * d, d)
        p.both(a + "mlp.fc2", b + "output.dense", d, 4 * d)
    p.both("norm", "vit.layernorm", d)
    p.both("head", "classifier", 10, d)
    return p


def ldm() -> Pair:
    """A slice of a latent diffusion checkpoint and its UNet alone; averages and the autoencoder stay behind."""
    p = Pair()
    root = "model.diffusion_model."
    def same(name: str, *shape: int):
        p.add(root + name, name, list(shape))
        p.add("model_ema.diffusion_model" + name.replace(".", ""), None, list(shape))
    for name in ("time_embed.0", "time_embed.2"):
        same(name + ".weight", 32, 8 if name.endswith("0") else 32)
        same(name + ".bias", 32)
    for block in range(12):
        name = f"input_blocks.{block}.0."
        for part, shape in (("in_layers.0.weight", [8]), ("in_layers.0.bias", [8]), ("in_layers.2.weight", [8, 8, 3, 3]),
                            ("in_layers.2.bias", [8]), ("emb_layers.1.weight", [8, 32]), ("emb_layers.1.bias", [8]),
                            ("out_layers.3.weight", [8, 8, 3, 3]), ("out_layers.3.bias", [8])):
            same(name + part, *shape)
        for attn in "attn1", "attn2":
            for x in "q", "k", "v":
                same(f"input_blocks.{block}.1.transformer_blocks.0.{attn}.to_{x}.weight", 8, 8 if attn == "attn1" or x == "q" else 6)
    same("out.2.weight", 4, 8, 3, 3)
    same("out.2.bias", 4)
    for side in "encoder", "decoder":
        for x in "q", "k", "v", "proj_out":
            p.add(f"first_stage_model.{side}.mid.attn_1.{x}.weight", None, [8, 8, 1, 1])
            p.add(f"first_stage_model.{side}.mid.attn_1.{x}.bias", None, [8])
    p.add("cond_stage_model.transformer.text_model.embeddings.position_ids", None, [1, 7])
    p.add("model_ema.decay", None, [])
    p.add("betas", None, [10])
    p.add("alphas_cumprod", None, [10])
    return p


def vae() -> Pair:
    """The autoencoder of latent diffusion and diffusers' AutoencoderKL, which counts the decoder's blocks from the other
    end and has linear layers for 1x1 convolutions."""
    p = Pair()
    widths = (4, 8, 16, 16)
    def res(a: str, b: str, out: int, into: int):
        p.both(a + "norm1", b + "norm1", into)
        p.add(a + "conv1.weight", b + "conv1.weight", [out, into, 3, 3])
        p.add(a + "conv1.bias", b + "conv1.bias", [out])
        p.both(a + "norm2", b + "norm2", out)
        p.add(a + "conv2.weight", b + "conv2.weight", [out, out, 3, 3])
        p.add(a + "conv2.bias", b + "conv2.bias", [out])
        if out != into:
            p.add(a + "nin_shortcut.weight", b + "conv_shortcut.weight", [out, into, 1, 1])
            p.add(a + "nin_shortcut.bias", b + "conv_shortcut.bias", [out])
    def conv(a: str, b: str, out: int, into: int, k: int = 3):
        p.add(a + ".weight", b + ".weight", [out, into, k, k])
        p.add(a + ".bias", b + ".bias", [out])
    conv("encoder.conv_in", "encoder.conv_in", 4, 3)
    into = 4
    for i, width in enumerate(widths):
        for j in range(2):
            res(f"encoder.down.{i}.block.{j}.", f"encoder.down_blocks.{i}.resnets.{j}.", width, into)
            into = width
        if i < 3:
            conv(f"encoder.down.{i}.downsample.conv", f"encoder.down_blocks.{i}.downsamplers.0.conv", width, width)
    conv("decoder.conv_in", "decoder.conv_in", 16, 4)
    into = 16
    for n, width in enumerate(reversed(widths)):
        for j in range(3):
            res(f"decoder.up.{3 - n}.block.{j}.", f"decoder.up_blocks.{n}.resnets.{j}.", width, into)
            into = width
        if n < 3:
            conv(f"decoder.up.{3 - n}.upsample.conv", f"decoder.up_blocks.{n}.upsamplers.0.conv", width, width)
    for side, out, first in (("encoder", 8, 16), ("decoder", 3, 4)):
        for j in (1, 2):
            res(f"{side}.mid.block_{j}.", f"{side}.mid_block.resnets.{j - 1}.", 16, 16)
        p.both(f"{side}.mid.attn_1.norm", f"{side}.mid_block.attentions.0.group_norm", 16)
        for x, y in (("q", "to_q"), ("k", "to_k"), ("v", "to_v"), ("proj_out", "to_out.0")):
            p.add(f"{side}.mid.attn_1.{x}.weight", None, [16, 16, 1, 1])
            p.add(None, f"{side}.mid_block.attentions.0.{y}.weight", [16, 16])
            p.add(f"{side}.mid.attn_1.{x}.bias", f"{side}.mid_block.attentions.0.{y}.bias", [16])
        p.both(f"{side}.norm_out", f"{side}.conv_norm_out", first)
        conv(f"{side}.conv_out", f"{side}.conv_out", out, first)
    conv("quant_conv", "quant_conv", 8, 8, 1)
    conv("post_quant_conv", "post_quant_conv", 4, 4, 1)
    return p


def clip(layers: int) -> Pair:
    """The text tower of OpenAI's CLIP and of transformers': the fused in_proj has no single partner."""
    d, p = 8, Pair()
    p.add("token_embedding.weight", "text_model.embeddings.token_embedding.weight", [50, d])
    p.add("positional_embedding", "text_model.embeddings.position_embedding.weight", [7, d])
    for i in range(layers):
        a, b = f"transformer.resblocks.{i}.", f"text_model.encoder.layers.{i}."
        p.add(a + "attn.in_proj_weight", None, [3 * d, d])
        p.add(a + "attn.in_proj_bias", None, [3 * d])
        for x in "qkv":
            p.add(None, f"{b}self_attn.{x}_proj.weight", [d, d])
            p.add(None, f"{b}self_attn.{x}_proj.bias", [d])
        p.both(a + "attn.out_proj", b + "self_attn.out_proj", d, d)
        p.both(a + "ln_1", b + "layer_norm1", d)
        p.both(a + "ln_2", b + "layer_norm2", d)
        p.both(a + "mlp.c_fc", b + "mlp.fc1", 4 * d, d)
        p.both(a + "mlp.c_proj", b + "mlp.fc2", d, 4 * d)
    p.both("ln_final", "text_model.final_layer_norm", d)
    p.add("text_projection", "text_projection.weight", [d, 6], [6, d])
    p.add("logit_scale", "logit_scale", [])
    return p


def wav2vec2(layers: int) -> Pair:
    """fairseq's wav2vec 2.0 and transformers'."""
    d, c, p = 8, 6, Pair()
    for i in range(7):
        p.add(f"feature_extractor.conv_layers.{i}.0.weight", f"wav2vec2.feature_extractor.conv_layers.{i}.conv.weight", [c, 1 if i == 0 else c, 10 if i == 0 else 3 if i < 5 else 2])
    p.both("feature_extractor.conv_layers.0.2", "wav2vec2.feature_extractor.conv_layers.0.layer_norm", c)
    p.both("layer_norm", "wav2vec2.feature_projection.layer_norm", c)
    p.both("post_extract_proj", "wav2vec2.feature_projection.projection", d, c)
    p.add("mask_emb", "wav2vec2.masked_spec_embed", [d])
    p.add("encoder.pos_conv.0.weight_g", "wav2vec2.encoder.pos_conv_embed.conv.weight_g", [1, 1, 12])
    p.add("encoder.pos_conv.0.weight_v", "wav2vec2.encoder.pos_conv_embed.conv.weight_v", [d, 2, 12])
    p.add("encoder.pos_conv.0.bias", "wav2vec2.encoder.pos_conv_embed.conv.bias", [d])
    for i in range(layers):
        a, b = f"encoder.layers.{i}.", f"wav2vec2.encoder.layers.{i}."
        for x in "k_proj", "v_proj", "q_proj", "out_proj":
            p.both(f"{a}self_attn.{x}", f"{b}attention.{x}", d, d)
        p.both(a + "self_attn_layer_norm", b + "layer_norm", d)
        p.both(a + "fc1", b + "feed_forward.intermediate_dense", 4 * d, d)
        p.both(a + "fc2", b + "feed_forward.output_dense", d, 4 * d)
        p.both(a + "final_layer_norm", b + "final_layer_norm", d)
    p.both("encoder.layer_norm", "wav2vec2.encoder.layer_norm", d)
    return p


def convnext() -> Pair:
    """Facebook's ConvNeXt and timm's; gamma is a layer's scale on both sides."""
    p = Pair()
    widths, depths = (4, 8, 16, 32), (3, 3, 9, 3)
    p.add("downsample_layers.0.0.weight", "stem.0.weight", [4, 3, 4, 4])
    p.add("downsample_layers.0.0.bias", "stem.0.bias", [4])
    p.both("downsample_layers.0.1", "stem.1", 4)
    for s, (w, depth) in enumerate(zip(widths, depths)):
        if s > 0:
            p.both(f"downsample_layers.{s}.0", f"stages.{s}.downsample.0", widths[s - 1])
            p.add(f"downsample_layers.{s}.1.weight", f"stages.{s}.downsample.1.weight", [w, widths[s - 1], 2, 2])
            p.add(f"downsample_layers.{s}.1.bias", f"stages.{s}.downsample.1.bias", [w])
        for i in range(depth):
            a, b = f"stages.{s}.{i}.", f"stages.{s}.blocks.{i}."
            p.add(a + "gamma", b + "gamma", [w])
            p.add(a + "dwconv.weight", b + "conv_dw.weight", [w, 1, 7, 7])
            p.add(a + "dwconv.bias", b + "conv_dw.bias", [w])
            p.both(a + "norm", b + "norm", w)
            p.both(a + "pwconv1", b + "mlp.fc1", 4 * w, w)
            p.both(a + "pwconv2", b + "mlp.fc2", w, 4 * w)
    p.both("norm", "head.norm", 32)
    p.both("head", "head.fc", 10, 32)
    return p


def wrapped(inner: Pair, prefix: str) -> Pair:
    """The same model before and after a wrapper (DataParallel, torch.compile, Lightning)."""
    p = Pair()
    for a, _, shape, _ in inner.rows:
        if a is not None:
            p.add(prefix + a, a, shape)
    return p


PAIRS = {
    "llama, 32 layers": llama(32), "llama, 80 layers": llama(80), "mixtral, 32 layers of 8": mixtral(32, 8),
    "gpt2": gpt2(12), "gpt2-xl": gpt2(48), "bert-base": bert(12), "bert-large": bert(24), "resnet50": resnet50(),
    "whisper-tiny": whisper(4), "whisper-large": whisper(32), "unet of ldm": ldm(), "vae": vae(), "clip text": clip(12), "2000 names": llama(200),
    "lightning": wrapped(bert(12), "model."), "compiled": wrapped(llama(32), "module._orig_mod."),
    "vit-base": vit(12), "wav2vec2": wav2vec2(12), "convnext-tiny": convnext(),
} | LANGUAGE | VISION | OTHERS
# Names that have a partner which neither their words nor their neighbours tell, at most so many of a pair.
LEFT = {
    "qwen 1": 16,  # w1 and w2, either of which could be the gate
    "t5": 35, "t5, slashes": 37,  # layer_norm, in blocks that are counted and not named
    "vae": 8, "gpt2, original, slashes": 3,
    "sam": 16,  # the layers of hypernetworks are numbered anew
    "clip": 2, "convnext, hub": 2, "efficientnet": 1, "mobilenet": 2,
    "resnet50, torchvision and hub": 1, "resnet50, stages from zero": 1,
    "unet, ldm and diffusers": 26, "unet, in a checkpoint": 32,
}

# Wrong pairs after the deletions that are known, at most so many of a pair; of all others there is none.
WRONG = {
    "whisper-tiny": 1, "whisper-large": 3, "lightning": 1, "convnext-tiny": 2, "vit, torchvision and timm": 1,
    "resnet50, stages from zero": 7, "resnet50, detectron": 9, "resnet50, hub and stages from zero": 13,
    "efficientnet": 19, "sam": 4, "unet, ldm and diffusers": 16, "unet, in a checkpoint": 16,
    "mlp of one width": 2, "encoders of moco": 4,
}
SEEDS = (0, 1)


def write(path: Path, tensors: list[tuple[str, list[int]]]):
    header, at = {}, 0
    for name, shape in tensors:
        size = 4
        for n in shape:
            size *= n
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text)
    with path.open("r+b") as file:
        file.truncate(8 + len(text) + at)


def examine(program: str, folder: Path, pair: Pair, backwards: bool) -> tuple[list[str], str]:
    """What is wrong, and how far the inference came."""
    one, other = [(a, s) for a, _, s, _ in pair.rows if a], [(b, t) for _, b, _, t in pair.rows if b]
    truth = {a: b for a, b, _, _ in pair.rows if a and b}
    if backwards:
        one, other, truth = other, one, {b: a for a, b in truth.items()}
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    found = inferred(program, folder, one, other)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before  # of the processor: others use it too
    faults = wrong(found, truth)
    if seconds > 20:  # a bound on how the work grows; it takes well under one
        faults.append(f"takes {seconds:.1f} s")
    missed = [name for name in truth if name not in {row["old"] for row in found["pairs"]}]
    faults += [f"{name} is left over" for name in missed]
    return faults, f"{len(found['pairs'])} of {len(truth)} by {len(found['rules'])} rules in {seconds:.2f} s"


def inferred(program: str, folder: Path, one: list, other: list) -> dict:
    write(folder / "a.safetensors", one)
    write(folder / "b.safetensors", other)
    done = subprocess.run([program, "remap", "--json", "a.safetensors", "--infer", "b.safetensors"], cwd=folder, capture_output=True, text=True)
    return json.loads(done.stdout)


def wrong(found: dict, truth: dict[str, str]) -> list[str]:
    return [f"{row['old']} is not {row['new']}" for row in found["pairs"] if truth.get(row["old"]) != row["new"]]


def wrong_after_deletion(program: str, folder: Path, name: str, pair: Pair, seed: int) -> list[str]:
    draw = random.Random(f"{name}{seed}")
    one = [(a, s) for a, _, s, _ in pair.rows if a and draw.random() >= 0.1]
    other = [(b, t) for _, b, _, t in pair.rows if b and draw.random() >= 0.1]
    return wrong(inferred(program, folder, one, other), {a: b for a, b, _, _ in pair.rows if a and b})


def main() -> int:
    program, verbose = str(Path(sys.argv[1]).resolve()), "-v" in sys.argv
    bad = 0
    with tempfile.TemporaryDirectory(prefix="ckpt-names-") as folder:
        for name, pair in PAIRS.items():
            for backwards in False, True:
                faults, summary = examine(program, Path(folder), pair, backwards)
                left = [fault for fault in faults if fault.endswith("is left over")]
                if len(left) <= LEFT.get(name, 0):
                    faults = [fault for fault in faults if fault not in left]
                bad += bool(faults)
                if verbose or faults:
                    print(f"{name}{', backwards' if backwards else ''}: {summary}")
                for fault in faults[:8]:
                    print("   ", fault)
        for name, pair in PAIRS.items():
            faults = [fault for seed in SEEDS for fault in wrong_after_deletion(program, Path(folder), name, pair, seed)]
            if verbose or len(faults) > WRONG.get(name, 0):
                print(f"{name}, a tenth deleted: {len(faults)} wrong")
            if len(faults) > WRONG.get(name, 0):
                bad += 1
                print(*(f"    {fault}" for fault in faults[:8]), sep="\n")
    print(f"{(2 + len(SEEDS)) * len(PAIRS)} inferences, {bad} with faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
