#!/usr/bin/env python3
"""Makes the fuzz targets' first inputs: whole files, and the parts of them that a target reads alone.

Usage: seeds.py OUT FOLDER...    files of the folders go to OUT/TARGET/DIGEST
"""

import hashlib
import json
import struct
import sys
import zipfile
from pathlib import Path

LIMIT = 256 << 10  # bytes; larger inputs only make the fuzzer slow
TEXTS = {".md", ".txt", ".py"}
CUT = b"\n--8<--\n"  # between the files of one input
COMMANDS = 36  # lines of command.cpp


def pickles(path: Path):
    """The members of a ZIP archive that are pickles."""
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith(".pkl"):
                    yield archive.read(name)
    except Exception:  # noqa: BLE001 - what Python's zipfile cannot read is a seed as a whole only
        return


def zeros(shapes: dict) -> bytes:
    """A safetensors file of I8 tensors of zeros."""
    entries, end = {}, 0
    for name, shape in shapes.items():
        size = shape[0] if shape else 1
        entries[name] = {"dtype": "I8", "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text + bytes(end)


def tensors_of(data: bytes) -> dict:
    """The tensors of a safetensors file, or none."""
    try:
        size = struct.unpack_from("<Q", data)[0]
        tensors = json.loads(data[8 : 8 + size])
        return {name: entry for name, entry in tensors.items() if {"dtype", "shape"} <= set(entry)}
    except Exception:  # noqa: BLE001 - what Python does not read is a seed by itself only
        return {}


def texts(tensors: dict):
    """What is written beside a checkpoint: a lock, a list of names, rules."""
    lock = ["# ckpt lock 1 layout=pytorch"]
    for name, entry in tensors.items():
        lock.append(f"{json.dumps(name)} {entry['dtype']} {json.dumps(entry['shape']).replace(' ', '')}")
    yield "\n".join(lock).encode()
    yield "\n".join(f"{json.dumps(name)} => {json.dumps('new.' + name)}" for name in tensors).encode()
    yield b"^fc\\. => enc.\n(\\d+) => n$1\n"


def seeds(path: Path, data: bytes):
    """Pairs of a target and a seed."""
    number = int.from_bytes(hashlib.sha1(path.name.encode()).digest()[:4], "big")
    for step in range(4):  # every file with a few of the commands
        yield "command", bytes([(number + step * 11) % COMMANDS]) + data
    if path.suffix == ".rules":
        yield "command", bytes([29]) + zeros({"model.layers.0.self_attn.q_proj.weight": [2]}) + CUT + data
    if path.suffix == ".safetensors" and (tensors := tensors_of(data)):
        index = {"metadata": {"total_size": 24}, "weight_map": dict.fromkeys(tensors, "a.safetensors")}
        yield "sharded", json.dumps(index).encode() + CUT + data + CUT + data
        yield "command", bytes([8]) + json.dumps(index).encode() + CUT + data
        for text in texts(tensors):
            if text.startswith(b"# ckpt lock"):
                yield "lock", text
            for command in (15, 25, 29, 31, 33):
                yield "command", bytes([command]) + data + CUT + text
    yield "checkpoint", data
    yield "salvage", data
    yield "salvage", data[: len(data) * 2 // 3]
    if path.suffix == ".safetensors" and len(data) > 8:
        yield "safetensors", data
        header = data[8 : 8 + struct.unpack_from("<Q", data)[0]]
        yield "safetensors", header
        yield "json", header
    elif path.suffix == ".bpk":
        yield "burnpack", data
        yield "training", data
        if len(data) > 10:
            yield "burnpack", data[10 : 10 + struct.unpack_from("<I", data, 6)[0]]
    elif path.suffix in {".mpk", ".gz"}:
        yield "burn_record", data
    elif path.suffix == ".json":
        yield "burn_record", data
        yield "json", data
    elif path.suffix == ".rules":
        yield "rules", data
    elif path.suffix in {".pt", ".pth", ".bin", ".ckpt", ".pkl"}:
        yield "pytorch", data
        yield "training", data
        if data.startswith(b"PK"):
            yield "zip", data
            for pickle in pickles(path):
                yield "pickle", pickle
                yield "catalogue", pickle
        elif data[257:262] == b"ustar":
            yield "tar", data
        else:
            yield "legacy", data
            yield "pickle", data
            yield "catalogue", data


def main() -> None:
    out = Path(sys.argv[1])
    for folder in sys.argv[2:]:
        for path in sorted(Path(folder).rglob("*")):
            if not path.is_file() or path.suffix in TEXTS or path.stat().st_size > LIMIT:
                continue
            for target, seed in seeds(path, path.read_bytes()):
                place = out / target
                place.mkdir(parents=True, exist_ok=True)
                (place / hashlib.sha1(seed).hexdigest()).write_bytes(seed)


if __name__ == "__main__":
    main()
