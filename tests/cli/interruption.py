#!/usr/bin/env python3
"""Interrupts conversions at random moments: the old output must be intact, and nothing may be left behind.

Usage: interruption.py CKPT DIRECTORY [ROUNDS]    (needs 5 GB free there; status 77 otherwise)

The input is 1 GiB of zeros that are holes on disk: half of it is moved, half transposed.
"""

import json
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FREE_NEEDED = 5 * 10**9
SKIPPED = 77
OLD = b"the old output"


def make_input(path: Path) -> None:
    half = 512 << 20
    header = json.dumps({
        "fc.weight": {"dtype": "F32", "shape": [16384, 8192], "data_offsets": [0, half]},
        "tok_emb.weight": {"dtype": "F32", "shape": [16384, 8192], "data_offsets": [half, 2 * half]},
    }).encode()
    header += b" " * (-len(header) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + 2 * half)


def start(ckpt: str, folder: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [ckpt, "convert", "--force", "--quiet", "--adapter", "pytorch-to-burn", "--module", "^fc$ => Linear",
         "--module", "^tok_emb$ => Embedding", str(folder / "in.safetensors"), str(folder / "out.bpk")],
        stderr=subprocess.PIPE, text=True,
    )


def faults(status: int, said: str, number: signal.Signals, folder: Path, had_output: bool, size: int) -> list[str]:
    """What is not as it must be after a conversion that got the signal `number`."""
    found = []
    output = folder / "out.bpk"
    there = sorted(path.name for path in folder.iterdir())
    # The signal may come between the output's name and the end of the program.
    is_whole = output.exists() and output.stat().st_size == size
    expected = ["in.safetensors"] + (["out.bpk"] if had_output or status == 0 or is_whole else [])
    if there != expected:
        found.append(f"the folder holds {there}")
    if status == 0:
        if output.stat().st_size != size:
            found.append(f"status 0, but the output has {output.stat().st_size} bytes instead of {size}")
    elif had_output and not is_whole and output.read_bytes() != OLD:
        found.append("the old output has changed")
    # Before the output is begun there is nothing to tidy, and the signal just ends the program.
    if status not in (0, -number) and not (number == signal.SIGTERM and status == 2):
        found.append(f"status {status}")
    if status == 2 and ("out.bpk" not in said or "interrupted; nothing was written" not in said):
        found.append(f"it said: {said}")
    return found


def main() -> int:
    ckpt, place = sys.argv[1], sys.argv[2]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 12
    if shutil.disk_usage(place).free < FREE_NEEDED:
        print("skipped: less than 5 GB free")
        return SKIPPED
    chance = random.Random(1)
    good = True
    with tempfile.TemporaryDirectory(dir=place, prefix="interruption-") as name:
        folder = Path(name)
        output = folder / "out.bpk"
        make_input(folder / "in.safetensors")
        begun = time.monotonic()
        process = start(ckpt, folder)
        _, said = process.communicate()
        seconds = time.monotonic() - begun
        if process.returncode != 0:
            print(f"not interrupted, it ended with status {process.returncode}: {said}")
            return 1
        size = output.stat().st_size
        output.unlink()
        for i in range(rounds):
            number = (signal.SIGTERM, signal.SIGKILL)[i % 2]
            had_output = i % 4 < 2
            output.unlink(missing_ok=True)
            if had_output:
                output.write_bytes(OLD)
            delay = chance.uniform(0, seconds * 1.05)
            begun = time.monotonic()
            process = start(ckpt, folder)
            time.sleep(delay)
            process.send_signal(number)
            _, said = process.communicate()
            if process.returncode == 0:  # the moments to come lie within the fastest run
                seconds = min(seconds, max(time.monotonic() - begun, 0.1))
            found = faults(process.returncode, said, number, folder, had_output, size)
            print(f"{'FAILED' if found else 'ok'}: {number.name} after {delay:.2f} of {seconds:.2f} s: "
                  f"status {process.returncode}{''.join('; ' + fault for fault in found)}", flush=True)
            good = good and not found
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
