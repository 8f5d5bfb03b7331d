#!/usr/bin/python3
"""Makes the files of testdata/ with PyTorch, NumPy and cbor2, and says what a reader must find in them.

    make_testdata.py            writes testdata/ and its SHA256SUMS
    make_testdata.py --check    makes everything again elsewhere and compares
    make_testdata.py --sums     only compares testdata/ with its SHA256SUMS (needs no PyTorch)

Beside each PyTorch file stands a .json: name, type, shape and the SHA-256 of the contiguous
little-endian bytes of every tensor, as PyTorch itself computes them.
"""

import argparse
import gzip
import hashlib
import json
import math
import struct
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import module_testdata  # noqa: E402

TESTDATA = Path(__file__).resolve().parent.parent / "testdata"
SIZE_LIMIT = 64 * 1024
NOT_LISTED = {"SHA256SUMS", "README.md"}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# --- PyTorch -----------------------------------------------------------------------------------


def fill(shape, start=0, scale=0.125):
    """A float tensor counting up from `start`, in steps that F32, F16 and BF16 hold exactly."""
    import torch

    return (torch.arange(start, start + math.prod(shape), dtype=torch.float32) * scale).reshape(shape)


def fill_module(module, start=1):
    """Gives every parameter and buffer of a module values of its own."""
    import torch

    with torch.no_grad():
        for tensor in module.state_dict().values():
            values = fill(tensor.shape, start)
            tensor.copy_(values if tensor.is_floating_point() else torch.tensor(start))
            start += 3
    return module


def net():
    """A tiny model whose names say what its parts are."""
    from collections import OrderedDict
    from torch import nn

    return fill_module(nn.Sequential(OrderedDict(
        tok_emb=nn.Embedding(12, 6),
        encoder=nn.Linear(6, 8),
        norm=nn.LayerNorm(8),
        conv=nn.Conv2d(2, 3, 3),
        bn=nn.BatchNorm1d(8),
        fc=nn.Linear(8, 4),
    )))


def plain(module):
    """The state dict without PyTorch's attributes, as most training scripts nest it."""
    return dict(module.state_dict())


def tied():
    weight = fill((10, 4))
    return {"tok_emb.weight": weight, "decoder.weight": weight, "decoder.bias": fill((10,), 100)}


def views():
    import torch

    base = fill((6, 8))
    cube = fill((2, 3, 4), 200)
    return {
        "whole": base,
        "transposed": base.t(),
        "sliced": base[2:5, 1:4],
        "row": base[3],
        "stepped": base[::2, ::3],
        "expanded": fill((1, 4), 300).expand(5, 4),
        "permuted": cube.permute(2, 0, 1),
        "channels_last": fill((2, 3, 2, 2), 400).to(memory_format=torch.channels_last),
        "scalar": base[1, 1],
        "empty": base[:0],
    }


def nested():
    import torch

    model = fill_module(torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.LayerNorm(2)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    for start, parameter in enumerate(model.parameters()):
        parameter.grad = fill(parameter.shape, start + 1)
    optimizer.step()
    fill_module(model)
    # What a step computes depends on the machine's arithmetic; the state's shape does not.
    for state in optimizer.state.values():
        state["exp_avg"].copy_(fill(state["exp_avg"].shape, 10))
        state["exp_avg_sq"].copy_(fill(state["exp_avg_sq"].shape, 20))
    return {"epoch": 3, "model": {"net": plain(model)}, "optimizer": optimizer.state_dict()}


def training():
    """A checkpoint in the midst of training: model, AdamW with two groups, a scheduler."""
    import torch
    from collections import OrderedDict
    from torch import nn

    model = fill_module(nn.Sequential(OrderedDict(fc=nn.Linear(4, 3), norm=nn.LayerNorm(3), head=nn.Linear(3, 2))))
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW([{"params": [p for p in parameters if p.dim() > 1]},
                                   {"params": [p for p in parameters if p.dim() == 1], "weight_decay": 0.0}], lr=0.01)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10, 0.001)
    for parameter in parameters:
        parameter.grad = fill(parameter.shape, 1)
    for _ in range(3):
        optimizer.step()
        scheduler.step()
    fill_module(model)
    for start, parameter in enumerate(parameters):
        optimizer.state[parameter]["exp_avg"].copy_(fill(parameter.shape, 10 * start + 1))
        optimizer.state[parameter]["exp_avg_sq"].copy_(fill(parameter.shape, 10 * start + 2))
    return {"epoch": 3, "model": plain(model), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}


def settings():
    """Two steps of Adam with settings of every kind: rates that differ, some as tensors, and what JSON lacks."""
    import torch
    from collections import OrderedDict
    from torch import nn

    model = fill_module(nn.Sequential(OrderedDict(fc=nn.Linear(2, 2), head=nn.Linear(2, 2))))
    optimizer = torch.optim.Adam([{"params": model.fc.parameters(), "lr": 0.25},
                                  {"params": model.head.parameters(), "lr": 0.5}])
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    for _ in range(2):
        for parameter in model.parameters():
            parameter.grad = fill(parameter.shape, 1)
        optimizer.step()
        scheduler.step()
    state, schedule = optimizer.state_dict(), scheduler.state_dict()
    for start, moments in state["state"].items():
        moments["exp_avg"].copy_(fill(moments["exp_avg"].shape, 10 * start + 1))
        moments["exp_avg_sq"].copy_(fill(moments["exp_avg"].shape, 10 * start + 2))
    first, second = state["param_groups"]
    first["weight_decay"] = torch.tensor(0.125, dtype=torch.float64)
    first |= {"max_norm": math.inf, "lowest": math.nan, "seed": -(2**70), "cast": torch.float16, "pair": [1, 2]}
    second["lr"], schedule["base_lrs"][1] = torch.tensor(second["lr"]), torch.tensor(0.5)
    return {"model": plain(fill_module(model)), "optimizer": state, "scheduler": schedule}


def all_dtypes():
    import torch

    numbers = [-2.0, -0.5, 0.0, 1.5, 3.0, 96.0]
    tensors = {str(d).split(".")[1]: torch.tensor(numbers, dtype=d)
               for d in (torch.float64, torch.float32, torch.float16, torch.bfloat16)}
    tensors["special"] = torch.tensor([math.inf, -math.inf, math.nan, -0.0])
    for dtype in (torch.int64, torch.int32, torch.int16, torch.int8):
        low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
        tensors[str(dtype).split(".")[1]] = torch.tensor([low, -1, 0, 1, high], dtype=dtype)
    tensors["uint8"] = torch.tensor([0, 1, 128, 255], dtype=torch.uint8)
    tensors["bool"] = torch.tensor([True, False, True])
    tensors["complex64"] = torch.tensor([1 + 2j, -0.5j], dtype=torch.complex64)
    tensors["complex128"] = torch.tensor([1 + 2j, -0.5j], dtype=torch.complex128)
    return tensors


def two_roots():
    import torch

    return {
        "state_dict": plain(fill_module(torch.nn.Sequential(torch.nn.Linear(4, 3)))),
        "state_dict_ema": plain(fill_module(torch.nn.Sequential(torch.nn.Linear(4, 3)), start=50)),
        "global_step": 7,
    }


def gpt2():
    """The names and layout of GPT-2: its Conv1D holds [in, out], other than Linear."""
    shapes = {
        "wte.weight": (16, 8), "wpe.weight": (12, 8),
        "h.0.ln_1.weight": (8,), "h.0.ln_1.bias": (8,),
        "h.0.attn.c_attn.weight": (8, 24), "h.0.attn.c_attn.bias": (24,),
        "h.0.attn.c_proj.weight": (8, 8), "h.0.attn.c_proj.bias": (8,),
        "h.0.ln_2.weight": (8,), "h.0.ln_2.bias": (8,),
        "h.0.mlp.c_fc.weight": (8, 32), "h.0.mlp.c_fc.bias": (32,),
        "h.0.mlp.c_proj.weight": (32, 8), "h.0.mlp.c_proj.bias": (8,),
        "ln_f.weight": (8,), "ln_f.bias": (8,),
    }
    return {name: fill(shape, start) for start, (name, shape) in enumerate(shapes.items())}


def whole_model():
    """A module, not a state dict; `mask` is a buffer that its state dict leaves out."""
    from torch import nn

    model = nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 4), nn.LayerNorm(4), nn.BatchNorm1d(4))
    model[1].register_buffer("mask", fill((4,)), persistent=False)
    return fill_module(model)


def tensors_of(value, path=""):
    """(dotted path, tensor) of everything in a checkpoint, in its order."""
    import torch

    if isinstance(value, torch.nn.Module):
        value = value.state_dict()
    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from tensors_of(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from tensors_of(item, f"{path}.{index}" if path else str(index))


DTYPES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "int32": "I32",
    "int16": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL", "complex64": "C64", "complex128": "C128",
}


def contiguous_bytes(tensor) -> bytes:
    import torch

    tensor = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16:  # NumPy has no such type; the bits are what counts
        tensor = tensor.view(torch.int16)
    array = tensor.numpy()
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def expected(value) -> bytes:
    """The .json beside a PyTorch file: one tensor a line."""
    rows = []
    for name, tensor in tensors_of(value):
        data = contiguous_bytes(tensor)
        rows.append(json.dumps({
            "name": name, "dtype": DTYPES[str(tensor.dtype).split(".")[1]], "shape": list(tensor.shape),
            "bytes": len(data), "sha256": sha256(data),
        }))
    return ('{"tensors": [\n' + ",\n".join(rows) + "\n]}\n").encode()


def pytorch_files(root: Path):
    import torch

    for name, make, zipped in [
        ("net", lambda: net().state_dict(), True),
        ("tied", tied, True),
        ("views", views, True),
        ("nested", nested, True),
        ("training", training, True),
        ("settings", settings, True),
        ("all_dtypes", all_dtypes, True),
        ("two_roots", two_roots, True),
        ("gpt2", gpt2, True),
        ("legacy", lambda: net().state_dict(), False),
        ("whole_model", whole_model, True),
    ]:
        value = make()
        torch.save(value, root / "pytorch" / f"{name}.pt", _use_new_zipfile_serialization=zipped)
        (root / "pytorch" / f"{name}.json").write_bytes(expected(value))


# --- safetensors, burnpack, rules --------------------------------------------------------------


def safetensors(tensors: dict, metadata: dict | None = None) -> bytes:
    """A safetensors file of {name: (dtype, shape, bytes)}, its data in that order."""
    header, end = {}, 0
    if metadata:
        header["__metadata__"] = metadata
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + len(data)]}
        end += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data in tensors.values())


def burnpack(tensors: dict, metadata: dict | None = None, counts: dict | None = None) -> bytes:
    """A burnpack of {name: (dtype, shape, bytes, param id)}: header, CBOR, data aligned to 256 bytes; `counts`
    are scalars of the kind UInt."""
    import cbor2

    data, descriptors = b"", {}
    for name, (dtype, shape, content, param_id) in tensors.items():
        data += bytes(-len(data) % 256)
        descriptors[name] = {"dtype": dtype, "shape": shape,
                             "data_offsets": [len(data), len(data) + len(content)], "param_id": param_id}
        data += content
    content = {"tensors": dict(sorted(descriptors.items()))}
    if metadata:
        content["metadata"] = dict(sorted(metadata.items()))
    if counts:
        content["scalars"] = {name: {"UInt": count} for name, count in sorted(counts.items())}
    text = cbor2.dumps(content)
    head = struct.pack("<IHI", 0x4255524E, 1, len(text)) + text
    return head + bytes(-len(head) % 256) + data


REBUILT = {101: "fc.weight", 102: "fc.bias", 103: "head.weight", 104: "head.bias"}


def rebuilt_model() -> bytes:
    """A model whose four parameters got new ids when they were rebuilt."""
    return burnpack({name: ("F32", [2, 2], f32(*range(param_id, param_id + 4)), param_id)
                     for param_id, name in REBUILT.items()})


def record_with_orphans() -> bytes:
    """Adam's record of that model, which also holds the state of the four parameters that were there before."""
    tensors, paths, counts = {}, {}, {}
    for first, time in ((1, 5), (101, 10)):
        for param_id, name in zip(range(first, first + 4), REBUILT.values()):
            for moment in (1, 2):
                values = f32(*(param_id + moment / 8 + i for i in range(4)))
                tensors[f"{param_id}.momentum.moment_{moment}"] = ("F32", [2, 2], values, param_id)
            counts[f"{param_id}.__rank"] = 2
            counts[f"{param_id}.momentum.time"] = time
            paths[str(param_id)] = name
    return burnpack(tensors, paths, counts)


def msgpack(value) -> bytes:
    """The few kinds of MessagePack that a small record of burn before 0.22 has."""
    if value is None:
        return b"\xc0"
    if isinstance(value, int):
        return bytes([value])
    if isinstance(value, str):
        text = value.encode()
        return (bytes([0xA0 | len(text)]) if len(text) < 32 else bytes([0xD9, len(text)])) + text
    if isinstance(value, bytes):
        return bytes([0xC4, len(value)]) + value
    if isinstance(value, list):
        return bytes([0x90 | len(value)]) + b"".join(map(msgpack, value))
    return bytes([0x80 | len(value)]) + b"".join(msgpack(k) + msgpack(v) for k, v in value.items())


def record(recorder: str, encode) -> dict:
    """A record as burn 0.16 saved it; `encode` gives the form that bytes have in it."""
    def parameter(param_id, shape, data):
        return {"id": param_id, "param": {"bytes": encode(data), "shape": shape, "dtype": "F32"}}

    return {
        "metadata": {"float": "f32", "int": "i32", "format": f"burn_core::record::file::{recorder}",
                     "version": "0.16.1", "settings": "FullPrecisionSettings"},
        "item": {
            "fc": {"weight": parameter("avq43klip2pc6", [4, 3], transposed(3, 4)),
                   "bias": parameter("edntuk51pn2co", [3], f32(1, 2, 3)), "kind": None},
            "head": {"weight": parameter("22h48qbgpqs2o", [3, 2], transposed(2, 3)), "bias": None},
        },
    }


def f32(*values) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def transposed(rows: int, columns: int) -> bytes:
    """0, 1, 2, … as a [rows, columns] matrix, transposed."""
    return f32(*(row * columns + column for column in range(columns) for row in range(rows)))


def llama_names():
    """The tensors of a 30-layer model of the Llama family, in the order of such files."""
    layer = ["input_layernorm", "mlp.down_proj", "mlp.gate_proj", "mlp.up_proj", "post_attention_layernorm",
             "self_attn.k_proj", "self_attn.o_proj", "self_attn.q_proj", "self_attn.v_proj"]
    yield from ("model.embed_tokens.weight", "model.norm.weight")
    yield from (f"model.layers.{n}.{part}.weight" for n in range(30) for part in layer)


NET_RULES = """\
# From the names of the PyTorch model to the fields of the burn module.
^tok_emb\\. => embedding.
^encoder\\. => hidden.
^(norm|bn)\\. => hidden_${1}.
^fc\\. => head.
"""

LLAMA_RULES = "".join(f"{line}\n" for line in (
    "# From the names of Llama files to shorter ones; an empty replacement deletes the match.",
    r"^model\. => ",
    r"\.self_attn\. => .attn.",
    r"_layernorm\.weight$ => _norm.gamma",
))


def other_files(root: Path) -> None:
    (root / "safetensors" / "linear.safetensors").write_bytes(safetensors({
        "fc.weight": ("F32", [3, 4], f32(*range(12))),
        "fc.bias": ("F32", [3], f32(1, 2, 3)),
        "head.weight": ("F32", [2, 3], f32(*range(6))),
    }, {"format": "pt"}))
    (root / "safetensors" / "llama_names.safetensors").write_bytes(safetensors(
        {name: ("U8", [1], bytes([index % 256])) for index, name in enumerate(llama_names())}))
    (root / "burnpack" / "net.bpk").write_bytes(burnpack({
        "fc.weight": ("F32", [4, 3], transposed(3, 4), 14101554053607715927),
        "fc.bias": ("F32", [3], f32(1, 2, 3), 14755144371902836595),
        "head.weight": ("F32", [3, 2], transposed(2, 3), 3222552515581354512),
    }))
    (root / "burnpack" / "rebuilt.bpk").write_bytes(rebuilt_model())
    (root / "burnpack" / "optim_orphans.bpk").write_bytes(record_with_orphans())
    named = msgpack(record("NamedMpkFileRecorder", bytes))
    (root / "burn-record" / "net.mpk").write_bytes(named)
    (root / "burn-record" / "net.mpk.gz").write_bytes(gzip.compress(named, mtime=0))
    (root / "burn-record" / "net.json").write_text(json.dumps(record("PrettyJsonFileRecorder", list), indent=1) + "\n")
    (root / "rules" / "net.rules").write_text(NET_RULES)
    (root / "rules" / "llama.rules").write_text(LLAMA_RULES)


# --- Writing and comparing ---------------------------------------------------------------------


def module_files(root: Path) -> None:
    """Every kind of module in both layouts."""
    import torch

    state, burn, kinds, table = module_testdata.made(fill_module)
    torch.save(state, root / "modules/torch.pt")
    (root / "modules/burn.safetensors").write_bytes(safetensors(
        {name: ("F32", list(tensor.shape), contiguous_bytes(tensor)) for name, tensor in burn.items()}))
    (root / "modules/kinds.txt").write_text(kinds)
    (root / "modules/table.tsv").write_text(table)


def fp8_numbers():
    """The 256 numbers of F8_E4M3, from its definition (OCP 8-bit floating point: bias 7, S.1111.111 is NaN)."""
    import numpy

    codes = numpy.arange(256)
    exponent, mantissa = codes >> 3 & 15, codes & 7
    magnitude = numpy.where(exponent == 0, mantissa / 8 * 2.0**-6, (1 + mantissa / 8) * 2.0 ** (exponent - 7.0))
    magnitude[(codes & 127) == 127] = numpy.nan
    return numpy.where(codes >= 128, -magnitude, magnitude).astype(numpy.float32)


def quantised_files(root: Path) -> None:
    """FP8 weights with their scales, and what they stand for."""
    import numpy

    numbers = fp8_numbers()
    codes = (numpy.arange(200 * 130) * 37 % 256).astype(numpy.uint8).reshape(200, 130)
    scales = numpy.array([[0.5, 0.0078125], [3.0, 1.1]], numpy.float32)
    small = numpy.arange(24).astype(numpy.uint8).reshape(4, 6) * 9
    by_row = numpy.array([[0.25], [1.7], [2.0], [1e-3]], numpy.float32)
    blocks = numpy.repeat(numpy.repeat(scales, 128, 0), 128, 1)[:200, :130]
    half_scale = numpy.array([0.1], numpy.float16)

    def f32(array):
        return ("F32", list(array.shape), numpy.ascontiguousarray(array, "<f4").tobytes())

    def fp8(array):
        return ("F8_E4M3", list(array.shape), array.tobytes())

    (root / "safetensors/fp8.safetensors").write_bytes(safetensors({
        "down_proj.weight": fp8(codes), "down_proj.weight_scale_inv": f32(scales),
        "fc1.weight": fp8(small), "fc1.weight_scale": f32(by_row), "fc1.input_scale": f32(numpy.ones(())),
        "fc2.weight": fp8(small.T.copy()), "fc2.weight_scale": ("F16", [1], half_scale.tobytes()),
        "norm.weight": f32(numpy.ones(3)),
    }))
    plain = {"fc1.weight": f32(numbers[small] * by_row),
             "fc2.weight": f32(numbers[small.T] * half_scale.astype(numpy.float32)), "norm.weight": f32(numpy.ones(3))}
    # The large one as BF16: F32 rounded to the nearest, halves to even.
    bits = (numbers[codes] * blocks).view(numpy.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    rounded = numpy.where((bits & 0x7FFFFFFF) > 0x7F800000, bits >> 16 & 0x8000 | 0x7FC0, rounded).astype("<u2")
    (root / "safetensors/fp8_plain.safetensors").write_bytes(safetensors(
        {"down_proj.weight": ("BF16", [200, 130], rounded.tobytes()), **plain}))


def rope_files(root: Path) -> None:
    """Queries and keys in the row orders of Meta's code and of Hugging Face's, and experts one by one."""
    heads, kv_heads, size, width = 4, 2, 6, 5

    def permuted(array, count):  # as the script that brings Llama to Hugging Face does
        return array.reshape(count, size // 2, 2, -1).swapaxes(1, 2).reshape(array.shape)

    query, bias, key = fill((heads * size, width)), fill((heads * size,), 500), fill((kv_heads * size, width), 300)
    named = {"layers.0.q_proj.weight": (query, heads), "layers.0.q_proj.bias": (bias, heads),
             "layers.0.k_proj.weight": (key, kv_heads), "layers.0.v_proj.weight": (key, None)}
    for file, is_permuted in (("rope_pairs", False), ("rope_halves", True)):
        (root / f"safetensors/{file}.safetensors").write_bytes(safetensors({
            name: ("F32", list(tensor.shape),
                   contiguous_bytes(permuted(tensor, count) if is_permuted and count else tensor))
            for name, (tensor, count) in named.items()}))
    experts = {f"experts.{i}.w1.weight": ("F32", [3, 2], contiguous_bytes(fill((3, 2), 10 * i))) for i in range(11)}
    (root / "safetensors/experts.safetensors").write_bytes(safetensors(dict(sorted(experts.items()))))


def make(root: Path) -> None:
    for folder in ("pytorch", "safetensors", "burnpack", "burn-record", "rules", "modules"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    pytorch_files(root)
    other_files(root)
    module_files(root)
    quantised_files(root)
    rope_files(root)


def files_of(root: Path) -> dict:
    paths = (p for p in root.rglob("*") if p.is_file() and p.name not in NOT_LISTED)
    return {p.relative_to(root).as_posix(): p for p in sorted(paths)}


def sums_of(root: Path) -> str:
    return "".join(f"{sha256(path.read_bytes())}  {name}\n" for name, path in files_of(root).items())


def check_sums() -> list:
    faults = [f"{name}: larger than {SIZE_LIMIT} bytes"
              for name, path in files_of(TESTDATA).items() if path.stat().st_size > SIZE_LIMIT]
    listed = set((TESTDATA / "SHA256SUMS").read_text().splitlines())
    present = set(sums_of(TESTDATA).splitlines())
    faults += [f"{name}: is not what SHA256SUMS says"
               for name in sorted({line.split("  ")[1] for line in listed ^ present})]
    readme = (TESTDATA / "README.md").read_text()
    faults += [f"{name}: has no line in README.md" for name in files_of(TESTDATA)
               if not name.endswith(".json") and f"`{name}`" not in readme]
    return faults


def same(stored: Path, made: Path) -> bool:
    """Whether a stored file is what is made now."""
    if not stored.exists():
        return False
    if stored.read_bytes() == made.read_bytes():
        return True
    if made.suffix != ".pt":
        return False
    import torch

    # The legacy container names storages by their address in memory, another one on every run.
    return expected(torch.load(stored)) == expected(torch.load(made))


def check_made(made: dict) -> list:
    return [f"{name}: is made differently now" for name, path in made.items() if not same(TESTDATA / name, path)]


def write(made: dict) -> None:
    """Brings testdata up to date; a file that holds the same stays as it is."""
    for name, path in made.items():
        if not same(TESTDATA / name, path):
            (TESTDATA / name).parent.mkdir(parents=True, exist_ok=True)
            (TESTDATA / name).write_bytes(path.read_bytes())
    (TESTDATA / "SHA256SUMS").write_text(sums_of(TESTDATA))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="make everything again elsewhere and compare")
    parser.add_argument("--sums", action="store_true", help="compare testdata with its SHA256SUMS")
    arguments = parser.parse_args()
    faults = []
    if not arguments.sums:
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder))
            made = files_of(Path(folder))
            if arguments.check:
                faults = check_made(made)
            else:
                write(made)
    faults += check_sums()
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
