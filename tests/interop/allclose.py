#!/usr/bin/python3
"""Holds `ckpt diff --atol --rtol` against NumPy's isclose: allclose.py CKPT    (status 77 where NumPy is missing)

Random tensors of every real type in float64, which holds each of their numbers, with distances around the tolerance,
NaN and infinities on one side or both; complex ones away from the bound, as their modulus is computed in more digits."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1", "C64": "<c8"}
TOLERANCES = [("0", "0"), ("1e-3", "0"), ("0", "1e-2"), ("1e-8", "1e-5"), ("0.5", "0.1"), ("3", "0")]


def write(path: Path, tensors: dict[str, tuple[str, np.ndarray]]):
    header, data = {}, b""
    for name, (dtype, array) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def pair(dtype: str, rng: np.random.Generator, atol: float, rtol: float):
    """Two arrays whose elements lie about as far apart as is still close."""
    kind = np.dtype(TYPES[dtype])
    if kind.kind in "iu":
        info = np.iinfo(kind)
        low, high = max(info.min, -1000), min(info.max, 1000)
        b = rng.integers(low, high, 400, endpoint=True)
        a = np.clip(b + rng.integers(-4, 5, 400), info.min, info.max)
        return a.astype(kind), b.astype(kind)
    b = (rng.standard_normal(400) * 10.0 ** rng.integers(-3, 3, 400)).astype(kind)
    bound = atol + rtol * np.abs(b.astype(np.float64 if kind.kind == "f" else np.complex128))
    scale = rng.choice([0, 0.5, 1, 1, 1, 2], 400) if kind.kind == "f" else rng.choice([0, 0.5, 2], 400)
    a = (b + scale * rng.choice([-1, 1], 400) * bound).astype(kind)
    if kind.kind == "f":
        # A few steps of the type about the bound.
        for _ in range(2):
            a[::3] = np.nextafter(a[::3], kind.type(rng.choice([-np.inf, np.inf])))
        special = rng.choice(400, 40, replace=False)
        a[special[:20]] = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], 20)
        b[special[10:30]] = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], 20)
    return a, b


def main() -> int:
    program = str(Path(sys.argv[1]).resolve())
    rng = np.random.default_rng(5)
    faults = runs = 0
    with tempfile.TemporaryDirectory(prefix="ckpt-allclose-") as folder:
        for atol, rtol in TOLERANCES:
            left, right, wanted = {}, {}, {}
            for dtype in TYPES:
                a, b = pair(dtype, rng, float(atol), float(rtol))
                left[dtype], right[dtype] = (dtype, a), (dtype, b)
                wide = np.complex128 if a.dtype.kind == "c" else np.float64
                with np.errstate(invalid="ignore"):
                    close = np.isclose(a.astype(wide), b.astype(wide), float(rtol), float(atol), equal_nan=True)
                wanted[dtype] = int((~close).sum())
            # Types that differ are compared all the same.
            left["mixed"], right["mixed"] = left["F32"], ("F64", right["F32"][1].astype("<f8"))
            wanted["mixed"] = wanted["F32"]
            write(Path(folder, "a.safetensors"), left)
            write(Path(folder, "b.safetensors"), right)
            done = subprocess.run([program, "diff", "--json", "--atol", atol, "--rtol", rtol, "a.safetensors", "b.safetensors"],
                                  cwd=folder, capture_output=True, text=True)
            found = dict.fromkeys(wanted, 0)
            for row in json.loads(done.stdout)["different"]:
                found[row["name"]] = row.get("count", 0)
            runs += 1
            for name, count in wanted.items():
                if found[name] != count:
                    faults += 1
                    print(f"{name} with atol {atol}, rtol {rtol}: {found[name]} of 400 differ, NumPy says {count}")
            if done.returncode != 1:  # `mixed` always differs in its type
                faults += 1
                print(f"status {done.returncode} with atol {atol}, rtol {rtol}")
    print(f"{runs} comparisons of {len(TYPES) + 1} tensors, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
