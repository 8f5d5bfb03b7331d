#!/usr/bin/env python3
"""Makes the fuzz targets' first inputs: whole files, and the parts of them that a target reads alone.

Usage: seeds.py OUT FOLDER...    files of the folders go to OUT/TARGET/DIGEST
"""

import hashlib
import struct
import sys
import zipfile
from pathlib import Path

LIMIT = 256 << 10  # bytes; larger inputs only make the fuzzer slow
TEXTS = {".md", ".txt", ".py"}


def pickles(path: Path):
    """The members of a ZIP archive that are pickles."""
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith(".pkl"):
                    yield archive.read(name)
    except Exception:  # noqa: BLE001 - what Python's zipfile cannot read is a seed as a whole only
        return


def seeds(path: Path, data: bytes):
    """Pairs of a target and a seed."""
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
