#!/usr/bin/python3
"""Compares ckpt with PyTorch on checkpoints that PyTorch saves here, with types, shapes and views at random.

Usage: random_models.py CKPT [SEED]    (status 77 where PyTorch is missing)

The same seed gives the same tensors. What PyTorch says of a tensor (its contiguous little-endian bytes)
must be what `inspect` says of the checkpoint, and what stands in the files that `convert` writes, as read
by a few lines of Python here.
"""

import hashlib
import json
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

CASES = 12
DTYPES = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64",
    torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL",
}


def random_tensor(dice: random.Random) -> torch.Tensor:
    """A tensor of some type, often a view: transposed, cut, stepped, expanded."""
    shape = [dice.randint(0 if dice.random() < 0.05 else 1, 7) for _ in range(dice.randint(0, 4))]
    generator = torch.Generator().manual_seed(dice.getrandbits(32))
    tensor = torch.randint(-100, 100, shape, generator=generator).to(dice.choice(list(DTYPES)))
    for _ in range(dice.randint(0, 3)):
        if tensor.dim() == 0:
            break
        axis = dice.randrange(tensor.dim())
        size = tensor.shape[axis]
        view = dice.choice(["permute", "narrow", "step", "select", "expand"])
        if view == "permute":
            tensor = tensor.permute(dice.sample(range(tensor.dim()), tensor.dim()))
        elif view == "narrow" and size > 1:
            start = dice.randrange(size)
            tensor = tensor.narrow(axis, start, dice.randint(1, size - start))
        elif view == "step":
            tensor = tensor[(slice(None),) * axis + (slice(None, None, 2),)]
        elif view == "select" and size > 0:
            tensor = tensor.select(axis, dice.randrange(size))
        elif view == "expand":
            tensor = tensor.unsqueeze(axis).expand(*tensor.shape[:axis], 3, *tensor.shape[axis:])
    return tensor


def random_checkpoint(dice: random.Random) -> dict:
    """A state dict; some tensors share a storage, or are the same twice."""
    tensors: dict = {}
    for index in range(dice.randint(1, 12)):
        if tensors and dice.random() < 0.15:
            tensor = dice.choice(list(tensors.values()))
        else:
            tensor = random_tensor(dice)
        tensors[f"blocks.{index}.weight"] = tensor
    return tensors


def content(tensor: torch.Tensor) -> bytes:
    tensor = tensor.contiguous()
    if tensor.dtype == torch.bfloat16:  # NumPy has no such type; the bits are what counts
        tensor = tensor.view(torch.int16)
    array = tensor.numpy()
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def described(name: str, dtype: str, shape: list, data: bytes) -> dict:
    return {"name": name, "dtype": dtype, "shape": shape, "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest()}


def as_torch_says(tensors: dict) -> list:
    return [described(name, DTYPES[tensor.dtype], list(tensor.shape), content(tensor))
            for name, tensor in tensors.items()]


def ckpt(*arguments) -> str:
    return subprocess.run([sys.argv[1], *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def as_ckpt_says(path: Path) -> list:
    tensors = json.loads(ckpt("inspect", "--json", "--sha256", path))["tensors"]
    return [{key: tensor[key] for key in ("name", "dtype", "shape", "bytes", "sha256")} for tensor in tensors]


def safetensors_content(path: Path) -> list:
    data = path.read_bytes()
    size = struct.unpack_from("<Q", data)[0]
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    body = data[8 + size :]
    return [described(name, row["dtype"], row["shape"], body[slice(*row["data_offsets"])])
            for name, row in header.items()]


def burnpack_content(path: Path) -> list:
    import cbor2

    data = path.read_bytes()
    size = struct.unpack_from("<I", data, 6)[0]
    body = data[-(-(10 + size) // 256) * 256 :]
    rows = cbor2.loads(data[10 : 10 + size])["tensors"].items()
    # A burnpack's BOOL is a map that says how it is stored.
    return [described(name, row["dtype"] if isinstance(row["dtype"], str) else "BOOL", row["shape"],
                      body[slice(*row["data_offsets"])]) for name, row in rows]


def torch_content(path: Path) -> list:
    return as_torch_says(torch.load(path))


WRITTEN = {".safetensors": safetensors_content, ".bpk": burnpack_content, ".pt": torch_content}


def by_name(rows: list) -> list:
    return sorted(rows, key=lambda row: row["name"])


def check_case(seed: int, root: Path) -> None:
    dice = random.Random(seed)
    tensors = random_checkpoint(dice)
    expected = as_torch_says(tensors)
    source = root / f"{seed}.pt"
    torch.save(tensors, source, _use_new_zipfile_serialization=dice.random() < 0.7)
    assert as_ckpt_says(source) == expected, f"seed {seed}: inspect"
    for extension, read in WRITTEN.items():
        target = root / f"{seed}-out{extension}"
        ckpt("convert", "--quiet", "--adapter", "none", source, target)
        assert by_name(read(target)) == by_name(expected), f"seed {seed}: convert to {extension}"
        assert by_name(as_ckpt_says(target)) == by_name(expected), f"seed {seed}: inspect of {extension}"


def main() -> int:
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory(prefix="ckpt-interop-") as folder:
        for seed in range(first, first + CASES):
            check_case(seed, Path(folder))
    print(f"{CASES} checkpoints agree with PyTorch {torch.__version__}, NumPy {numpy.__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
