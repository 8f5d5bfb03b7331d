#!/usr/bin/env python3
"""Holds what every command prints with --json against docs/schema: every_command.py CKPT TESTDATA [FOLDER...]

Runs over all files of the test data, and over the files of further folders. Each run that ends with status 0 or 1 prints
one document and nothing else; a refusal is a document as well. One that ends with 2 prints nothing there."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from json_schema import Validator

SCHEMAS = Path(__file__).resolve().parents[2] / "docs/schema"


class Runs:
    def __init__(self, program: str, folder: str):
        self.program = program
        self.folder = folder
        self.validator = Validator(SCHEMAS)
        self.done: dict[str, int] = {}
        self.faults: list[str] = []

    def run(self, *arguments: str, fails: bool = False):
        """One command with --json. Whether it may fail is for the file to say, unless `fails` wants it to."""
        command = [self.program, *arguments, "--json"]
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        say = lambda text: self.faults.append(f"{' '.join(arguments)} (status {done.returncode}): {text}")
        if done.returncode == 2:
            self.done["nothing"] = self.done.get("nothing", 0) + 1
            if done.stdout:
                say(f"prints {done.stdout[:200]!r}")
            if not done.stderr.startswith(b"ckpt: "):
                say("fails without a word on standard error")
            return None
        try:
            document = json.loads(done.stdout.decode("utf-8"), parse_constant=lambda name: 1 / 0)
        except (ValueError, ZeroDivisionError) as error:
            return say(f"no JSON document: {error}: {done.stdout[:200]!r}")
        failed = isinstance(document, dict) and "error" in document
        schema = "error" if failed else arguments[0]
        self.done[schema] = self.done.get(schema, 0) + 1
        for fault in self.validator.check(document, schema + ".schema.json")[:3]:
            say(fault)
        if failed and not done.stderr.startswith(b"ckpt: "):
            say("fails without a word on standard error")
        if done.returncode not in (0, 1) or (failed and done.returncode == 0) or (fails and not failed):
            say("the status and the document do not agree")
        return document

    def whole_life_of(self, file: str):
        document = self.run("inspect", file)
        self.run("inspect", file, "--id", "--stats", "--sha256")
        if isinstance(document, dict) and document.get("tensors"):
            for row in document["tensors"][:3]:
                if row["name"].isprintable():
                    self.run("inspect", file, f"--tensor={row['name']}")
        self.run("check", file)
        self.run("check", file, "--like", file)
        self.run("lock", file)
        self.run("remap", file, "--rename", "^(.) => x${1}")
        self.run("remap", file, "--infer", file)
        for output in "a.safetensors", "a.bpk", "a.pt":
            self.run("convert", file, output, "--dry-run", "--explain")
        self.run("diff", file, file)
        self.run("diff", file, file, "--names-only")
        self.run("check", file, "--salvage", "rest.safetensors", "--force")


def main() -> int:
    program, testdata, *folders = sys.argv[1:]
    testdata = Path(testdata).resolve()
    files = sorted(path for folder in [testdata, *map(Path, folders)] for path in folder.rglob("*")
                   if path.is_file() and path.suffix not in (".md", ".rules", ".txt") and path.name != "SHA256SUMS")
    with tempfile.TemporaryDirectory(prefix="ckpt-schema-") as folder:
        runs = Runs(str(Path(program).resolve()), folder)
        for file in files:
            runs.whole_life_of(str(file.resolve()))
        net, linear = str(testdata / "pytorch/net.pt"), str(testdata / "safetensors/linear.safetensors")
        burn, gpt2 = str(testdata / "burnpack/net.bpk"), str(testdata / "pytorch/gpt2.pt")
        rules = str(testdata / "rules/net.rules")
        runs.run("inspect", net, burn, linear)
        runs.run("convert", net, "net.bpk", "--remap", rules, "--half")
        training, orphans = str(testdata / "pytorch/training.pt"), str(testdata / "burnpack/optim_orphans.bpk")
        runs.run("convert", training, "train.bpk", "--optimizer-out", "optim.bpk")
        runs.run("convert", orphans, "mended.bpk", "--drop-orphans", "--model", str(testdata / "burnpack/rebuilt.bpk"))
        runs.run("check", "optim.bpk", "--model", "train.bpk", "--optimizer")
        runs.run("inspect", training, "--optimizer")
        runs.run("convert", net, "net.bpk", fails=True)
        for name in "tok_emb.weight", "bn.gamma", "bn.num_batches_tracked":
            runs.run("convert", net, "a.bpk", "--dry-run", f"--explain={name}", "--dtype", "BF16")
        runs.run("convert", linear, "set", "--shard-size", "60")
        runs.run("convert", "set", "whole.safetensors", "--explain", "--dtype", "F16")
        runs.run("remap", linear, "renamed.safetensors", "--rename", "^fc => x")
        runs.run("remap", net, "--infer", "net.bpk")
        runs.run("remap", net, "--infer", gpt2)
        runs.run("diff", net, gpt2)
        runs.run("diff", net, "net.bpk", "--remap", rules, "--adapter", "pytorch-to-burn")
        runs.run("diff", linear, "renamed.safetensors")
        runs.run("check", net, "--like", "net.bpk")
        runs.run("check", net, "--like", gpt2, "--min-coverage", "50%", "--allow-unused")
        runs.run("check", linear, "--like", burn)
        for words in (["inspect", "none"], ["inspect"], ["lock", net, "--nonsense"], ["diff", net, "none"], ["nonsense"],
                      ["remap", net, "--rename", "( => x"], ["check", net, "--like", "none"], ["inspect", net, "--tensor", "x"],
                      ["convert", net, "x.unknown"], ["convert", str(testdata / "pytorch/two_roots.pt"), "x.bpk"]):
            runs.run(*words, fails=True)
    for fault in runs.faults:
        print(fault)
    print(f"{sum(runs.done.values())} documents: " + ", ".join(f"{n} of {name}" for name, n in sorted(runs.done.items())))
    return 1 if runs.faults else 0


if __name__ == "__main__":
    sys.exit(main())
