#!/usr/bin/env python3
"""Runs transcripts: commands with the output and the status that they must have.

    run.py --ckpt build/release/ckpt tests/cli/diff.t        each .t file is one transcript
    run.py --ckpt build/release/ckpt --markdown README.md    so are all ```console blocks of a file
    run.py ... --update FILE...                              writes what the commands say into the file

A transcript is made of these lines:

    # text          a remark
    $ command       run by sh in a fresh directory, which the commands of a file share
    > more          a further line of the command
    text            what the command prints, standard output and error together, in order of arrival
    text (re)       a regular expression for a whole line
    ...             any number of lines
    [2]             the status, unless it is 0
    \\text           a line of output that looks like one of the above

Blank lines after the output do not count. In the directory stands a link `testdata`; $TESTDATA is its
place, and `ckpt` the program under test. In the output the two places are written $TESTDATA and $PWD.
Ends with status 1 when something differs, and shows how.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_SECONDS = 120
SPECIAL = re.compile(r"[$#>] |[$#>]$|\\|\.\.\.$|\[\d+\]$|```")
KEPT_VARIABLES = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS")


class Step:
    """A command of a transcript, with the lines of the file from `start` to `end` that are its output."""

    def __init__(self, command: str, start: int):
        self.command = command
        self.start = self.end = start
        self.expected: list[str] = []


def parse(lines: list[str], first: int = 0) -> list[Step]:
    """The steps of a transcript whose first line is line `first` of its file, counted from 0."""
    steps: list[Step] = []
    state = "remark"  # what the line before was: a remark, a command or output
    for number, line in enumerate(lines, first):
        if line.startswith("$ "):
            steps.append(Step(line[2:], number + 1))
            state = "command"
        elif state == "command" and (line.startswith("> ") or line == ">"):
            steps[-1].command += "\n" + line[2:]
            steps[-1].start = steps[-1].end = number + 1
        elif line.startswith("# ") or line == "#":
            state = "remark"
        elif state != "remark":
            state = "output"
            steps[-1].expected.append(line)
            # Blank lines at the end belong to the file's looks, not to the output.
            if line.strip():
                steps[-1].end = number + 1
        elif line.strip():
            raise SystemExit(f"line {number + 1}: neither a command nor a remark: {line}")
    for step in steps:
        strip_blank_end(step.expected)
    return steps


def parse_markdown(lines: list[str]) -> list[Step]:
    """The steps of every block fenced by ```console."""
    steps: list[Step] = []
    start = None
    for number, line in enumerate(lines):
        if start is None and line.strip() == "```console":
            start = number + 1
        elif start is not None and line.strip() == "```":
            steps += parse(lines[start:number], start)
            start = None
    if start is not None:
        raise SystemExit(f"line {start}: the block does not end")
    return steps


def strip_blank_end(lines: list[str]) -> None:
    while lines and not lines[-1].strip():
        lines.pop()


def fits(expected: str, actual: str) -> bool:
    if expected.endswith(" (re)"):
        return re.fullmatch(expected[: -len(" (re)")], actual) is not None
    if expected.startswith("\\"):
        expected = expected[1:]
    return expected == actual


def matches(expected: list[str], actual: list[str]) -> bool:
    """Whether the output is what was expected; `...` stands for any number of lines."""
    if "..." not in expected:
        return len(expected) == len(actual) and all(map(fits, expected, actual))
    gap = expected.index("...")
    if len(actual) < gap or not all(map(fits, expected[:gap], actual)):
        return False
    return any(matches(expected[gap + 1 :], actual[rest:]) for rest in range(gap, len(actual) + 1))


def written(actual: list[str], expected: list[str]) -> list[str]:
    """The output as lines of a transcript; regular expressions that still fit are kept."""
    patterns = [line for line in expected if line.endswith(" (re)")]
    result = []
    for line in actual:
        fitting = next((i for i, pattern in enumerate(patterns) if fits(pattern, line)), None)
        if fitting is not None:
            result.append(patterns[fitting])
            del patterns[: fitting + 1]
        elif line.endswith(" (re)"):
            result.append(re.escape(line) + " (re)")
        else:
            result.append("\\" + line if SPECIAL.match(line) else line)
    return result


class Place:
    """The directory where the commands of one file run, and their environment."""

    def __init__(self, ckpt: Path, testdata: Path):
        self._folder = tempfile.TemporaryDirectory(prefix="ckpt-cli-")
        folder = Path(self._folder.name).resolve()
        self.work = folder / "work"
        programs = folder / "bin"
        self.work.mkdir()
        programs.mkdir()
        (programs / "ckpt").symlink_to(ckpt)
        (self.work / "testdata").symlink_to(testdata)
        self.testdata = testdata
        self.environment = {
            "PATH": f"{programs}:{os.environ['PATH']}", "TESTDATA": str(testdata), "HOME": str(folder),
            "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "dumb", "COLUMNS": "80",
        }
        self.environment |= {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}

    def __enter__(self) -> "Place":
        return self

    def __exit__(self, *_) -> None:
        self._folder.cleanup()

    def run(self, command: str) -> tuple[list[str], int]:
        """What a command prints, line by line, and its status."""
        try:
            done = subprocess.run(
                ["sh", "-c", command], cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return [f"(no end after {TIMEOUT_SECONDS} seconds)"], 124
        text = done.stdout.decode("utf-8", errors="backslashreplace")
        text = text.replace(str(self.testdata), "$TESTDATA").replace(str(self.work), "$PWD")
        lines = text.removesuffix("\n").split("\n") if text else []
        strip_blank_end(lines)
        # As a shell counts a signal, whether sh or the command itself met it.
        return lines, done.returncode if done.returncode >= 0 else 128 - done.returncode


def split_status(expected: list[str]) -> tuple[list[str], int]:
    """The lines of output, and the status that the last line states."""
    if expected and (status := re.fullmatch(r"\[(\d+)\]", expected[-1])):
        lines = expected[:-1]
        strip_blank_end(lines)
        return lines, int(status[1])
    return expected, 0


def run_file(path: Path, place: Place, markdown: bool, update: bool) -> bool:
    """Runs a file's transcript; whether everything is as expected (or now is)."""
    lines = path.read_text(encoding="utf-8").splitlines()
    steps = parse_markdown(lines) if markdown else parse(lines)
    if not steps:
        # A page without examples is in order; a transcript without commands is a mistake.
        if not markdown:
            print(f"{path}: no commands")
        return markdown
    changes: list[tuple[Step, list[str]]] = []
    for step in steps:
        actual, status = place.run(step.command)
        expected, expected_status = split_status(step.expected)
        if matches(expected, actual) and status == expected_status:
            continue
        now = written(actual, expected) + ([f"[{status}]"] if status else [])
        changes.append((step, now))
        if not update:
            print(f"{path}:{step.start}: $ {step.command}")
            print("\n".join(difflib.unified_diff(step.expected, now, "expected", "actual", lineterm="")))
    if update and changes:
        for step, now in reversed(changes):
            lines[step.start : step.end] = now
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{path}: {len(changes)} of {len(steps)} commands rewritten")
    return update or not changes


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs transcripts of commands.")
    parser.add_argument("--ckpt", type=Path, default=ROOT / "build/release/ckpt", help="the program under test")
    parser.add_argument("--testdata", type=Path, default=ROOT / "testdata")
    parser.add_argument("--markdown", action="store_true", help="the files are Markdown with ```console blocks")
    parser.add_argument("--update", action="store_true", help="write what the commands say into the files")
    parser.add_argument("files", type=Path, nargs="+")
    arguments = parser.parse_args()
    if not arguments.ckpt.is_file():
        parser.error(f"no program {arguments.ckpt}")
    good = True
    for path in arguments.files:
        with Place(arguments.ckpt.resolve(), arguments.testdata.resolve()) as place:
            good = run_file(path, place, arguments.markdown, arguments.update) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
