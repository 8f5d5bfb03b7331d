"""Every kind of module that both PyTorch and burn have, as PyTorch saves it and as burn keeps it.

The table below says for each parameter of PyTorch's where it stands in burn's record and what becomes of it; it was
made by hand from torch.nn and burn-nn. The modules are PyTorch's own, and the tensors that burn must get are made
by PyTorch's chunk and transpose, row by row of the table.
"""

from __future__ import annotations

TRANSPOSED = "transpose"
LSTM_GATES = ("input_gate", "forget_gate", "cell_gate", "output_gate")
GRU_GATES = ("reset_gate", "update_gate", "new_gate")


def linear(torch_path: str, burn_path: str) -> list:
    return [(f"{torch_path}weight", f"{burn_path}weight", TRANSPOSED), (f"{torch_path}bias", f"{burn_path}bias", "copy")]


def norm(torch_path: str, burn_path: str) -> list:
    return [(f"{torch_path}weight", f"{burn_path}gamma", "copy"), (f"{torch_path}bias", f"{burn_path}beta", "copy")]


def attention(torch_path: str, burn_path: str, is_fused: bool = True) -> list:
    rows = []
    for part, name in enumerate(("query", "key", "value")):
        if is_fused:
            rows.append((f"{torch_path}in_proj_weight", f"{burn_path}{name}.weight", f"rows({part}/3)+{TRANSPOSED}"))
        else:
            rows.append((f"{torch_path}{name[0]}_proj_weight", f"{burn_path}{name}.weight", TRANSPOSED))
        rows.append((f"{torch_path}in_proj_bias", f"{burn_path}{name}.bias", f"rows({part}/3)"))
    return rows + linear(f"{torch_path}out_proj.", f"{burn_path}output.")


def recurrent(gates: tuple, suffix: str, burn_path: str = "") -> list:
    rows = []
    for source, transform in (("ih", "input_transform"), ("hh", "hidden_transform")):
        for part, gate in enumerate(gates):
            cut = [f"rows({part}/{len(gates)})"] if len(gates) > 1 else []
            rows.append((f"weight_{source}{suffix}", f"{burn_path}{gate}.{transform}.weight",
                         "+".join([*cut, TRANSPOSED])))
            rows.append((f"bias_{source}{suffix}", f"{burn_path}{gate}.{transform}.bias", "+".join(cut) or "copy"))
    return rows


def both_ways(gates: tuple) -> list:
    return recurrent(gates, "_l0", "forward.") + recurrent(gates, "_l0_reverse", "reverse.")


def layer(attentions: list, norms: list) -> list:
    rows = [row for pair in attentions for row in attention(*pair)]
    rows += linear("linear1.", "pwff.linear_inner.") + linear("linear2.", "pwff.linear_outer.")
    return rows + [row for torch_norm, burn_norm in norms for row in norm(f"norm{torch_norm}.", f"norm_{burn_norm}.")]


COPIED = [("weight", "weight", "copy"), ("bias", "bias", "copy")]
STATISTICS = [("running_mean", "running_mean", "copy"), ("running_var", "running_var", "copy")]
COUNTER = [("num_batches_tracked", "", "drop")]
ENCODER = [("self_attn.", "mha.")]
DECODER = [("self_attn.", "self_attn."), ("multihead_attn.", "cross_attn.")]


def modules():
    """(name, module of PyTorch's, kind that must be said or None, rows of the table)."""
    from torch import nn

    def bare(**shapes):  # modules that this PyTorch lacks: their parameters only
        import torch

        module = nn.Module()
        for name, shape in shapes.items():
            module.register_parameter(name, nn.Parameter(torch.zeros(shape)))
        return module

    batch_norm = norm("", "") + STATISTICS + COUNTER
    yield "linear", nn.Linear(3, 5), None, linear("", "")
    yield "linear_square", nn.Linear(4, 4), "Linear", linear("", "")
    yield "linear_without_bias", nn.Linear(3, 5, bias=False), "Linear", linear("", "")[:1]
    yield "embedding", nn.Embedding(5, 3), "Embedding", COPIED[:1]
    yield "embedding_bag", nn.EmbeddingBag(5, 3), "Embedding", COPIED[:1]
    yield "conv1d", nn.Conv1d(4, 6, 3, groups=2), None, COPIED
    yield "conv2d", nn.Conv2d(2, 3, (3, 2)), None, COPIED
    yield "conv3d", nn.Conv3d(2, 3, (1, 2, 3)), None, COPIED
    yield "conv_transpose1d", nn.ConvTranspose1d(4, 6, 3, groups=2), None, COPIED
    yield "conv_transpose2d", nn.ConvTranspose2d(2, 3, (3, 2)), None, COPIED
    yield "conv_transpose3d", nn.ConvTranspose3d(2, 3, (1, 2, 3)), None, COPIED
    yield "deform_conv2d", bare(weight=(3, 2, 3, 2), bias=(3,)), None, COPIED  # torchvision's
    yield "batch_norm1d", nn.BatchNorm1d(3), None, batch_norm
    yield "batch_norm2d", nn.BatchNorm2d(3), None, batch_norm
    yield "batch_norm3d", nn.BatchNorm3d(3), None, batch_norm
    yield "sync_batch_norm", nn.SyncBatchNorm(3), None, batch_norm
    yield "batch_norm_not_affine", nn.BatchNorm2d(3, affine=False), None, STATISTICS + COUNTER
    yield "layer_norm", nn.LayerNorm(5), None, norm("", "")
    yield "group_norm", nn.GroupNorm(2, 4), None, norm("", "")
    yield "instance_norm1d", nn.InstanceNorm1d(3, affine=True), None, norm("", "")
    yield "instance_norm2d", nn.InstanceNorm2d(3, affine=True), None, norm("", "")
    yield "instance_norm3d", nn.InstanceNorm3d(3, affine=True), None, norm("", "")
    yield ("instance_norm_tracking", nn.InstanceNorm2d(3, affine=True, track_running_stats=True), "InstanceNorm",
           norm("", "") + [(name, "", "drop") for name in ("running_mean", "running_var", "num_batches_tracked")])
    yield "rms_norm", bare(weight=(5,)), "RmsNorm", norm("", "")[:1]  # PyTorch 2.4
    yield "prelu", nn.PReLU(3), "PRelu", [("weight", "alpha", "copy")]
    yield "lstm", nn.LSTM(3, 2), None, recurrent(LSTM_GATES, "_l0")
    yield "lstm_both_ways", nn.LSTM(3, 2, bidirectional=True), None, both_ways(LSTM_GATES)
    yield "lstm_cell", nn.LSTMCell(3, 2), "LSTMCell", recurrent(LSTM_GATES, "")
    yield "gru", nn.GRU(3, 2), None, recurrent(GRU_GATES, "_l0")
    yield "gru_both_ways", nn.GRU(3, 2, bidirectional=True), None, both_ways(GRU_GATES)
    yield "gru_cell", nn.GRUCell(3, 2), "GRUCell", recurrent(GRU_GATES, "")
    yield "rnn", nn.RNN(3, 2), None, recurrent(("gate",), "_l0")
    yield "rnn_both_ways", nn.RNN(3, 2, bidirectional=True), None, both_ways(("gate",))
    yield "rnn_cell", nn.RNNCell(3, 2), "RNNCell", recurrent(("gate",), "")
    yield "attention", nn.MultiheadAttention(4, 2), None, attention("", "")
    yield "cross_attention", nn.MultiheadAttention(4, 2, kdim=3, vdim=3), None, attention("", "", is_fused=False)
    for is_first in (False, True):
        order = "_norm_first" if is_first else ""
        suffix = "(norm_first)" if is_first else ""
        options = {"dim_feedforward": 6, "norm_first": is_first}
        yield (f"encoder_layer{order}", nn.TransformerEncoderLayer(4, 2, **options), "TransformerEncoderLayer" + suffix,
               layer(ENCODER, [(1, 2), (2, 1)] if is_first else [(1, 1), (2, 2)]))
        yield (f"decoder_layer{order}", nn.TransformerDecoderLayer(4, 2, **options), "TransformerDecoderLayer" + suffix,
               layer(DECODER, [(1, 3), (2, 1), (3, 2)] if is_first else [(1, 1), (2, 2), (3, 3)]))


def apply(operation: str, tensor):
    """What a row does, by PyTorch."""
    for step in operation.split("+"):
        if step.startswith("rows("):
            part, parts = map(int, step[5:-1].split("/"))
            tensor = tensor.chunk(parts, 0)[part]
        elif step == TRANSPOSED:
            tensor = tensor.t()
    return tensor.contiguous()


def made(fill_module):
    """The state dict, burn's tensors, the lines of --modules and the table as text."""
    state: dict = {}
    burn: dict = {}
    kinds: list = []
    table = ["module\ttorch_class\ttorch_param\tburn_param\toperation"]
    for number, (name, module, kind, rows) in enumerate(modules()):
        tensors = fill_module(module, 1 + 7 * number).state_dict()
        rows = [row for row in rows if row[0] in tensors]
        assert {row[0] for row in rows} == set(tensors), name
        state.update({f"{name}.{key}": tensor for key, tensor in tensors.items()})
        for source, target, operation in rows:
            table.append(f"{name}\t{type(module).__name__}\t{source}\t{target or '-'}\t{operation}")
            if target:
                burn[f"{name}.{target}"] = apply(operation, tensors[source])
        if kind:
            kinds.append(f"^{name}$ => {kind}\n")
    return state, burn, "".join(kinds), "\n".join(table) + "\n"
