#!/usr/bin/python3
"""Carries modules of random kinds, sizes, types and strides from PyTorch to burn and back.

Usage: random_modules.py CKPT [SEED]    (status 77 where PyTorch is missing)

The rows of scripts/module_testdata.py say what burn must get; PyTorch cuts and transposes. What comes back must be
what went in, byte for byte, except the counters of batches, which burn does not keep.
"""

import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent.parent / "scripts")]

try:
    import torch

    import module_testdata as table
    import random_models
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

CASES = 20
SIZES = [0, 1, 1, 2, 3, 4, 4, 5, 7, 8, 13, 16]
DTYPES = [torch.float32, torch.float32, torch.float16, torch.bfloat16, torch.float64]


def strided(dice: random.Random, tensor: torch.Tensor) -> torch.Tensor:
    """The same numbers, lying otherwise: the dimensions in another order, with gaps, after an offset."""
    if tensor.dim() == 0 or dice.random() < 0.4:
        return tensor
    order = dice.sample(range(tensor.dim()), tensor.dim())
    back = [order.index(i) for i in range(tensor.dim())]
    lying = tensor.permute(order).contiguous()
    if dice.random() < 0.5 and tensor.numel() > 0:
        wide = torch.zeros([2 * size + 1 for size in lying.shape], dtype=tensor.dtype)
        view = wide[tuple(slice(1, None, 2) for _ in lying.shape)]
        view.copy_(lying)
        lying = view
    return lying.permute(back)


def random_module(dice: random.Random):
    """Parameters of one module, the kind to say, and the rows of the table."""
    a, b, c = (dice.choice(SIZES) for _ in range(3))
    # A dimension without elements leaves no gates to count, so kinds are said throughout.
    choices = [
        ("Linear", {"weight": (a, b), "bias": (a,)}, table.linear("", "")),
        ("Embedding", {"weight": (a, b)}, table.COPIED[:1]),
        ("Conv1D", {"weight": (a, b), "bias": (b,)}, table.COPIED),
        ("Conv", {"weight": (a, b, c), "bias": (a,)}, table.COPIED),
        ("LayerNorm", {"weight": (a,), "bias": (a,)}, table.norm("", "")),
        ("BatchNorm", {"weight": (a,), "bias": (a,), "running_mean": (a,), "running_var": (a,)},
         table.norm("", "") + table.STATISTICS),
        ("PRelu", {"weight": (a,)}, [("weight", "alpha", "copy")]),
        ("MultiheadAttention", {"in_proj_weight": (3 * a, a), "in_proj_bias": (3 * a,), "out_proj.weight": (a, a),
                                "out_proj.bias": (a,)}, table.attention("", "")),
    ]
    for kind, gates in (("LSTM", table.LSTM_GATES), ("GRU", table.GRU_GATES), ("RNN", ("gate",))):
        for suffixes, rows in ((("_l0",), table.recurrent(gates, "_l0")),
                               (("_l0", "_l0_reverse"), table.both_ways(gates))):
            shapes = {}
            for suffix in suffixes:
                shapes.update({f"weight_ih{suffix}": (len(gates) * a, b), f"weight_hh{suffix}": (len(gates) * a, a)})
                if c % 2:
                    shapes.update({f"bias_ih{suffix}": (len(gates) * a,), f"bias_hh{suffix}": (len(gates) * a,)})
            choices.append((kind, shapes, rows))
    encoder = {"self_attn.in_proj_weight": (3 * a, a), "self_attn.in_proj_bias": (3 * a,),
               "self_attn.out_proj.weight": (a, a), "self_attn.out_proj.bias": (a,), "linear1.weight": (b, a),
               "linear1.bias": (b,), "linear2.weight": (a, b), "linear2.bias": (a,),
               **{f"norm{i}.{leaf}": (a,) for i in (1, 2) for leaf in ("weight", "bias")}}
    choices.append(("TransformerEncoderLayer", encoder, table.layer(table.ENCODER, [(1, 1), (2, 2)])))
    choices.append(("TransformerEncoderLayer(norm_first)", encoder, table.layer(table.ENCODER, [(1, 2), (2, 1)])))
    return dice.choice(choices)


def check_case(seed: int, root: Path) -> int:
    dice = random.Random(seed)
    state: dict = {}
    burn: dict = {}
    kinds = ""
    for index in range(dice.randint(1, 8)):
        kind, shapes, rows = random_module(dice)
        dtype = dice.choice(DTYPES)
        generator = torch.Generator().manual_seed(dice.getrandbits(32))
        kinds += f"^blocks\\.{index}$ => {kind}\n"
        tensors = {name: torch.randint(-500, 500, shape, generator=generator).to(dtype) / 4
                   for name, shape in shapes.items()}
        for source, target, operation in rows:
            if source in tensors:
                burn[f"blocks.{index}.{target}"] = table.apply(operation, tensors[source])
        state.update({f"blocks.{index}.{name}": strided(dice, tensor) for name, tensor in tensors.items()})
    torch.save(state, root / "in.pt")
    (root / "kinds").write_text(kinds)

    def convert(*arguments):
        subprocess.run([sys.argv[1], "convert", "--quiet", "--force", *map(str, arguments)], check=True)

    def rows_of(tensors):
        return random_models.by_name(random_models.as_torch_says(tensors))

    convert(root / "in.pt", root / "out.bpk", "--modules", root / "kinds", "--verify")
    assert random_models.by_name(random_models.burnpack_content(root / "out.bpk")) == rows_of(burn), f"seed {seed}: to burn"
    convert(root / "out.bpk", root / "back.pt")
    assert rows_of(torch.load(root / "back.pt")) == rows_of(state), f"seed {seed}: and back"
    return len(state)


def main() -> int:
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    count = 0
    with tempfile.TemporaryDirectory(prefix="ckpt-modules-") as folder:
        for seed in range(first, first + CASES):
            count += check_case(seed, Path(folder))
    print(f"{CASES} models of {count} tensors came back as they were")
    return 0


if __name__ == "__main__":
    sys.exit(main())
