#!/usr/bin/env python3
"""Compares what `ckpt inspect --json --sha256` says of testdata/pytorch with what PyTorch said of it.

Usage: expected.py CKPT TESTDATA
"""

import json
import subprocess
import sys
from pathlib import Path

FIELDS = ("name", "dtype", "shape", "bytes", "sha256")


def main() -> int:
    ckpt, testdata = sys.argv[1], Path(sys.argv[2])
    good = True
    files = sorted((testdata / "pytorch").glob("*.pt"))
    assert files, f"no checkpoints in {testdata}"
    for path in files:
        done = subprocess.run([ckpt, "inspect", "--json", "--sha256", path], capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{path.name}: status {done.returncode}: {done.stderr}", end="")
            good = False
            continue
        expected = json.loads(path.with_suffix(".json").read_text())["tensors"]
        found = [{field: tensor[field] for field in FIELDS} for tensor in json.loads(done.stdout)["tensors"]]
        for row in expected:
            if row not in found:
                print(f"{path.name}: PyTorch says {row}, ckpt does not")
        for row in found:
            if row not in expected:
                print(f"{path.name}: ckpt says {row}, PyTorch does not")
        if found != expected:
            print(f"{path.name}: not as PyTorch has it (the order counts)")
            good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
