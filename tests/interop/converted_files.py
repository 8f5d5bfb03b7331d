#!/usr/bin/python3
"""Has PyTorch load what ckpt converts to its format.

Usage: converted_files.py CKPT FOLDER...    (status 77 where PyTorch is missing)

Every checkpoint of the folders (and, where $CKPT_CORPUS names a folder, each in it that has a .json of what it
holds beside it, in no folder `…-bad`) is converted to .pt, without the types and sizes that this PyTorch lacks.
torch.load must give the tensors that `inspect --sha256` lists, with weights_only and without; `unzip -t` and
Python's zipfile must find the archive sound, and so an archive with a tensor of more than 4 GiB, whose members
need ZIP64.
"""

import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

try:
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

EXTENSIONS = {".pt", ".pth", ".safetensors", ".bpk"}
LARGE = (4 << 30) + 100  # bytes
MOST_DIMENSIONS = 64
DTYPES = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64",
    torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL",
    torch.complex64: "C64", torch.complex128: "C128",
}


def ckpt(*arguments) -> str:
    done = subprocess.run([sys.argv[1], *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, f"ckpt {' '.join(map(str, arguments))}: {done.stderr}"
    return done.stdout


def content(tensor: torch.Tensor) -> bytes:
    """The contiguous little-endian bytes."""
    assert sys.byteorder == "little"
    if tensor.numel() == 0:
        return b""
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def as_torch_says(path: Path, weights_only: bool) -> dict:
    loaded = torch.load(path, weights_only=weights_only)
    return {name: [DTYPES[tensor.dtype], list(tensor.shape), hashlib.sha256(content(tensor)).hexdigest()]
            for name, tensor in loaded.items()}


def holds(row: dict) -> bool:
    """Whether this PyTorch has such a tensor. An expanded one may be larger than any file: it has no digest."""
    return (row["dtype"] in DTYPES.values() and "sha256" in row and len(row["shape"]) <= MOST_DIMENSIONS
            and all(size < 1 << 63 for size in row["shape"]))


def check_archive(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        damaged = archive.testzip()
        assert damaged is None, f"{path}: zipfile finds {damaged} damaged"
    if shutil.which("unzip"):
        subprocess.run(["unzip", "-tqq", path], check=True)


def check_file(path: Path, out: Path) -> int:
    """Converts and compares; returns the number of tensors."""
    listed = json.loads(ckpt("inspect", "--json", "--sha256", path))
    expected = {row["name"]: [row["dtype"], row["shape"], row["sha256"]] for row in listed["tensors"] if holds(row)}
    left_out = [row["name"] for row in listed["tensors"] if row["name"] not in expected]
    left_out += [row["name"] for row in listed.get("refused", [])]
    if not expected and left_out:
        return 0
    exclude = ["--exclude", "^(?:" + "|".join(map(re.escape, left_out)) + ")$"] if left_out else []
    whole = ["--top-level-key", "."] if listed["tensors"] else []
    ckpt("convert", "--quiet", "--force", "--adapter", "none", *whole, *exclude, path, out)
    for weights_only in True, False:
        found = as_torch_says(out, weights_only)
        assert found == expected, f"{path}, weights_only={weights_only}: PyTorch has {found}, inspect {expected}"
    check_archive(out)
    return len(expected)


def check_large(folder: Path) -> None:
    """Sizes and an offset that only ZIP64 can say; the tensor is a hole, in the input and in the output."""
    header = json.dumps({
        "large": {"dtype": "U8", "shape": [LARGE], "data_offsets": [0, LARGE]},
        "small": {"dtype": "U8", "shape": [4], "data_offsets": [LARGE, LARGE + 4]},
    }).encode()
    source, out = folder / "large.safetensors", folder / "large.pt"
    with open(source, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.seek(LARGE, os.SEEK_CUR)
        file.write(b"\1\2\3\4")
    with subprocess.Popen([sys.argv[1], "convert", "--quiet", source, "/dev/stdout", "--to", "pytorch"],
                          stdout=subprocess.PIPE) as convert, open(out, "wb") as file:
        zeros = bytes(1 << 16)
        while block := convert.stdout.read(len(zeros)):
            if block == zeros:
                file.seek(len(zeros), os.SEEK_CUR)
            else:
                file.write(block)
    assert convert.returncode == 0
    reader = torch._C.PyTorchFileReader(str(out))  # reads the directory, and a member when asked
    assert bytes(reader.get_record("data/1")) == b"\1\2\3\4"
    assert reader.has_record("data/0")
    with zipfile.ZipFile(out) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
        assert sizes["archive/data/0"] == LARGE and archive.read("archive/data/1") == b"\1\2\3\4"
    if shutil.which("unzip"):
        subprocess.run(["unzip", "-tqq", out], check=True)


def files() -> list[Path]:
    found = [path for folder in sys.argv[2:] for path in sorted(Path(folder).rglob("*"))
             if path.suffix in EXTENSIONS]
    if corpus := os.environ.get("CKPT_CORPUS"):
        found += [path for path in sorted(Path(corpus).rglob("*"))
                  if path.suffix in EXTENSIONS and path.with_suffix(".json").exists()
                  and not path.parent.name.endswith("-bad")]
    return found


def main() -> int:
    faults, tensors = [], 0
    checkpoints = files()
    with tempfile.TemporaryDirectory(prefix="ckpt-interop-") as name:
        folder = Path(name)
        for path in checkpoints:
            try:
                tensors += check_file(path, folder / "out.pt")
            except Exception as error:  # noqa: BLE001 - every file is tried, whatever befell another
                faults.append(f"{path}: {type(error).__name__}: {error}")
        check_large(folder)
    print("\n".join(faults), end="\n" if faults else "")
    print(f"{len(checkpoints)} files, {tensors} tensors, PyTorch {torch.__version__}: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
