"""Language models: the names that their authors gave, and the names that others gave them."""

from pair import Pair

WEIGHTS = {"kernel": "weight", "scale": "weight"}


def llama_burn(layers: int) -> Pair:
    """transformers' Llama and burn's, whose feed-forward layer is a gated unit of burn's own."""
    d, h, kv, p = 4096, 11008, 1024, Pair()
    p.add("model.embed_tokens.weight", "tok_embeddings.weight", [32000, d])
    for i in range(layers):
        a, b = f"model.layers.{i}.", f"layers.{i}."
        for x, n in (("q", d), ("k", kv), ("v", kv), ("o", d)):
            p.add(f"{a}self_attn.{x}_proj.weight", f"{b}attention.w{x}.weight", [n, d], [d, n])
        p.add(a + "mlp.gate_proj.weight", b + "feed_forward.swiglu.linear_inner.weight", [h, d], [d, h])
        p.add(a + "mlp.up_proj.weight", b + "feed_forward.swiglu.linear_outer.weight", [h, d], [d, h])
        p.add(a + "mlp.down_proj.weight", b + "feed_forward.w2.weight", [d, h], [h, d])
        p.add(a + "input_layernorm.weight", b + "attention_norm.gamma", [d])
        p.add(a + "post_attention_layernorm.weight", b + "ffn_norm.gamma", [d])
    p.add("model.norm.weight", "norm.gamma", [d])
    p.add("lm_head.weight", "output.weight", [32000, d], [d, 32000])
    return p


def internlm(layers: int) -> Pair:
    """InternLM2, which fuses, and the Llama it is otherwise."""
    p = Pair()
    p.lines("", "", "model.tok_embeddings model.embed_tokens w 92544 4096\nmodel.norm model.norm w 4096\noutput lm_head w 92544 4096")
    for i in range(layers):
        p.lines(f"model.layers.{i}.", f"model.layers.{i}.", """
            attention.wqkv - w 6144 4096
            - self_attn.q_proj w 4096 4096
            - self_attn.k_proj w 1024 4096
            - self_attn.v_proj w 1024 4096
            attention.wo self_attn.o_proj w 4096 4096
            feed_forward.w1 mlp.gate_proj w 14336 4096
            feed_forward.w3 mlp.up_proj w 14336 4096
            feed_forward.w2 mlp.down_proj w 4096 14336
            attention_norm input_layernorm w 4096
            ffn_norm post_attention_layernorm w 4096""")
    return p


def qwen(layers: int) -> Pair:
    """The first Qwen, where w2 is the gate: names do not tell, so neither is explained."""
    p = Pair()
    p.lines("", "", "transformer.wte model.embed_tokens w 151936 4096\ntransformer.ln_f model.norm w 4096\nlm_head lm_head w 151936 4096")
    for i in range(layers):
        p.lines(f"transformer.h.{i}.", f"model.layers.{i}.", """
            ln_1 input_layernorm w 4096
            attn.c_attn - wb 12288 4096
            - self_attn.q_proj wb 4096 4096
            - self_attn.k_proj wb 4096 4096
            - self_attn.v_proj wb 4096 4096
            attn.c_proj self_attn.o_proj w 4096 4096
            ln_2 post_attention_layernorm w 4096
            mlp.w1 mlp.up_proj w 11008 4096
            mlp.w2 mlp.gate_proj w 11008 4096
            mlp.c_proj mlp.down_proj w 4096 11008""")
    return p


def neox_sequential(layers: int) -> Pair:
    """GPT-NeoX as DeepSpeed numbers its pipeline, and as transformers has it."""
    p = Pair()
    p.add("sequential.0.word_embeddings.weight", "gpt_neox.embed_in.weight", [50432, 512])
    for i in range(layers):
        p.lines(f"sequential.{i + 2}.", f"gpt_neox.layers.{i}.", """
            input_layernorm input_layernorm wb 512
            post_attention_layernorm post_attention_layernorm wb 512
            attention.query_key_value attention.query_key_value wb 1536 512
            attention.dense attention.dense wb 512 512
            mlp.dense_h_to_4h mlp.dense_h_to_4h wb 2048 512
            mlp.dense_4h_to_h mlp.dense_4h_to_h wb 512 2048""")
    p.both(f"sequential.{layers + 3}.norm", "gpt_neox.final_layer_norm", 512)
    p.add(f"sequential.{layers + 4}.final_linear.weight", "embed_out.weight", [50432, 512])
    return p


def litgpt(layers: int) -> Pair:
    """Pythia as transformers and as LitGPT has it."""
    p = Pair()
    p.lines("", "", "gpt_neox.embed_in transformer.wte w 50304 512\ngpt_neox.final_layer_norm transformer.ln_f wb 512\nembed_out lm_head w 50304 512")
    for i in range(layers):
        p.lines(f"gpt_neox.layers.{i}.", f"transformer.h.{i}.", """
            input_layernorm norm_1 wb 512
            post_attention_layernorm norm_2 wb 512
            attention.query_key_value attn.attn wb 1536 512
            attention.dense attn.proj wb 512 512
            mlp.dense_h_to_4h mlp.fc wb 2048 512
            mlp.dense_4h_to_h mlp.proj wb 512 2048""")
    return p


def falcon(layers: int) -> Pair:
    p = Pair()
    p.lines("", "", "transformer.word_embeddings transformer.wte w 65024 4544\ntransformer.ln_f transformer.ln_f wb 4544\nlm_head lm_head w 65024 4544")
    for i in range(layers):
        p.lines(f"transformer.h.{i}.", f"transformer.h.{i}.", """
            input_layernorm norm_1 wb 4544
            self_attention.query_key_value attn.attn w 4672 4544
            self_attention.dense attn.proj w 4544 4544
            mlp.dense_h_to_4h mlp.fc w 18176 4544
            mlp.dense_4h_to_h mlp.proj w 4544 18176""")
    return p


def phi(layers: int) -> Pair:
    """Microsoft's own Phi-2 and transformers'."""
    p = Pair()
    p.lines("", "", """
        transformer.embd.wte model.embed_tokens w 51200 2560
        lm_head.ln model.final_layernorm wb 2560
        lm_head.linear lm_head wb 51200 2560""")
    for i in range(layers):
        p.lines(f"transformer.h.{i}.", f"model.layers.{i}.", """
            ln input_layernorm wb 2560
            mixer.Wqkv - wb 7680 2560
            - self_attn.q_proj wb 2560 2560
            - self_attn.k_proj wb 2560 2560
            - self_attn.v_proj wb 2560 2560
            mixer.out_proj self_attn.dense wb 2560 2560
            mlp.fc1 mlp.fc1 wb 10240 2560
            mlp.fc2 mlp.fc2 wb 2560 10240""")
    return p


def roberta(layers: int) -> Pair:
    """fairseq's RoBERTa and transformers'."""
    p, a, b = Pair(), "encoder.sentence_encoder.", "roberta.embeddings."
    p.lines(a, b, "embed_tokens word_embeddings w 50265 768\nembed_positions position_embeddings w 514 768\nlayernorm_embedding LayerNorm wb 768\n- token_type_embeddings w 1 768")
    for i in range(layers):
        p.lines(f"{a}layers.{i}.", f"roberta.encoder.layer.{i}.", """
            self_attn.k_proj attention.self.key wb 768 768
            self_attn.v_proj attention.self.value wb 768 768
            self_attn.q_proj attention.self.query wb 768 768
            self_attn.out_proj attention.output.dense wb 768 768
            self_attn_layer_norm attention.output.LayerNorm wb 768
            fc1 intermediate.dense wb 3072 768
            fc2 output.dense wb 768 3072
            final_layer_norm output.LayerNorm wb 768""")
    p.lines("encoder.lm_head.", "lm_head.", "dense dense wb 768 768\nlayer_norm layer_norm wb 768\nweight decoder.weight = 50265 768\nbias bias = 50265")
    return p


def distilbert(layers: int) -> Pair:
    p = Pair()
    for x, n in (("word", 30522), ("position", 512)):
        p.add(f"distilbert.embeddings.{x}_embeddings.weight", f"bert.embeddings.{x}_embeddings.weight", [n, 768])
    p.add(None, "bert.embeddings.token_type_embeddings.weight", [2, 768])
    p.both("distilbert.embeddings.LayerNorm", "bert.embeddings.LayerNorm", 768)
    for i in range(layers):
        p.lines(f"distilbert.transformer.layer.{i}.", f"bert.encoder.layer.{i}.", """
            attention.q_lin attention.self.query wb 768 768
            attention.k_lin attention.self.key wb 768 768
            attention.v_lin attention.self.value wb 768 768
            attention.out_lin attention.output.dense wb 768 768
            sa_layer_norm attention.output.LayerNorm wb 768
            ffn.lin1 intermediate.dense wb 3072 768
            ffn.lin2 output.dense wb 768 3072
            output_layer_norm output.LayerNorm wb 768""")
    return p


def bert_tensorflow(layers: int, dot: str = ".") -> Pair:
    """BERT's first checkpoints, from TensorFlow, and PyTorch's names."""
    p = Pair()
    def norm(path: str):
        p.add(f"{path}.LayerNorm.gamma", f"{path}.LayerNorm.weight", [768])
        p.add(f"{path}.LayerNorm.beta", f"{path}.LayerNorm.bias", [768])
    def dense(a: str, b: str, out: int, into: int):
        p.add(a + ".kernel", b + ".weight", [into, out], [out, into])
        p.add(a + ".bias", b + ".bias", [out])
    for name, n in (("word", 30522), ("position", 512), ("token_type", 2)):
        p.add(f"bert.embeddings.{name}_embeddings", f"bert.embeddings.{name}_embeddings.weight", [n, 768])
    norm("bert.embeddings")
    for i in range(layers):
        a, b = f"bert.encoder.layer_{i}.", f"bert.encoder.layer.{i}."
        for x in "self.query", "self.key", "self.value", "output.dense":
            dense(f"{a}attention.{x}", f"{b}attention.{x}", 768, 768)
        dense(a + "intermediate.dense", b + "intermediate.dense", 3072, 768)
        dense(a + "output.dense", b + "output.dense", 768, 3072)
        for x in "attention.output", "output":
            p.add(f"{a}{x}.LayerNorm.gamma", f"{b}{x}.LayerNorm.weight", [768])
            p.add(f"{a}{x}.LayerNorm.beta", f"{b}{x}.LayerNorm.bias", [768])
    dense("bert.pooler.dense", "bert.pooler.dense", 768, 768)
    dense("cls.predictions.transform.dense", "cls.predictions.transform.dense", 768, 768)
    norm("cls.predictions.transform")
    p.add("cls.predictions.output_bias", "cls.predictions.bias", [30522])
    p.add("cls.seq_relationship.output_weights", "cls.seq_relationship.weight", [2, 768])
    p.add("cls.seq_relationship.output_bias", "cls.seq_relationship.bias", [2])
    return p.renamed(lambda name: name.replace(".", dot))


def bert_burn(layers: int) -> Pair:
    """transformers' BERT and burn's, built of burn's own transformer."""
    p = Pair()
    p.lines("bert.embeddings.", "embeddings.", """
        word_embeddings word_embeddings w 30522 768
        position_embeddings position_embeddings w 512 768
        token_type_embeddings token_type_embeddings w 2 768
        LayerNorm layer_norm g 768""")
    for i in range(layers):
        p.lines(f"bert.encoder.layer.{i}.", f"encoder.layers.{i}.", """
            attention.self.query mha.query tb 768 768
            attention.self.key mha.key tb 768 768
            attention.self.value mha.value tb 768 768
            attention.output.dense mha.output tb 768 768
            attention.output.LayerNorm norm_1 g 768
            intermediate.dense pwff.linear_inner tb 3072 768
            output.dense pwff.linear_outer tb 768 3072
            output.LayerNorm norm_2 g 768""")
    p.both("bert.pooler.dense", "pooler.output", 768, 768)
    return p


def torch_encoder_burn(layers: int) -> Pair:
    """torch.nn.TransformerEncoder and burn's."""
    p = Pair()
    for i in range(layers):
        p.lines(f"layers.{i}.", f"layers.{i}.", """
            self_attn.out_proj mha.output tb 512 512
            linear1 pwff.linear_inner tb 2048 512
            linear2 pwff.linear_outer tb 512 2048
            norm1 norm_1 g 512
            norm2 norm_2 g 512
            - mha.query wb 512 512
            - mha.key wb 512 512
            - mha.value wb 512 512
            self_attn.in_proj_weight - = 1536 512
            self_attn.in_proj_bias - = 1536""")
    return p


def t5(layers: int, dot: str = ".") -> Pair:
    """T5 as flattened from JAX, and transformers'."""
    d, h, p = 512, 2048, Pair()
    p.add("token_embedder.embedding", "shared.weight", [32128, d])
    for side in "encoder", "decoder":
        p.add(f"{side}.relpos_bias.rel_embedding", f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight", [8, 32], [32, 8])
        for i in range(layers):
            a, b = f"{side}.layers_{i}.", f"{side}.block.{i}.layer."
            kinds = [("self_attention" if side == "decoder" else "attention", "SelfAttention", "self_attention" if side == "decoder" else "attention")]
            if side == "decoder":
                kinds.append(("encoder_decoder_attention", "EncDecAttention", "cross_attention"))
            for n, (x, y, norm) in enumerate(kinds):
                for q, r in (("query", "q"), ("key", "k"), ("value", "v"), ("out", "o")):
                    p.add(f"{a}{x}.{q}.kernel", f"{b}{n}.{y}.{r}.weight", [d, d])
                p.add(f"{a}pre_{norm}_layer_norm.scale", f"{b}{n}.layer_norm.weight", [d])
            n = len(kinds)
            p.add(f"{a}mlp.wi.kernel", f"{b}{n}.DenseReluDense.wi.weight", [d, h], [h, d])
            p.add(f"{a}mlp.wo.kernel", f"{b}{n}.DenseReluDense.wo.weight", [h, d], [d, h])
            p.add(f"{a}pre_mlp_layer_norm.scale", f"{b}{n}.layer_norm.weight", [d])
        p.add(f"{side}.{side}_norm.scale", f"{side}.final_layer_norm.weight", [d])
    return p.renamed(lambda name: name.replace(".", dot))


def rwkv(layers: int) -> Pair:
    d, p = 768, Pair()
    p.add("emb.weight", "rwkv.embeddings.weight", [50277, d])
    p.both("blocks.0.ln0", "rwkv.blocks.0.pre_ln", d)
    for i in range(layers):
        a, b = f"blocks.{i}.", f"rwkv.blocks.{i}."
        p.both(a + "ln1", b + "ln1", d)
        p.both(a + "ln2", b + "ln2", d)
        p.lines(a, b, f"""
            att.time_decay attention.time_decay = {d}
            att.time_first attention.time_first = {d}
            att.time_mix_k attention.time_mix_key = 1 1 {d}
            att.time_mix_v attention.time_mix_value = 1 1 {d}
            att.time_mix_r attention.time_mix_receptance = 1 1 {d}
            att.key attention.key w {d} {d}
            att.value attention.value w {d} {d}
            att.receptance attention.receptance w {d} {d}
            att.output attention.output w {d} {d}
            ffn.time_mix_k feed_forward.time_mix_key = 1 1 {d}
            ffn.time_mix_r feed_forward.time_mix_receptance = 1 1 {d}
            ffn.key feed_forward.key w {4 * d} {d}
            ffn.receptance feed_forward.receptance w {d} {d}
            ffn.value feed_forward.value w {d} {4 * d}""")
    p.both("ln_out", "rwkv.ln_out", d)
    p.add("head.weight", "head.weight", [50277, d])
    return p


def mamba(layers: int) -> Pair:
    p = Pair()
    p.lines("backbone.", "backbone.", "embedding embeddings w 50280 768\nnorm_f norm_f w 768")
    for i in range(layers):
        p.lines(f"backbone.layers.{i}.", f"backbone.layers.{i}.", """
            norm norm w 768
            mixer.A_log mixer.A_log = 1536 16
            mixer.D mixer.D = 1536
            mixer.in_proj mixer.in_proj w 3072 768
            mixer.conv1d.weight mixer.conv1d.weight = 1536 1 4
            mixer.conv1d.bias mixer.conv1d.bias = 1536
            mixer.x_proj mixer.x_proj w 80 1536
            mixer.dt_proj mixer.dt_proj wb 1536 48
            mixer.out_proj mixer.out_proj w 768 1536""")
    return p


def bart(layers: int) -> Pair:
    """fairseq's BART and transformers'."""
    p = Pair()
    for side in "encoder", "decoder":
        p.lines(f"{side}.", f"model.{side}.", "embed_tokens embed_tokens w 50265 768\nembed_positions embed_positions w 1026 768\nlayernorm_embedding layernorm_embedding wb 768")
        for i in range(layers):
            for kind in ("self_attn", "encoder_attn")[:1 if side == "encoder" else 2]:
                for x in "kvq":
                    p.both(f"{side}.layers.{i}.{kind}.{x}_proj", f"model.{side}.layers.{i}.{kind}.{x}_proj", 768, 768)
                p.both(f"{side}.layers.{i}.{kind}.out_proj", f"model.{side}.layers.{i}.{kind}.out_proj", 768, 768)
                p.both(f"{side}.layers.{i}.{kind}_layer_norm", f"model.{side}.layers.{i}.{kind}_layer_norm", 768)
            p.lines(f"{side}.layers.{i}.", f"model.{side}.layers.{i}.", "fc1 fc1 wb 3072 768\nfc2 fc2 wb 768 3072\nfinal_layer_norm final_layer_norm wb 768")
    p.add("decoder.output_projection.weight", "lm_head.weight", [50265, 768])
    p.add(None, "model.shared.weight", [50265, 768])
    return p


def opt(layers: int) -> Pair:
    """metaseq's OPT and transformers'."""
    p = Pair()
    p.lines("decoder.", "model.decoder.", "embed_tokens embed_tokens w 50272 768\nembed_positions embed_positions w 2050 768\nlayer_norm final_layer_norm wb 768")
    for i in range(layers):
        p.lines(f"decoder.layers.{i}.", f"model.decoder.layers.{i}.", """
            self_attn.k_proj self_attn.k_proj wb 768 768
            self_attn.v_proj self_attn.v_proj wb 768 768
            self_attn.q_proj self_attn.q_proj wb 768 768
            self_attn.out_proj self_attn.out_proj wb 768 768
            self_attn_layer_norm self_attn_layer_norm wb 768
            fc1 fc1 wb 3072 768
            fc2 fc2 wb 768 3072
            final_layer_norm final_layer_norm wb 768""")
    return p


def gpt2_original(layers: int, dot: str = ".") -> Pair:
    """OpenAI's own GPT-2 (g, b, w; matrices for the kernels of width one) and the Hub's."""
    p = Pair()
    p.add("model.wte", "wte.weight", [50257, 768])
    p.add("model.wpe", "wpe.weight", [1024, 768])
    def norm(a: str, b: str):
        p.add(a + ".g", b + ".weight", [768])
        p.add(a + ".b", b + ".bias", [768])
    for i in range(layers):
        a, b = f"model.h{i}.", f"h.{i}."
        norm(a + "ln_1", b + "ln_1")
        norm(a + "ln_2", b + "ln_2")
        for name, s in (("attn.c_attn", [768, 2304]), ("attn.c_proj", [768, 768]), ("mlp.c_fc", [768, 3072]), ("mlp.c_proj", [3072, 768])):
            p.add(f"{a}{name}.w", f"{b}{name}.weight", s)
            p.add(f"{a}{name}.b", f"{b}{name}.bias", s[1:])
    norm("model.ln_f", "ln_f")
    return p.renamed(lambda name: name.replace(".", dot))


def gemma(layers: int) -> Pair:
    """Google's own Gemma in PyTorch and transformers'."""
    p = Pair()
    p.lines("", "", "embedder model.embed_tokens w 256000 2048\nmodel.norm model.norm w 2048")
    for i in range(layers):
        p.lines(f"model.layers.{i}.", f"model.layers.{i}.", """
            self_attn.qkv_proj - w 2560 2048
            - self_attn.q_proj w 2048 2048
            - self_attn.k_proj w 256 2048
            - self_attn.v_proj w 256 2048
            self_attn.o_proj self_attn.o_proj w 2048 2048
            mlp.gate_proj mlp.gate_proj w 16384 2048
            mlp.up_proj mlp.up_proj w 16384 2048
            mlp.down_proj mlp.down_proj w 2048 16384
            input_layernorm input_layernorm w 2048
            post_attention_layernorm post_attention_layernorm w 2048""")
    return p


LANGUAGE = {
    "llama, burn": llama_burn(8), "internlm2": internlm(8), "qwen 1": qwen(8), "gpt-neox, sequential": neox_sequential(6), "pythia, litgpt": litgpt(6),
    "falcon, litgpt": falcon(8), "phi-2": phi(8), "roberta": roberta(12), "distilbert": distilbert(6), "bert, tensorflow": bert_tensorflow(12),
    "bert, tensorflow, slashes": bert_tensorflow(12, "/"), "bert, burn": bert_burn(12), "torch encoder, burn": torch_encoder_burn(6), "t5": t5(6),
    "t5, slashes": t5(6, "/"), "rwkv": rwkv(12), "mamba": mamba(24), "bart": bart(6), "opt": opt(12), "gpt2, original": gpt2_original(12),
    "gpt2, original, slashes": gpt2_original(12, "/"), "gemma": gemma(18),
}
