"""Sound, diffusion, wrappers, plain networks, and pairs that look alike and are not."""

from pair import Pair


def hubert(layers: int) -> Pair:
    """fairseq's HuBERT and transformers': wav2vec 2.0 under another name."""
    p, root = Pair(), "hubert."
    for i in range(7):
        p.add(f"feature_extractor.conv_layers.{i}.0.weight", f"{root}feature_extractor.conv_layers.{i}.conv.weight", [512, 1 if i == 0 else 512, 10 if i == 0 else 3 if i < 5 else 2])
    p.lines("", root, """
        feature_extractor.conv_layers.0.2 feature_extractor.conv_layers.0.layer_norm wb 512
        layer_norm feature_projection.layer_norm wb 512
        post_extract_proj feature_projection.projection wb 768 512
        mask_emb masked_spec_embed = 768
        encoder.pos_conv.0.weight_g encoder.pos_conv_embed.conv.weight_g = 1 1 128
        encoder.pos_conv.0.weight_v encoder.pos_conv_embed.conv.weight_v = 768 48 128
        encoder.pos_conv.0.bias encoder.pos_conv_embed.conv.bias = 768
        encoder.layer_norm encoder.layer_norm wb 768""")
    p.add("label_embs_concat", None, [504, 256])
    p.lines("", "", "final_proj - wb 256 768")
    for i in range(layers):
        p.lines(f"encoder.layers.{i}.", f"{root}encoder.layers.{i}.", """
            self_attn.k_proj attention.k_proj wb 768 768
            self_attn.v_proj attention.v_proj wb 768 768
            self_attn.q_proj attention.q_proj wb 768 768
            self_attn.out_proj attention.out_proj wb 768 768
            self_attn_layer_norm layer_norm wb 768
            fc1 feed_forward.intermediate_dense wb 3072 768
            fc2 feed_forward.output_dense wb 768 3072
            final_layer_norm final_layer_norm wb 768""")
    return p


def unet() -> Pair:
    """The UNet of Stable Diffusion 1 and diffusers'."""
    p, t = Pair(), 1280
    def res(a: str, b: str, out: int, into: int):
        p.lines(a, b, f"""
            in_layers.0 norm1 wb {into}
            in_layers.2 conv1 wb {out} {into} 3 3
            emb_layers.1 time_emb_proj wb {out} {t}
            out_layers.0 norm2 wb {out}
            out_layers.3 conv2 wb {out} {out} 3 3""")
        if out != into:
            p.lines(a, b, f"skip_connection conv_shortcut wb {out} {into} 1 1")
    def attention(a: str, b: str, d: int):
        p.lines(a, b, f"norm norm wb {d}\nproj_in proj_in wb {d} {d} 1 1\nproj_out proj_out wb {d} {d} 1 1")
        root = "transformer_blocks.0."
        for n, context in ((1, d), (2, 768)):
            p.lines(a + root, b + root, f"""
                attn{n}.to_q attn{n}.to_q w {d} {d}
                attn{n}.to_k attn{n}.to_k w {d} {context}
                attn{n}.to_v attn{n}.to_v w {d} {context}
                attn{n}.to_out.0 attn{n}.to_out.0 wb {d} {d}""")
        p.lines(a + root, b + root, f"ff.net.0.proj ff.net.0.proj wb {8 * d} {d}\nff.net.2 ff.net.2 wb {d} {4 * d}\nnorm1 norm1 wb {d}\nnorm2 norm2 wb {d}\nnorm3 norm3 wb {d}")
    p.lines("", "", f"""
        time_embed.0 time_embedding.linear_1 wb {t} 320
        time_embed.2 time_embedding.linear_2 wb {t} {t}
        input_blocks.0.0 conv_in wb 320 4 3 3
        out.0 conv_norm_out wb 320
        out.2 conv_out wb 4 320 3 3""")
    widths, into, n, skips = (320, 640, 1280, 1280), 320, 1, [320]
    for s, d in enumerate(widths):
        for j in range(2):
            res(f"input_blocks.{n}.0.", f"down_blocks.{s}.resnets.{j}.", d, into)
            if s < 3:
                attention(f"input_blocks.{n}.1.", f"down_blocks.{s}.attentions.{j}.", d)
            into, n = d, n + 1
            skips.append(d)
        if s < 3:
            p.lines("", "", f"input_blocks.{n}.0.op down_blocks.{s}.downsamplers.0.conv wb {d} {d} 3 3")
            skips.append(d)
            n += 1
    res("middle_block.0.", "mid_block.resnets.0.", 1280, 1280)
    attention("middle_block.1.", "mid_block.attentions.0.", 1280)
    res("middle_block.2.", "mid_block.resnets.1.", 1280, 1280)
    n = 0
    for s, d in enumerate(reversed(widths)):
        for j in range(3):
            res(f"output_blocks.{n}.0.", f"up_blocks.{s}.resnets.{j}.", d, into + skips.pop())
            into = d
            if s > 0:
                attention(f"output_blocks.{n}.1.", f"up_blocks.{s}.attentions.{j}.", d)
            if j == 2 and s < 3:
                p.lines("", "", f"output_blocks.{n}.{1 if s == 0 else 2}.conv up_blocks.{s}.upsamplers.0.conv wb {d} {d} 3 3")
            n += 1
    return p


def plain(rows: str) -> Pair:
    p = Pair()
    p.lines("", "", rows)
    return p


def counted(a: str, b: str, numbers, others, body: str) -> Pair:
    """Items of two lists that count differently; `#` is where they do."""
    p = Pair()
    for i, j in zip(numbers, others):
        p.lines(a.replace("#", str(i)), b.replace("#", str(j)), body)
    return p


BLOCK = "norm norm wb 64\nattn.qkv attn.qkv wb 192 64\nattn.proj attn.proj wb 64 64\nmlp.fc1 mlp.fc1 wb 256 64\nmlp.fc2 mlp.fc2 wb 64 256"

LENET = """
    features.0 conv1 wb 6 1 5 5
    features.3 conv2 wb 16 6 5 5
    classifier.0 fc1 wb 120 400
    classifier.2 fc2 wb 84 120
    classifier.4 fc3 wb 10 84"""
DQN = """
    net.0 conv1 wb 32 4 8 8
    net.2 conv2 wb 64 32 4 4
    net.4 conv3 wb 64 64 3 3
    head.0 value wb 512 3136
    head.2 advantage wb 6 512"""
AUTOENCODER = """
    encoder.0 encoder.linear1 wb 400 784
    encoder.2 encoder.linear2 wb 200 400
    encoder.4 encoder.linear3 wb 20 200
    decoder.0 decoder.linear1 wb 200 20
    decoder.2 decoder.linear2 wb 400 200
    decoder.4 decoder.linear3 wb 784 400"""
DCGAN = """
    main.0 conv1 w 64 3 4 4
    main.2 conv2 w 128 64 4 4
    main.3 bn2 n 128
    main.5 conv3 w 256 128 4 4
    main.6 bn3 n 256
    main.8 conv4 w 512 256 4 4
    main.9 bn4 n 512
    main.11 conv5 w 1 512 4 4"""
MLP = """
    net.0 layers.0 wb 128 784
    net.2 layers.1 wb 64 128
    net.4 layers.2 wb 10 64"""
EQUAL_MLP = """
    net.0 net.0 wb 64 64
    net.2 net.1 wb 64 64
    net.4 net.2 wb 64 64"""
LSTM = """
    embedding embed w 5000 64
    lstm.weight_ih_l0 rnn.weight_ih_l0 = 512 64
    lstm.weight_hh_l0 rnn.weight_hh_l0 = 512 128
    lstm.bias_ih_l0 rnn.bias_ih_l0 = 512
    lstm.bias_hh_l0 rnn.bias_hh_l0 = 512
    lstm.weight_ih_l1 rnn.weight_ih_l1 = 512 128
    lstm.weight_hh_l1 rnn.weight_hh_l1 = 512 128
    lstm.bias_ih_l1 rnn.bias_ih_l1 = 512
    lstm.bias_hh_l1 rnn.bias_hh_l1 = 512
    fc decoder wb 5000 128"""


def two_of_one(a: str, b: str) -> Pair:
    """Two copies of a network, of which the other side has one: nobody can tell which."""
    p = Pair()
    for name, shape in (("conv.weight", [8, 3, 3, 3]), ("conv.bias", [8]), ("fc.weight", [10, 8]), ("fc.bias", [10])):
        p.add(a + name, None, shape)
        p.add(b + name, None, shape)
        p.add(None, name, shape)
    return p


def strangers() -> Pair:
    """Projections of one shape under names that say nothing."""
    p = Pair()
    for i in range(4):
        for name in "alpha", "bravo", "charlie", "delta":
            p.add(f"layers.{i}.attn.{name}.weight", None, [64, 64])
        for name in "one", "two", "three", "four":
            p.add(None, f"layers.{i}.attn.{name}.weight", [64, 64])
        p.add(f"layers.{i}.mlp.fc1.weight", f"layers.{i}.mlp.fc1.weight", [256, 64])
    return p


OTHERS = {
    "hubert": hubert(12), "unet, ldm and diffusers": unet(),
    "unet, in a checkpoint": unet().renamed(lambda name: "model.diffusion_model." + name),
    "lenet": plain(LENET), "dqn": plain(DQN), "autoencoder": plain(AUTOENCODER), "dcgan": plain(DCGAN), "mlp": plain(MLP), "mlp of one width": plain(EQUAL_MLP), "lstm": plain(LSTM),
    "blocks from one": counted("blocks.#.", "blocks.#.", range(1, 13), range(12), BLOCK), "layers from one": counted("layer#.", "layers.#.", range(1, 5), range(4), BLOCK),
    "stages from zero": counted("layer#.", "layer#.", range(4), range(1, 5), BLOCK),
    "a stem before": counted("net.#.", "blocks.#.", range(1, 5), range(4), BLOCK).joined(plain("net.0 stem wb 64 3 4 4\nnet.5 norm wb 64\nnet.6 head wb 10 64")),
    "two of one": two_of_one("model.", "ema_model."), "encoders of moco": two_of_one("module.encoder_q.", "module.encoder_k."), "student, teacher": two_of_one("student.", "teacher."),
    "strangers": strangers(),
}
