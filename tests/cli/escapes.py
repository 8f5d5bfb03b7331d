#!/usr/bin/env python3
"""Files that try to speak to the terminal: whatever a command shows of them, it shows escaped.

Usage: escapes.py CKPT

Escape sequences, controls of the second set, overrides of direction, invisible characters and bytes that are no
UTF-8 stand in every place that a file has for text. What comes out, on both streams, with --json and --sarif too,
is UTF-8 and holds none of them; --names0, which is for programs, is left out.
"""

import json
import struct
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "growth"))
import files  # noqa: E402

EVIL = "e\x1b[31m\x07\u009b2J\u202egnp\u200b\ufeff\r\t\nx"
RAW = b"\xff\x1b[2J\xc2\x9b1m"  # no UTF-8


def hostile_files(folder: Path) -> list:
    """A checkpoint of each kind, with EVIL for every text of its own."""
    shape = {"dtype": "I8", "shape": [2], "data_offsets": [0, 2]}
    made = [files.safetensors(folder / "a.safetensors", [EVIL, EVIL + ".weight"], {EVIL: EVIL}, shape=(2,))]
    made.append(files.burnpack(folder / "a.bpk", [EVIL, "b"], {"metadata": {EVIL: EVIL}, "scalars": {EVIL: {"UInt": 3}}}))
    raw = b"U" + bytes([len(RAW)]) + RAW
    entries = files.text(EVIL) + files.tensor("0", 64) + files.text(EVIL + "2") + files.text(EVIL)
    entries += raw + files.tensor("0", 64) + files.text("g") + f"c{EVIL[:4]}\nN\x1b[0m\n)R".encode()
    entries += files.text("sparse") + b"ctorch._utils\n_rebuild_sparse_tensor\n(" + files.text(EVIL) + b"]tR"
    made.append(files.pytorch(folder / "a.pt", b"\x80\x02}(" + entries + b"u.", [("0", 64), (EVIL[:5], 3)]))
    lone = folder / "broken.safetensors"
    lone.write_bytes(struct.pack("<Q", 200) + json.dumps({EVIL: {**shape, "dtype": EVIL}}).encode().ljust(200))
    made.append(lone)
    wrong = files.cbor({"tensors": {EVIL: {"dtype": EVIL, "shape": [1], "data_offsets": [0, 1]}}})
    made.append(files.burnpack(folder / "broken.bpk", [], metadata=wrong))
    record = {"float": EVIL, "int": "i32", "format": "burn_core::record::file::PrettyJsonFileRecorder",
              "version": EVIL, "settings": EVIL}
    param = {"id": EVIL, "param": {"value": [1.0], "shape": [1]}}
    (folder / "a.json").write_text(json.dumps({"metadata": record, "item": {EVIL: param}}))
    made.append(folder / "a.json")
    index = folder / "set"
    index.mkdir()
    (index / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {EVIL: EVIL}}))
    made.append(index)
    return made


def commands(made: list, folder: Path):
    """Every command on every file, and the texts that are read beside them."""
    rules = folder / "rules"
    rules.write_bytes(b"\x1b[31m => x\n^(e) => $1\x1b[0m\n")
    bad_rules = folder / "bad.rules"
    bad_rules.write_bytes(b"(\x1b[31m => x\n" + RAW)
    lock = files.lock(folder / "a.lock", [json.dumps(EVIL + "3") + " I8 [2]", '"e" I8 [2] kind="\x1b[31m"'])
    lock_of_names = files.lock(folder / "b.lock", [json.dumps(EVIL + "3") + " I8 [2]"])
    names = folder / "names.map"
    names.write_bytes(json.dumps(EVIL).encode() + b" => \x1b[31mred\n" + RAW + b" => y\n")
    for path in made:
        for words in (["inspect"], ["inspect", "--json"], ["inspect", "--stats"], ["inspect", "--optimizer"],
                      ["check"], ["check", "--json"], ["check", "--sarif"], ["lock"], ["lock", "--json"]):
            yield [*words, path]
        yield ["inspect", path, "--tensor", EVIL]
        yield ["inspect", path, "--tensor", "\x1b[31m"]
        yield ["inspect", path, "--include", "\x1b[31m("]
        for out in ("o.safetensors", "o.bpk", "o.pt"):
            yield ["convert", path, folder / out, "--force", "--explain", "--verbose"]
            yield ["convert", path, folder / out, "--force", "--explain", "--json"]
        yield ["convert", path, folder / f"{EVIL}.safetensors", "--force", "--adapter", "none"]
        yield ["convert", path, folder / "o.bpk", "--force", "--like", lock_of_names]
        yield ["convert", path, folder / "o.bpk", "--force", "--modules", rules]
        for text in (rules, bad_rules):
            yield ["remap", path, "--remap", text]
            yield ["remap", path, "--remap", text, "--json"]
        yield ["remap", path, "--map", names]
        yield ["remap", path, "--rename", "e.* => \x1b[31m"]
        for other in (lock, lock_of_names, made[0]):
            yield ["check", path, "--like", other, "--verbose"]
            yield ["check", path, "--like", other, "--json"]
            yield ["check", path, "--like", other, "--sarif"]
            yield ["remap", path, "--infer", other]
        yield ["diff", path, made[0], "--verbose"]
        yield ["diff", path, made[0], "--json"]
        yield ["check", path, "--salvage", folder / "s.safetensors", "--force"]
    yield ["inspect", folder / f"missing {EVIL}"]
    yield ["\x1b[31m"]
    yield ["inspect", "--\x1b[31m"]


def wrong_characters(shown: bytes) -> set:
    """What a terminal would obey or hide, as `U+001B`."""
    try:
        text = shown.decode()
    except UnicodeDecodeError as error:
        return {str(error)}
    return {f"U+{ord(c):04X}" for c in text if c != "\n" and unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"}}


def main() -> int:
    ckpt = sys.argv[1]
    failed = runs = 0
    with tempfile.TemporaryDirectory(prefix="escapes-") as name:
        folder = Path(name)
        for command in commands(hostile_files(folder), folder):
            done = subprocess.run([ckpt, *map(str, command)], capture_output=True, timeout=60)
            runs += 1
            wrong = wrong_characters(done.stdout) | wrong_characters(done.stderr)
            if wrong or done.returncode not in (0, 1, 2):
                failed += 1
                print(f"FAILED: {[str(word) for word in command]}: status {done.returncode}, {sorted(wrong)}")
                print(done.stdout[-600:], done.stderr[-600:], sep="\n")
    print(f"{runs} commands, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
