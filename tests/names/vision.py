"""Vision models: the names that their authors gave, and the names that others gave them."""

from pair import Pair


def vit(layers: int, distilled: bool = False) -> Pair:
    """timm's ViT (or DeiT with its second token) and transformers'."""
    p, root = Pair(), "deit" if distilled else "vit"
    p.lines("", f"{root}.", f"""
        cls_token embeddings.cls_token = 1 1 768
        pos_embed embeddings.position_embeddings = 1 {198 if distilled else 197} 768
        patch_embed.proj embeddings.patch_embeddings.projection wb 768 3 16 16
        norm layernorm wb 768""")
    if distilled:
        p.lines("", "", "dist_token deit.embeddings.distillation_token = 1 1 768\nhead cls_classifier wb 1000 768\nhead_dist distillation_classifier wb 1000 768")
    else:
        p.both("head", "classifier", 1000, 768)
    for i in range(layers):
        p.lines(f"blocks.{i}.", f"{root}.encoder.layer.{i}.", """
            norm1 layernorm_before wb 768
            attn.qkv - wb 2304 768
            - attention.attention.query wb 768 768
            - attention.attention.key wb 768 768
            - attention.attention.value wb 768 768
            attn.proj attention.output.dense wb 768 768
            norm2 layernorm_after wb 768
            mlp.fc1 intermediate.dense wb 3072 768
            mlp.fc2 output.dense wb 768 3072""")
    return p


def vit_torchvision(layers: int) -> Pair:
    """torchvision's ViT and timm's."""
    p = Pair()
    p.lines("", "", """
        class_token cls_token = 1 1 768
        conv_proj patch_embed.proj wb 768 3 16 16
        encoder.pos_embedding pos_embed = 1 197 768
        encoder.ln norm wb 768
        heads.head head wb 1000 768""")
    for i in range(layers):
        p.lines(f"encoder.layers.encoder_layer_{i}.", f"blocks.{i}.", """
            ln_1 norm1 wb 768
            self_attention.in_proj_weight attn.qkv.weight = 2304 768
            self_attention.in_proj_bias attn.qkv.bias = 2304
            self_attention.out_proj attn.proj wb 768 768
            ln_2 norm2 wb 768
            mlp.0 mlp.fc1 wb 3072 768
            mlp.3 mlp.fc2 wb 768 3072""")
    return p


def dinov2(layers: int) -> Pair:
    """Meta's DINOv2 and transformers'."""
    p = Pair()
    p.lines("", "", """
        cls_token embeddings.cls_token = 1 1 384
        mask_token embeddings.mask_token = 1 384
        pos_embed embeddings.position_embeddings = 1 1370 384
        patch_embed.proj embeddings.patch_embeddings.projection wb 384 3 14 14
        norm layernorm wb 384""")
    for i in range(layers):
        p.lines(f"blocks.{i}.", f"encoder.layer.{i}.", """
            norm1 norm1 wb 384
            attn.qkv - wb 1152 384
            - attention.attention.query wb 384 384
            - attention.attention.key wb 384 384
            - attention.attention.value wb 384 384
            attn.proj attention.output.dense wb 384 384
            ls1.gamma layer_scale1.lambda1 = 384
            norm2 norm2 wb 384
            mlp.fc1 mlp.fc1 wb 1536 384
            mlp.fc2 mlp.fc2 wb 384 1536
            ls2.gamma layer_scale2.lambda1 = 384""")
    return p


def swin() -> Pair:
    """Microsoft's Swin (tiny) and transformers'."""
    p = Pair()
    p.lines("", "", """
        patch_embed.proj swin.embeddings.patch_embeddings.projection wb 96 3 4 4
        patch_embed.norm swin.embeddings.norm wb 96
        norm swin.layernorm wb 768
        head classifier wb 1000 768""")
    for s, depth in enumerate((2, 2, 6, 2)):
        d = 96 << s
        for i in range(depth):
            p.lines(f"layers.{s}.blocks.{i}.", f"swin.encoder.layers.{s}.blocks.{i}.", f"""
                norm1 layernorm_before wb {d}
                attn.relative_position_bias_table attention.self.relative_position_bias_table = 169 {3 << s}
                attn.relative_position_index attention.self.relative_position_index = 49 49
                attn.qkv - wb {3 * d} {d}
                - attention.self.query wb {d} {d}
                - attention.self.key wb {d} {d}
                - attention.self.value wb {d} {d}
                attn.proj attention.output.dense wb {d} {d}
                norm2 layernorm_after wb {d}
                mlp.fc1 intermediate.dense wb {4 * d} {d}
                mlp.fc2 output.dense wb {d} {4 * d}""")
        if s < 3:
            p.lines(f"layers.{s}.downsample.", f"swin.encoder.layers.{s}.downsample.", f"reduction reduction w {2 * d} {4 * d}\nnorm norm wb {4 * d}")
    return p


def resnet(depths: tuple[int, ...], bottleneck: bool, one, other) -> Pair:
    """Two of the names that ResNets have, as functions of the stage, the block and the layer."""
    p = Pair()
    def layer(where: tuple, out: int, into: int, k: int):
        (a, a_norm), (b, b_norm) = one(*where), other(*where)
        p.add(a + ".weight", b + ".weight", [out, into, k, k])
        p.norm(a_norm, b_norm, out)
    layer(("stem",), 64, 3, 7)
    into = 64
    for s, depth in enumerate(depths):
        w = 64 << s
        out = 4 * w if bottleneck else w
        for i in range(depth):
            if bottleneck:
                layers = [(w, into, 1), (w, w, 3), (out, w, 1)]
            else:
                layers = [(w, into, 3), (w, w, 3)]
            for n, shape in enumerate(layers):
                layer(("block", s, i, n), *shape)
            if i == 0 and into != out:
                layer(("shortcut", s), out, into, 1)
            into = out
    a, b = one("head"), other("head")
    p.both(a, b, 1000, into)
    return p


def torchvision_resnet(kind: str, *at: int):
    match kind:
        case "stem": return "conv1", "bn1"
        case "block": return tuple(f"layer{at[0] + 1}.{at[1]}.{x}{at[2] + 1}" for x in ("conv", "bn"))
        case "shortcut": return tuple(f"layer{at[0] + 1}.0.downsample.{x}" for x in "01")
    return "fc"


def hub_resnet(kind: str, *at: int):
    ends = ".convolution", ".normalization"
    match kind:
        case "stem": return tuple("resnet.embedder.embedder" + x for x in ends)
        case "block": return tuple(f"resnet.encoder.stages.{at[0]}.layers.{at[1]}.layer.{at[2]}{x}" for x in ends)
        case "shortcut": return tuple(f"resnet.encoder.stages.{at[0]}.layers.0.shortcut{x}" for x in ends)
    return "classifier.1"


def zero_based_resnet(kind: str, *at: int):
    match kind:
        case "stem": return "stem.conv", "stem.norm"
        case "block": return tuple(f"stages.{at[0]}.blocks.{at[1]}.{x}{at[2] + 1}" for x in ("conv", "norm"))
        case "shortcut": return f"stages.{at[0]}.blocks.0.shortcut.conv", f"stages.{at[0]}.blocks.0.shortcut.norm"
    return "head"


def detectron_resnet(kind: str, *at: int):
    """Stages are counted from two."""
    match kind:
        case "stem": return "stem.conv1", "stem.conv1.norm"
        case "block": return f"res{at[0] + 2}.{at[1]}.conv{at[2] + 1}", f"res{at[0] + 2}.{at[1]}.conv{at[2] + 1}.norm"
        case "shortcut": return f"res{at[0] + 2}.0.shortcut", f"res{at[0] + 2}.0.shortcut.norm"
    return "linear"


def efficientnet() -> Pair:
    """EfficientNet-B0 of lukemelas and transformers', both with a flat list of blocks."""
    p, b0 = Pair(), "efficientnet."
    def conv(a: str, b: str, *shape: int):
        p.add(a + ".weight", b + ".weight", list(shape))
    conv("_conv_stem", b0 + "embeddings.convolution", 32, 3, 3, 3)
    p.norm("_bn0", b0 + "embeddings.batchnorm", 32)
    block, into = 0, 32
    for expand, out, repeat, k in ((1, 16, 1, 3), (6, 24, 2, 3), (6, 40, 2, 5), (6, 80, 3, 3), (6, 112, 3, 5), (6, 192, 4, 5), (6, 320, 1, 3)):
        for _ in range(repeat):
            a, b, mid = f"_blocks.{block}.", f"{b0}encoder.blocks.{block}.", into * expand
            if expand > 1:
                conv(a + "_expand_conv", b + "expansion.expand_conv", mid, into, 1, 1)
                p.norm(a + "_bn0", b + "expansion.expand_bn", mid)
            conv(a + "_depthwise_conv", b + "depthwise_conv.depthwise_conv", mid, 1, k, k)
            p.norm(a + "_bn1", b + "depthwise_conv.depthwise_norm", mid)
            p.lines(a, b, f"_se_reduce squeeze_excite.reduce wb {into // 4} {mid} 1 1\n_se_expand squeeze_excite.expand wb {mid} {into // 4} 1 1")
            conv(a + "_project_conv", b + "projection.project_conv", out, mid, 1, 1)
            p.norm(a + "_bn2", b + "projection.project_bn", out)
            into, block = out, block + 1
    conv("_conv_head", b0 + "encoder.top_conv", 1280, 320, 1, 1)
    p.norm("_bn1", b0 + "encoder.top_bn", 1280)
    p.both("_fc", "classifier", 1000, 1280)
    return p


def mobilenet() -> Pair:
    """torchvision's MobileNetV2 and burn's."""
    p = Pair()
    def layer(a: str, a_norm: str, b: str, *shape: int):
        p.add(a + ".weight", b + ".conv.weight", list(shape))
        p.norm(a_norm, b + ".norm", shape[0], "gamma", "beta")
    layer("features.0.0", "features.0.1", "features.0", 32, 3, 3, 3)
    into, n = 32, 1
    for expand, out, repeat in ((1, 16, 1), (6, 24, 2), (6, 32, 3), (6, 64, 4), (6, 96, 3), (6, 160, 3), (6, 320, 1)):
        for _ in range(repeat):
            a, b, mid, at = f"features.{n}.conv.", f"features.{n}.", into * expand, 0
            if expand > 1:
                layer(f"{a}0.0", f"{a}0.1", b + "pw", mid, into, 1, 1)
                at = 1
            layer(f"{a}{at}.0", f"{a}{at}.1", b + "dw", mid, 1, 3, 3)
            layer(f"{a}{at + 1}", f"{a}{at + 2}", b + "pw_linear", out, mid, 1, 1)
            into, n = out, n + 1
    layer("features.18.0", "features.18.1", "features.18", 1280, 320, 1, 1)
    p.add("classifier.1.weight", "classifier.weight", [1000, 1280], [1280, 1000])
    p.add("classifier.1.bias", "classifier.bias", [1000])
    return p


VGG16 = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))


def vgg(normed: bool, field=lambda stage, n, flat: f"conv{stage + 1}_{n + 1}", norm=lambda stage, n, flat: f"bn{stage + 1}_{n + 1}") -> Pair:
    """torchvision's VGG-16, a sequence with gaps, and the names of its paper."""
    p, at, into, flat = Pair(), 0, 3, 0
    for stage, widths in enumerate(VGG16):
        for n, out in enumerate(widths):
            p.add(f"features.{at}.weight", field(stage, n, flat) + ".weight", [out, into, 3, 3])
            p.add(f"features.{at}.bias", field(stage, n, flat) + ".bias", [out])
            if normed:
                p.norm(f"features.{at + 1}", norm(stage, n, flat), out)
            at, into, flat = at + (3 if normed else 2), out, flat + 1
        at += 1
    for a, b, out, inp in ((0, 6, 4096, 25088), (3, 7, 4096, 4096), (6, 8, 1000, 4096)):
        p.both(f"classifier.{a}", f"fc{b}", out, inp)
    return p


def alexnet() -> Pair:
    p = Pair()
    for a, b, shape in ((0, 1, [64, 3, 11, 11]), (3, 2, [192, 64, 5, 5]), (6, 3, [384, 192, 3, 3]), (8, 4, [256, 384, 3, 3]), (10, 5, [256, 256, 3, 3])):
        p.add(f"features.{a}.weight", f"conv{b}.weight", shape)
        p.add(f"features.{a}.bias", f"conv{b}.bias", shape[:1])
    for a, b, out, inp in ((1, 1, 4096, 9216), (4, 2, 4096, 4096), (6, 3, 1000, 4096)):
        p.both(f"classifier.{a}", f"fc{b}", out, inp)
    return p


def densenet() -> Pair:
    """torchvision's DenseNet-121 before and after dots in names of modules were forbidden."""
    p, width = Pair(), 64
    def same(name: str, *shape: int):
        p.add(name, name, list(shape))
    same("features.conv0.weight", 64, 3, 7, 7)
    p.norm("features.norm0", "features.norm0", 64)
    for b, depth in enumerate((6, 12, 24, 16), 1):
        for i in range(1, depth + 1):
            root = f"features.denseblock{b}.denselayer{i}."
            p.norm(root + "norm.1", root + "norm1", width)
            p.add(root + "conv.1.weight", root + "conv1.weight", [128, width, 1, 1])
            p.norm(root + "norm.2", root + "norm2", 128)
            p.add(root + "conv.2.weight", root + "conv2.weight", [32, 128, 3, 3])
            width += 32
        if b < 4:
            p.norm(f"features.transition{b}.norm", f"features.transition{b}.norm", width)
            same(f"features.transition{b}.conv.weight", width // 2, width, 1, 1)
            width //= 2
    p.norm("features.norm5", "features.norm5", width)
    p.both("classifier", "classifier", 1000, width)
    return p


def convnext_hub() -> Pair:
    """Facebook's ConvNeXt and transformers'."""
    p = Pair()
    widths, depths = (96, 192, 384, 768), (3, 3, 9, 3)
    p.lines("", "convnext.", "downsample_layers.0.0 embeddings.patch_embeddings wb 96 3 4 4\ndownsample_layers.0.1 embeddings.layernorm wb 96\nnorm layernorm wb 768")
    for s, (w, depth) in enumerate(zip(widths, depths)):
        if s > 0:
            p.lines(f"downsample_layers.{s}.", f"convnext.encoder.stages.{s}.downsampling_layer.", f"0 0 wb {widths[s - 1]}\n1 1 wb {w} {widths[s - 1]} 2 2")
        for i in range(depth):
            p.lines(f"stages.{s}.{i}.", f"convnext.encoder.stages.{s}.layers.{i}.", f"""
                gamma layer_scale_parameter = {w}
                dwconv dwconv wb {w} 1 7 7
                norm layernorm wb {w}
                pwconv1 pwconv1 wb {4 * w} {w}
                pwconv2 pwconv2 wb {w} {4 * w}""")
    p.both("head", "classifier", 1000, 768)
    return p


def clip() -> Pair:
    """OpenAI's CLIP (ViT-B/32) and transformers', both towers."""
    p = Pair()
    p.lines("", "", """
        visual.class_embedding vision_model.embeddings.class_embedding = 768
        visual.positional_embedding vision_model.embeddings.position_embedding.weight = 50 768
        visual.conv1.weight vision_model.embeddings.patch_embedding.weight = 768 3 32 32
        visual.ln_pre vision_model.pre_layrnorm wb 768
        visual.ln_post vision_model.post_layernorm wb 768
        token_embedding text_model.embeddings.token_embedding w 49408 512
        positional_embedding text_model.embeddings.position_embedding.weight = 77 512
        ln_final text_model.final_layer_norm wb 512
        logit_scale logit_scale =""")
    p.add("visual.proj", "visual_projection.weight", [768, 512], [512, 768])
    p.add("text_projection", "text_projection.weight", [512, 512])
    for a, b, d in (("visual.transformer", "vision_model", 768), ("transformer", "text_model", 512)):
        for i in range(12):
            p.lines(f"{a}.resblocks.{i}.", f"{b}.encoder.layers.{i}.", f"""
                attn.in_proj_weight - = {3 * d} {d}
                attn.in_proj_bias - = {3 * d}
                - self_attn.q_proj wb {d} {d}
                - self_attn.k_proj wb {d} {d}
                - self_attn.v_proj wb {d} {d}
                attn.out_proj self_attn.out_proj wb {d} {d}
                ln_1 layer_norm1 wb {d}
                ln_2 layer_norm2 wb {d}
                mlp.c_fc mlp.fc1 wb {4 * d} {d}
                mlp.c_proj mlp.fc2 wb {d} {4 * d}""")
    return p


def detr() -> Pair:
    """Facebook's DETR, with its ResNet left as it is, and transformers'."""
    p = Pair()
    p.lines("", "", """
        input_proj model.input_projection wb 256 2048 1 1
        query_embed model.query_position_embeddings w 100 256
        transformer.decoder.norm model.decoder.layernorm wb 256
        class_embed class_labels_classifier wb 92 256
        bbox_embed.layers.0 bbox_predictor.layers.0 wb 256 256
        bbox_embed.layers.1 bbox_predictor.layers.1 wb 256 256
        bbox_embed.layers.2 bbox_predictor.layers.2 wb 4 256""")
    for side in "encoder", "decoder":
        for i in range(6):
            a, b = f"transformer.{side}.layers.{i}.", f"model.{side}.layers.{i}."
            kinds = [("self_attn", "self_attn")] + ([("multihead_attn", "encoder_attn")] if side == "decoder" else [])
            for n, (x, y) in enumerate(kinds, 1):
                p.lines(a, b, f"""
                    {x}.in_proj_weight - = 768 256
                    {x}.in_proj_bias - = 768
                    - {y}.q_proj wb 256 256
                    - {y}.k_proj wb 256 256
                    - {y}.v_proj wb 256 256
                    {x}.out_proj {y}.out_proj wb 256 256
                    norm{n} {y}_layer_norm wb 256""")
            p.lines(a, b, f"""
                linear1 fc1 wb 2048 256
                linear2 fc2 wb 256 2048
                norm{len(kinds) + 1} final_layer_norm wb 256""")
    for a, _, s, _ in resnet((3, 4, 6, 3), True, torchvision_resnet, torchvision_resnet).rows:
        if a and not a.startswith("fc") and not a.endswith("tracked"):
            p.add("backbone.0.body." + a, "model.backbone.conv_encoder.model." + a, s)
    return p


def sam(layers: int) -> Pair:
    """Segment Anything (ViT-B) and transformers'. The middle layer of each hypernetwork is numbered anew."""
    p = Pair()
    p.lines("", "", """
        image_encoder.patch_embed.proj vision_encoder.patch_embed.projection wb 768 3 16 16
        image_encoder.pos_embed vision_encoder.pos_embed = 1 64 64 768
        image_encoder.neck.0 vision_encoder.neck.conv1 w 256 768 1 1
        image_encoder.neck.1 vision_encoder.neck.layer_norm1 wb 256
        image_encoder.neck.2 vision_encoder.neck.conv2 w 256 256 3 3
        image_encoder.neck.3 vision_encoder.neck.layer_norm2 wb 256
        prompt_encoder.mask_downscaling.0 prompt_encoder.mask_embed.conv1 wb 4 1 2 2
        prompt_encoder.mask_downscaling.1 prompt_encoder.mask_embed.layer_norm1 wb 4
        prompt_encoder.mask_downscaling.3 prompt_encoder.mask_embed.conv2 wb 16 4 2 2
        prompt_encoder.mask_downscaling.4 prompt_encoder.mask_embed.layer_norm2 wb 16
        prompt_encoder.mask_downscaling.6 prompt_encoder.mask_embed.conv3 wb 256 16 1 1
        prompt_encoder.no_mask_embed prompt_encoder.no_mask_embed w 1 256
        prompt_encoder.not_a_point_embed prompt_encoder.not_a_point_embed w 1 256
        mask_decoder.iou_token mask_decoder.iou_token w 1 256
        mask_decoder.mask_tokens mask_decoder.mask_tokens w 4 256
        mask_decoder.output_upscaling.1 mask_decoder.upscale_layer_norm wb 64""")
    p.add("mask_decoder.output_upscaling.0.weight", "mask_decoder.upscale_conv1.weight", [256, 64, 2, 2])
    p.add("mask_decoder.output_upscaling.0.bias", "mask_decoder.upscale_conv1.bias", [64])
    p.add("mask_decoder.output_upscaling.3.weight", "mask_decoder.upscale_conv2.weight", [64, 32, 2, 2])
    p.add("mask_decoder.output_upscaling.3.bias", "mask_decoder.upscale_conv2.bias", [32])
    for n in range(4):
        p.add(f"prompt_encoder.point_embeddings.{n}.weight", f"prompt_encoder.point_embed.{n}.weight", [1, 256])
        p.lines(f"mask_decoder.output_hypernetworks_mlps.{n}.", f"mask_decoder.output_hypernetworks_mlps.{n}.",
                "layers.0 proj_in wb 256 256\nlayers.1 layers.0 wb 256 256\nlayers.2 proj_out wb 32 256")
    for i in range(layers):
        p.lines(f"image_encoder.blocks.{i}.", f"vision_encoder.layers.{i}.", """
            norm1 layer_norm1 wb 768
            attn.rel_pos_h attn.rel_pos_h = 27 64
            attn.rel_pos_w attn.rel_pos_w = 27 64
            attn.qkv attn.qkv wb 2304 768
            attn.proj attn.proj wb 768 768
            norm2 layer_norm2 wb 768
            mlp.lin1 mlp.lin1 wb 3072 768
            mlp.lin2 mlp.lin2 wb 768 3072""")
    for i in range(2):
        a = f"mask_decoder.transformer.layers.{i}."
        for n in range(1, 5):
            p.both(f"{a}norm{n}", f"{a}layer_norm{n}", 256)
        for x, n in (("self_attn", 256), ("cross_attn_token_to_image", 128), ("cross_attn_image_to_token", 128)):
            for q in "qkv":
                p.both(f"{a}{x}.{q}_proj", f"{a}{x}.{q}_proj", n, 256)
            p.both(f"{a}{x}.out_proj", f"{a}{x}.out_proj", 256, n)
        p.both(a + "mlp.lin1", a + "mlp.lin1", 2048, 256)
        p.both(a + "mlp.lin2", a + "mlp.lin2", 256, 2048)
    p.both("mask_decoder.transformer.norm_final_attn", "mask_decoder.transformer.layer_norm_final_attn", 256)
    return p


VISION = {
    "vit, timm and hub": vit(12), "deit": vit(12, True), "vit, torchvision and timm": vit_torchvision(12), "dinov2": dinov2(12), "swin": swin(),
    "resnet50, torchvision and hub": resnet((3, 4, 6, 3), True, torchvision_resnet, hub_resnet),
    "resnet18, torchvision and hub": resnet((2, 2, 2, 2), False, torchvision_resnet, hub_resnet),
    "resnet50, stages from zero": resnet((3, 4, 6, 3), True, torchvision_resnet, zero_based_resnet),
    "resnet18, stages from zero": resnet((2, 2, 2, 2), False, torchvision_resnet, zero_based_resnet),
    "resnet50, detectron": resnet((3, 4, 6, 3), True, torchvision_resnet, detectron_resnet),
    "resnet50, hub and stages from zero": resnet((3, 4, 6, 3), True, hub_resnet, zero_based_resnet),
    "efficientnet": efficientnet(), "mobilenet": mobilenet(), "vgg16": vgg(False), "vgg16, bn": vgg(True),
    "vgg16, list": vgg(True, lambda s, n, flat: f"convs.{flat}", lambda s, n, flat: f"norms.{flat}"),
    "alexnet": alexnet(), "densenet": densenet(), "convnext, hub": convnext_hub(), "clip": clip(), "detr": detr(), "sam": sam(12),
}
