#!/usr/bin/env python3
"""Measures that memory does not grow with the model, on large files that are holes.

Usage: large_files.py PEAK_MEMORY CKPT DIRECTORY    (needs 6 GB free there; status 77 otherwise)

`inspect` of 4 GiB must stay below 20 MB resident, `convert` of 1 GiB with a transposed matrix, and of FP8
that becomes 1 GiB on the way, below 128 MB; with --memory 4MiB below 28 MB, in an address space of 256 MB. Time is printed, not judged: it is the machine's.
"""

import json
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

GIB = 1 << 30
MB = 1_000_000
INSPECT_LIMIT = 20 * MB
CONVERT_LIMIT = 128 * MB
BOUND_LIMIT = 28 * MB
ADDRESS_SPACE = 256 * MB
FREE_NEEDED = 6 * 10**9
SKIPPED = 77


def sparse_safetensors(path: Path, shapes: dict) -> None:
    """A file of tensors that are zeros, and holes on disk: FP8 what has scales beside it, F32 the rest."""
    header, end = {}, 0
    for name, shape in shapes.items():
        is_fp8 = f"{name}_scale_inv" in shapes
        start, end = end, end + (1 if is_fp8 else 4) * elements(shape)
        header[name] = {"dtype": "F8_E4M3" if is_fp8 else "F32", "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + end)


def elements(shape: list) -> int:
    count = 1
    for dimension in shape:
        count *= dimension
    return count


def crc32_of_zeros(size: int) -> int:
    block, crc = bytes(1 << 20), 0
    for _ in range(size >> 20):
        crc = zlib.crc32(block, crc)
    return zlib.crc32(block[: size & 0xFFFFF], crc)


def pickled_state_dict(shapes: dict) -> bytes:
    """What torch.save pickles for a dict of F32 tensors: storage `i` for the i-th (protocol 2)."""

    def text(value: str) -> bytes:
        return b"X" + struct.pack("<I", len(value)) + value.encode()

    def integer(value: int) -> bytes:
        return b"J" + struct.pack("<i", value) if value < 1 << 31 else b"\x8a\x08" + struct.pack("<q", value)

    def numbers(values: list) -> bytes:
        return b"(" + b"".join(map(integer, values)) + b"t"

    out = b"\x80\x02}("
    for index, (name, shape) in enumerate(shapes.items()):
        strides = [elements(shape[axis + 1 :]) for axis in range(len(shape))]
        storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text(str(index)) + text("cpu")
        out += text(name) + b"ctorch._utils\n_rebuild_tensor_v2\n("
        out += storage + integer(elements(shape)) + b"tQ"
        out += integer(0) + numbers(shape) + numbers(strides) + b"\x89ccollections\nOrderedDict\n)RtR"
    return out + b"u."


def sparse_pytorch(path: Path, shapes: dict) -> None:
    """A PyTorch archive with ZIP64 records by hand: stored members, data aligned to 64 bytes."""
    members = [("data.pkl", pickled_state_dict(shapes), None)]
    members += [(f"data/{index}", None, 4 * elements(shape)) for index, shape in enumerate(shapes.values())]
    members += [("version", b"3\n", None)]
    directory = b""
    with path.open("wb") as file:
        for name, content, zeros in members:
            encoded = f"{path.stem}/{name}".encode()
            size = len(content) if zeros is None else zeros
            crc = zlib.crc32(content) if zeros is None else crc32_of_zeros(zeros)
            offset = file.tell()
            sizes = struct.pack("<HHQQ", 1, 16, size, size)
            padding = -(offset + 30 + len(encoded) + len(sizes) + 4) % 64
            extra = sizes + struct.pack("<HH", 0x4246, padding) + b"Z" * padding
            common = struct.pack("<HHHHHI", 45, 0x800, 0, 0, 0, crc) + struct.pack("<II", 0xFFFFFFFF, 0xFFFFFFFF)
            file.write(struct.pack("<I", 0x04034B50) + common + struct.pack("<HH", len(encoded), len(extra)))
            file.write(encoded + extra)
            if zeros is None:
                file.write(content)
            else:
                file.truncate(file.tell() + zeros)
                file.seek(0, os.SEEK_END)
            wide = struct.pack("<HHQQQ", 1, 24, size, size, offset)
            directory += struct.pack("<IH", 0x02014B50, 45) + common
            directory += struct.pack("<HHHHHII", len(encoded), len(wide), 0, 0, 0, 0, 0xFFFFFFFF) + encoded + wide
        start = file.tell()
        end = start + len(directory)
        file.write(directory)
        file.write(struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, len(members), len(members),
                               len(directory), start))
        file.write(struct.pack("<IIQI", 0x07064B50, 0, end, 1))
        file.write(struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0))


def measure(peak_memory: str, limit: int, command: list, address_space: int | None = None) -> bool:
    """Runs a command; whether it succeeded within `limit` bytes of resident memory."""

    def bound() -> None:
        if address_space is not None:
            resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))

    begun = time.monotonic()
    done = subprocess.run([peak_memory, *command], stdout=subprocess.PIPE, text=True, check=True, preexec_fn=bound)
    seconds = time.monotonic() - begun
    resident, status, _ = map(int, done.stdout.split())
    good = status == 0 and resident < limit
    shown = " ".join(Path(word).name if word.startswith("/") else word for word in command)
    print(f"{'ok' if good else 'FAILED'}: {shown}: {resident / MB:.1f} MB resident (limit {limit // MB}), "
          f"{seconds:.2f} s, status {os.waitstatus_to_exitcode(status)}", flush=True)
    return good


def main() -> int:
    peak_memory, ckpt, place = sys.argv[1:]
    if shutil.disk_usage(place).free < FREE_NEEDED:
        print("skipped: less than 6 GB free")
        return SKIPPED
    with tempfile.TemporaryDirectory(dir=place, prefix="memory-") as folder:
        root = Path(folder)
        large = {"tok_emb.weight": [GIB >> 10, 1024], "fc.weight": [64, 32], "fc.bias": [64]}  # 4 GiB and a bit
        sparse_safetensors(root / "large.safetensors", large)
        sparse_pytorch(root / "large.pt", large)
        # 512 MiB are transposed, 512 MiB copied.
        sparse_pytorch(root / "model.pt",
                       {"fc.weight": [16384, 8192], "fc.bias": [16384], "tok_emb.weight": [8192, 16384]})
        # 256 MiB of FP8, which are 1 GiB of F32 on their way through a transpose and rows in another order.
        sparse_safetensors(root / "fp8.safetensors",
                           {"q_proj.weight": [16384, 16384], "q_proj.weight_scale_inv": [128, 128]})
        results = [
            measure(peak_memory, INSPECT_LIMIT, [ckpt, "inspect", str(root / "large.safetensors")]),
            measure(peak_memory, INSPECT_LIMIT, [ckpt, "inspect", str(root / "large.pt")]),
            measure(peak_memory, CONVERT_LIMIT, [
                ckpt, "convert", "--quiet", str(root / "model.pt"), str(root / "model.bpk"),
                "--module", "^fc$ => Linear", "--module", "^tok_emb$ => Embedding",
            ]),
            measure(peak_memory, BOUND_LIMIT, [
                ckpt, "convert", "--quiet", str(root / "model.pt"), str(root / "bound.bpk"), "--memory", "4MiB",
                "--module", "^fc$ => Linear", "--module", "^tok_emb$ => Embedding", "--dtype", "bf16",
            ], ADDRESS_SPACE),
            measure(peak_memory, CONVERT_LIMIT, [
                ckpt, "convert", "--quiet", str(root / "fp8.safetensors"), str(root / "fp8.bpk"),
                "--adapter", "pytorch-to-burn", "--module", "q_proj => Linear", "--dequantize", "--dtype", "bf16",
                "--permute-rope", "q_proj", "--heads", "128",
            ]),
        ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
