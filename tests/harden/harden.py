#!/usr/bin/env python3
"""Kills, starves and hinders ckpt, and proves each time that nothing was lost.

Usage: harden.py --ckpt CKPT --faults FAULT.so --folder DIR [--short] [--kills N] [--seed N] [PART...]

FAULT.so is tests/harden/fault.c, which makes the N-th call of a name fail. A run without it says how often each is
called; then each call fails in turn. PARTs (all): kills faults memory limits disk permissions inputs outputs races.

What must hold after every run, however it ends:
  - an output is what it was before, or the whole new file, byte for byte; with status 0 the new one
  - nothing else lies beside it; what SIGKILL leaves there the next run removes
  - the status is 0 or 2, never a signal that nobody sent, and never a hang
  - status 2 comes with one line `ckpt: FILE: what`, and the inputs are untouched

The last line has the counts. Status 1 where something did not hold.
"""

import argparse
import errno
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

HUNG = 60  # seconds
NOBODY = 65534
OLD = b"the old output, of a length of its own"

# What each call may well fail with. EINTR and halves are no failures: the result must be as without.
ERRORS = {
    "open": [errno.EACCES, errno.EMFILE, errno.EIO], "close": [errno.EIO], "read": [errno.EIO],
    "pread": [errno.EIO], "write": [errno.ENOSPC, errno.EIO], "pwrite": [errno.ENOSPC],
    "copy_file_range": [errno.ENOSPC, errno.EIO, errno.EXDEV], "fsync": [errno.EIO, errno.ENOSPC],
    "lseek": [errno.EINVAL], "linkat": [errno.EPERM, errno.ENOSPC], "link": [errno.EPERM, errno.EIO],
    "rename": [errno.EACCES, errno.ENOSPC], "unlink": [errno.EIO], "stat": [errno.EIO], "lstat": [errno.EIO],
    "fstat": [errno.EIO], "access": [errno.EIO], "realpath": [errno.EACCES], "fchmod": [errno.EPERM],
    "mkdir": [errno.EACCES], "rmdir": [errno.EBUSY], "opendir": [errno.EACCES], "readdir": [errno.EIO],
    "flock": [errno.ENOLCK], "dup": [errno.EMFILE], "mkostemp": [errno.EMFILE, errno.ENOSPC],
    "fwrite": [errno.ENOSPC], "fflush": [errno.ENOSPC], "pthread_create": [errno.EAGAIN],
}
MILD = {"read": ["4", "short"], "pread": ["4", "short"], "write": ["4", "short"], "pwrite": ["4", "short"],
        "copy_file_range": ["4", "short"]}


# What decides on the name of an output, and whether it is found.
NAMING = {"open", "fsync", "linkat", "link", "rename", "unlink", "stat", "lstat", "access", "realpath", "flock",
          "opendir", "readdir", "mkdir", "rmdir"}


# --- inputs --------------------------------------------------------------------------------------


def safetensors(path: Path, shapes: dict, seed: int) -> Path:
    """A checkpoint of F32 numbers of a moderate size."""
    chance = random.Random(seed)
    header, data = {}, b""
    for name, shape in shapes.items():
        count = 1
        for size in shape:
            count *= size
        block = struct.pack("<64f", *(chance.gauss(0, 1) for _ in range(64)))
        begin, data = len(data), data + (block * (count // 64 + 1))[: 4 * count]
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


SMALL = {"fc.weight": [24, 16], "fc.bias": [24], "head.weight": [3, 24], "head.bias": [3], "scale": []}
LARGE = {"fc.weight": [700, 450], "fc.bias": [700], "head.weight": [450, 650], "head.bias": [450]}


# --- what is run ---------------------------------------------------------------------------------


@dataclass
class Job:
    """A command. `{out}` is a folder that holds the outputs, which a run without faults defines."""

    name: str
    words: list
    stdin: Path | None = None
    is_piped: bool = False  # standard input is a pipe
    is_large: bool = False  # some calls stand for all
    older_set: str = ""  # the output is a set; the shard size of the one that it replaces
    expected: dict = field(default_factory=dict)  # relative path: bytes
    status: int = 0
    stdout: bytes = b""
    counts: dict = field(default_factory=dict)


@dataclass
class Ended:
    status: int
    stdout: bytes
    stderr: str
    has_hung: bool = False


def tree(folder: Path) -> dict:
    """Every file below `folder`, by its relative path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file()}


class Harness:
    def __init__(self, options: argparse.Namespace, folder: Path):
        self.ckpt = str(Path(options.ckpt).resolve())
        self.library = str(Path(options.faults).resolve())
        self.folder = folder
        self.short = options.short
        self.options = options
        self.findings: list[str] = []
        self.kills = 0
        self.faults = 0
        self.scenes = 0
        self.numbers = itertools.count()
        self.lock = threading.Lock()
        self.inputs = folder / "inputs"
        self.inputs.mkdir()
        self.make_inputs()
        self.jobs = self.make_jobs()
        for job in self.jobs:
            self.learn(job)
        self.input_bytes = tree(self.inputs)

    # -- setting up

    def make_inputs(self) -> None:
        at = self.inputs
        safetensors(at / "small.safetensors", SMALL, 1)
        safetensors(at / "other.safetensors", SMALL, 2)
        safetensors(at / "large.safetensors", LARGE, 3)
        safetensors(at / "spooled.safetensors", {"w": [17, 1 << 18]}, 4)  # more than stays in memory
        cut = safetensors(at / "cut.safetensors", SMALL, 1)
        os.truncate(cut, cut.stat().st_size - 16)
        for extension in ("pt", "bpk"):
            self.must("convert", "--quiet", "--adapter", "none", at / "small.safetensors", at / f"small.{extension}")
        self.must("convert", "--quiet", at / "small.safetensors", at / "set", "--shard-size", "1000")
        self.lock_file = at / "small.lock"
        self.lock_file.write_bytes(self.must("lock", at / "small.safetensors"))
        testdata = Path(__file__).parents[2] / "testdata"
        for name in ("pytorch/training.pt", "pytorch/legacy.pt", "burn-record/net.mpk.gz"):
            shutil.copyfile(testdata / name, at / Path(name).name)

    def must(self, *words) -> bytes:
        done = subprocess.run([self.ckpt, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}: {done.stderr.decode()}")
        return done.stdout

    def make_jobs(self) -> list[Job]:
        at = self.inputs
        plain = ["--adapter", "none"]
        linear = ["--adapter", "pytorch-to-burn", "--module", ".* => Linear", "--memory", "1MiB"]

        def convert(name, source, target, *words, **more):
            return Job(name, ["convert", "--quiet", *words, at / source, "{out}/" + target], **more)

        def command(name, *words, **more):
            return Job(name, list(words), **more)

        return [
            convert("copy to bpk", "small.safetensors", "out.bpk", *plain),
            convert("copy to pt", "small.safetensors", "out.pt", *plain),
            convert("pt to safetensors", "small.pt", "out.safetensors", *plain),
            convert("bpk to pt", "small.bpk", "out.pt", *plain),
            convert("legacy pt to bpk", "legacy.pt", "out.bpk", *plain),
            convert("record to safetensors", "net.mpk.gz", "out.safetensors", *plain),
            convert("transpose", "small.safetensors", "out.bpk", *linear),
            convert("transpose ahead", "large.safetensors", "out.bpk", *linear, "--threads", "2", is_large=True),
            convert("cast", "small.safetensors", "out.safetensors", "--dtype", "BF16"),
            convert("verified", "small.safetensors", "out.bpk", *plain, "--verify"),
            convert("to a set", "small.safetensors", "set", "--shard-size", "1000", older_set="1000"),
            convert("to a smaller set", "small.safetensors", "set", "--shard-size", "3000", older_set="1000"),
            convert("to a set of one", "small.safetensors", "set", "--shard-size", "1MB", older_set="1000"),
            convert("from a set", "set", "out.safetensors"),
            convert("with optimizer", "training.pt", "out.bpk", "--optimizer-out", "{out}/optim.bpk",
                    "--write-modules", "{out}/kinds.txt"),
            Job("remap", ["remap", "--quiet", at / "small.safetensors", "{out}/out.safetensors", "--rename",
                          "^fc => first", "--map-out", "{out}/names.map"]),
            Job("salvage", ["check", at / "cut.safetensors", "--salvage", "{out}/out.safetensors"], status=1),
            Job("from stdin", ["convert", "--quiet", *plain, "-", "{out}/out.bpk"], stdin=at / "small.safetensors"),
            Job("from a pipe", ["convert", "--quiet", *plain, "-", "{out}/out.bpk"], stdin=at / "spooled.safetensors",
                is_piped=True, is_large=True),
            Job("one tensor", ["inspect", at / "small.pt", "--tensor", "fc.weight", "--npy", "{out}/fc.npy"]),
            command("inspect", "inspect", "--json", "--sha256", at / "small.safetensors", at / "small.pt", at / "set"),
            command("inspect stdin", "inspect", "-", stdin=at / "small.bpk"),
            command("diff", "diff", at / "small.safetensors", at / "small.bpk"),
            command("check", "check", at / "small.pt"),
            command("check like", "check", at / "set", "--like", self.lock_file),
            command("lock", "lock", at / "small.bpk"),
        ]

    def learn(self, job: Job) -> None:
        """What the job does without faults."""
        out = self.fresh()
        counts = self.folder / "counts"
        ended = self.run(job, out, {"FAULT_COUNTS": str(counts)})
        if ended.status != job.status:
            sys.exit(f"{job.name}: without any fault status {ended.status}: {ended.stderr}")
        job.expected, job.stdout = tree(out), self.anonymous(ended.stdout, out)
        job.counts = {name: int(n) for name, n in (line.split() for line in counts.read_text().splitlines())}
        shutil.rmtree(out)

    # -- running

    def fresh(self) -> Path:
        with self.lock:
            number = next(self.numbers)
        out = self.folder / f"out-{number}"
        out.mkdir()
        return out

    @staticmethod
    def anonymous(text: bytes, out: Path) -> bytes:
        return text.replace(str(out).encode(), b"{out}")

    def words(self, job: Job, out: Path, force: bool = False) -> list[str]:
        words = [str(word).replace("{out}", str(out)) for word in job.words]
        return [self.ckpt, words[0], *(["--force"] if force else []), *words[1:]]

    def start(self, job: Job, out: Path, environment: dict, force: bool = False, **more) -> subprocess.Popen:
        environment = {**os.environ, "LD_PRELOAD": self.library, **environment}
        more.setdefault("stdout", subprocess.PIPE)
        stdin = subprocess.DEVNULL
        if job.stdin:
            cat = subprocess.Popen(["cat", job.stdin], stdout=subprocess.PIPE) if job.is_piped else None
            stdin = cat.stdout if cat else job.stdin.open("rb")
        try:
            return subprocess.Popen(self.words(job, out, force), stdin=stdin, stderr=subprocess.PIPE, env=environment,
                                    **more)
        finally:
            if job.stdin:
                stdin.close()

    @staticmethod
    def finish(process: subprocess.Popen) -> Ended:
        try:
            stdout, stderr = process.communicate(timeout=HUNG)
            return Ended(process.returncode, stdout or b"", stderr.decode(errors="replace"))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return Ended(process.returncode, b"", "", True)

    def run(self, job: Job, out: Path, environment: dict | None = None, force: bool = False, **more) -> Ended:
        return self.finish(self.start(job, out, environment or {}, force, **more))

    def in_parallel(self, tasks: list) -> None:
        """Each task is a function and its arguments."""
        with ThreadPoolExecutor(max(os.cpu_count() or 1, 2)) as pool:
            for done in [pool.submit(*task) for task in tasks]:
                done.result()

    # -- judging

    def find(self, what: str) -> None:
        with self.lock:
            self.findings.append(what)
            print(f"FINDING: {what}", flush=True)

    def old_outputs(self, job: Job, out: Path) -> dict:
        """Older files in the places of the outputs; a set is a whole older one."""
        if job.older_set:
            self.must("convert", "--quiet", self.inputs / "other.safetensors", out / "set", "--shard-size", job.older_set)
        else:
            for name in job.expected:
                (out / name).write_bytes(OLD)
        return tree(out)

    def judge(self, what: str, job: Job, out: Path, old: dict, ended: Ended, *, signalled: tuple = (),
              may_strand: bool = False, must_succeed: bool = False, reason: str = "",
              needs_message: bool = True) -> None:
        faults = []
        now = tree(out)
        strays = [name for name in now if name not in job.expected and name not in old]
        if may_strand:
            strays = [name for name in strays if not re.fullmatch(r"(set/)?\.ckpt-\d+-\d+\.tmp", name)]
        if strays:
            faults.append(f"it left {strays}")
        if ended.has_hung:
            faults.append("it hung")
        elif ended.status not in (job.status, 2) and -ended.status not in signalled:
            faults.append(f"status {ended.status}")
        if must_succeed and ended.status != job.status:
            faults.append(f"status {ended.status}, but this is no failure")
        states = {}
        for name, whole in job.expected.items():
            states[name] = "new" if now.get(name) == whole else "old" if now.get(name) == old.get(name) else "BROKEN"
        if "BROKEN" in states.values() and not (job.older_set and self.is_refused(out / "set")):
            faults.append(f"outputs: {states}")
        elif job.older_set and set(states.values()) != {"old"} and not self.is_mixture_safe(job, out, old):
            faults.append(f"a set of old and new files can be read: {states}")
        if ended.status == job.status:
            if set(states.values()) - {"new"}:
                faults.append(f"status {job.status}, and outputs: {states}")
            left = set(now) & set(old) - set(job.expected)
            if left:
                faults.append(f"status {job.status}, and of what was there before there is left {left}")
            if self.anonymous(ended.stdout, out) != job.stdout:
                faults.append(f"status {job.status}, and another answer on standard output")
        if ended.status == 2 and needs_message:
            lines = [line for line in ended.stderr.splitlines() if line.startswith("ckpt: ") and "warning" not in line]
            first = lines[-1] if lines else ""
            if not re.match(r"ckpt: (.*/|standard (output|input)|the temporary file|no temporary file).*: ", first) \
                    and not re.search("out of memory|no thread can be started|SHA-256 is not available", first):
                faults.append("the message names no file")
            if reason and reason not in ended.stderr:
                faults.append(f"the message does not say: {reason}")
        for fault in faults:
            self.find(f"{job.name}, {what}: {fault}; it said: {ended.stderr.strip()[-300:]}")

    def is_refused(self, path: Path) -> bool:
        return subprocess.run([self.ckpt, "inspect", path], capture_output=True, check=False).returncode == 2

    def is_mixture_safe(self, job: Job, out: Path, old: dict) -> bool:
        """Some files of a set are old, some new: what can be read is all of the one or of the other."""
        read = subprocess.run([self.ckpt, "inspect", "--json", "--sha256", out / "set"], capture_output=True, check=False)
        if read.returncode == 2:
            return True
        digests = {t["name"]: t["sha256"] for t in json.loads(read.stdout)["tensors"]}
        for source in ("small", "other"):
            whole = json.loads(self.must("inspect", "--json", "--sha256", self.inputs / f"{source}.safetensors"))
            if digests == {t["name"]: t["sha256"] for t in whole["tensors"]}:
                return True
        return False

    def rerun(self, what: str, job: Job, out: Path, environment: dict) -> None:
        """The same command once more: it succeeds and clears away what the killed one left. What is whole and in
        its place wants --force; a set whose index says that it is not does not."""
        left = tree(out)
        is_half = any(name.endswith(".index.json") and b'"incomplete"' in data for name, data in left.items())
        force = bool(left) and not is_half
        ended = self.run(job, out, environment, force=force)
        now = tree(out)
        if ended.status != job.status or now != job.expected:
            self.find(f"{job.name}, {what}: run again: status {ended.status}, {sorted(now)} instead of "
                      f"{sorted(job.expected)}: {ended.stderr.strip()[-300:]}")

    # -- the parts

    def fault(self, job: Job, action: str, without: str, over_old: bool, signalled: tuple = ()) -> None:
        """One run in which one call goes wrong: `CALL:N:ACTION`."""
        out = self.fresh()
        old = self.old_outputs(job, out) if over_old else {}
        environment = {"FAULT": action, "FAULT_WITHOUT": without}
        ended = self.run(job, out, environment, force=over_old)
        what = f"{action}{' without ' + without if without else ''}{' over an old output' if over_old else ''}"
        name, _, how = action.split(":")
        # What is killed, or cannot remove a file, leaves it to the next run.
        may_strand = name == "unlink" or signal.SIGKILL in signalled
        self.judge(what, job, out, old, ended, signalled=signalled, may_strand=may_strand,
                   must_succeed=how in MILD.get(name, []))
        if may_strand:
            self.rerun(what, job, out, {"FAULT_WITHOUT": without})
        shutil.rmtree(out)
        with self.lock:
            if signal.SIGKILL in signalled:
                self.kills += 1
            else:
                self.faults += 1

    def variants(self, job: Job) -> list[tuple[str, bool]]:
        """Without which abilities of the filesystem, and whether over older outputs."""
        if not job.expected:
            return [("", False)]
        return [("", True), ("tmpfile,move", False), ("", False), ("tmpfile,move", True)]

    def calls(self, job: Job, without: str, over_old: bool) -> dict:
        """How often each function is called then."""
        out = self.fresh()
        if over_old:
            self.old_outputs(job, out)
        counts = out.with_suffix(".counts")
        self.run(job, out, {"FAULT_COUNTS": str(counts), "FAULT_WITHOUT": without}, force=over_old)
        shutil.rmtree(out)
        found = {name: int(n) for name, n in (line.split() for line in counts.read_text().splitlines())}
        counts.unlink()
        return found

    def faults_part(self) -> None:
        """Every call fails in turn."""
        tasks = []
        for job in self.jobs:
            for i, (without, over_old) in enumerate(self.variants(job)):
                counts = self.calls(job, without, over_old)
                for name, errors in ERRORS.items():
                    # Reading and writing is the same in each variant.
                    if i < 2 or name in NAMING:
                        tasks += [(job, f"{name}:{n}:{how}", without, over_old)
                                  for n in self.numbers_of(job, counts.get(name, 0)) for how in errors + MILD.get(name, [])]
                    if counts.get(name, 0) > 1:  # a disk that is full stays so
                        tasks += [(job, f"{name}:{n}:{errors[0]}+", without, over_old) for n in (1, counts[name] // 2)]
        if self.short:
            tasks = random.Random(self.options.seed).sample(tasks, 600)
        print(f"faults: {len(tasks)}", flush=True)
        self.in_parallel([(self.fault, *task) for task in tasks])

    @staticmethod
    def numbers_of(job: Job, count: int) -> list[int]:
        """Which calls fail: all, unless there are very many of one kind."""
        ends, step = (3, max(1, count // 3)) if job.is_large else (20, max(1, count // 100))
        return sorted({*range(1, min(count, ends) + 1), *range(1, count + 1, step), *range(max(1, count - ends), count + 1)})

    def kills_part(self) -> None:
        """SIGKILL, half of them at a moment of a large conversion, half at a call; then at every step of giving names.
        SIGINT and SIGTERM likewise."""
        wanted = self.options.kills
        chance = random.Random(self.options.seed)
        moments = wanted // 2
        self.random_kills(moments, chance)
        writing = [job for job in self.jobs if job.expected]
        tasks = []
        while len(tasks) < wanted - moments:
            job = chance.choice(writing)
            without, over_old = chance.choice(self.variants(job))
            counts = self.calls(job, without, over_old)
            # The end is where names are given: each call there is as likely as all of those that write.
            names = [name for name in ERRORS if counts.get(name, 0) > 0 and name not in ("fwrite", "pthread_create")]
            name = chance.choice(names)
            number = chance.randint(1, counts[name])
            action = chance.choice(["kill", "kill-after"])
            tasks.append((self.fault, job, f"{name}:{number}:{action}", without, over_old, (signal.SIGKILL,)))
        if not self.short:
            tasks += self.kills_at_names(writing)
        self.in_parallel(tasks)
        self.interrupted_calls(writing)

    def kills_at_names(self, jobs: list[Job]) -> list:
        """Before and after every step of giving names."""
        return [(self.fault, job, f"{name}:{number}:{action}", without, over_old, (signal.SIGKILL,))
                for job in jobs for without, over_old in self.variants(job)
                for name, count in self.calls(job, without, over_old).items()
                if name in ("linkat", "link", "rename", "unlink", "mkdir") for number in range(1, count + 1)
                for action in ("kill", "kill-after")]

    def interrupted_calls(self, jobs: list[Job]) -> None:
        """SIGINT and SIGTERM before every call of a kind: they end the output in order, or the process before it."""
        tasks = []
        for job in jobs[:2] if self.short else jobs:
            for without, over_old in self.variants(job):
                counts = self.calls(job, without, over_old)
                for name in ("open", "write", "fsync", "linkat", "link", "rename", "pread"):
                    for number in sorted({1, (counts.get(name, 0) + 1) // 2, counts.get(name, 0)} - {0}):
                        if number > counts.get(name, 0):
                            continue
                        for action, number_of in (("int", signal.SIGINT), ("term", signal.SIGTERM)):
                            tasks.append((self.fault, job, f"{name}:{number}:{action}", without, over_old, (number_of,)))
        self.in_parallel(tasks)

    def random_kills(self, count: int, chance: random.Random) -> None:
        source = self.folder / "kills.safetensors"
        megabytes = 32
        safetensors(source, {"a.weight": [1024, 1024]}, 4)
        header = json.dumps({
            f"{name}.weight": {"dtype": "F32", "shape": [1024, 1024 * megabytes // 8],
                               "data_offsets": [i * megabytes << 19, (i + 1) * megabytes << 19]}
            for i, name in enumerate(("fc", "emb"))
        }).encode()
        header += b" " * (-len(header) % 8)
        block = random.Random(5).randbytes(1 << 20)
        source.write_bytes(struct.pack("<Q", len(header)) + header + block * megabytes)
        job = Job("32 MiB", ["convert", "--quiet", "--adapter", "pytorch-to-burn", "--module", "^fc$ => Linear",
                             "--module", "^emb$ => Embedding", source, "{out}/out.bpk"])
        out = self.fresh()
        begun = time.monotonic()
        self.learn(job)
        seconds = time.monotonic() - begun
        for i in range(count + count // 4):
            without = ("", "tmpfile,move")[i % 2]
            over_old = i % 4 < 2
            number = signal.SIGKILL if i < count else (signal.SIGINT, signal.SIGTERM)[i // 2 % 2]
            for path in out.iterdir():
                path.unlink()
            old = self.old_outputs(job, out) if over_old else {}
            delay = chance.uniform(0, seconds * 1.05)
            begun = time.monotonic()
            process = self.start(job, out, {"FAULT_WITHOUT": without}, force=over_old)
            time.sleep(delay)
            process.send_signal(number)
            ended = self.finish(process)
            if ended.status == 0:  # the moments to come lie within the fastest run
                seconds = min(seconds, max(time.monotonic() - begun, 0.02))
            what = f"{number.name} after {delay:.3f} s{' without ' + without if without else ''}"
            self.judge(what, job, out, old, ended, signalled=(number,), may_strand=number == signal.SIGKILL)
            if number != signal.SIGKILL:
                self.faults += 1
                continue
            self.kills += 1
            # Any conversion into the folder clears it.
            small = Job(what, ["convert", "--quiet", "--force", "--adapter", "none", self.inputs / "small.safetensors",
                               "{out}/out.bpk"])
            again = self.run(small, out, {"FAULT_WITHOUT": without})
            if again.status != 0 or sorted(tree(out)) != ["out.bpk"]:
                self.find(f"{what}: run again: status {again.status}, {sorted(tree(out))}: {again.stderr}")
        shutil.rmtree(out)
        source.unlink()

    def memory_part(self) -> None:
        """The N-th allocation fails, alone or with all after it; and an address space that is too small."""
        chance = random.Random(self.options.seed)
        tasks = []
        for job in self.jobs:
            wanted = 8 if self.short else 60
            over_old = bool(job.expected)
            for call in ("malloc", "aligned_alloc"):
                count = job.counts.get(call, 0)
                for number in chance.sample(range(1, count + 1), min(wanted, count)):
                    for lasts in ("", "+"):
                        tasks.append((self.fault, job, f"{call}:{number}:{errno.ENOMEM}{lasts}", "", over_old))
        self.in_parallel(tasks)

        least = self.least_address_space(self.jobs[0])
        steps = [least + (i << 20) * 2 for i in range(4 if self.short else 24)]
        tasks = [(self.with_limit, job, resource.RLIMIT_AS, size) for size in steps for job in self.jobs]
        self.in_parallel(tasks)

    def least_address_space(self, job: Job) -> int:
        """Where the loader gets through, and ckpt answers at all."""
        for size in range(16 << 20, 1 << 30, 2 << 20):
            done = subprocess.run([self.ckpt, "--version"], capture_output=True, check=False,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)))
            if done.returncode == 0:
                return size
        return 1 << 30

    def with_limit(self, job: Job, limit: int, size: int, reason: str = "") -> None:
        out = self.fresh()
        old = self.old_outputs(job, out) if job.expected else {}
        process = self.start(job, out, {}, bool(job.expected),
                             preexec_fn=lambda: resource.setrlimit(limit, (size, size)))
        name = {resource.RLIMIT_AS: "address space", resource.RLIMIT_NOFILE: "descriptors",
                resource.RLIMIT_FSIZE: "file size"}[limit]
        ended = self.finish(process)
        # The loader itself, which the program has no say in, ends with 127.
        if not (ended.status == 127 and "error while loading shared libraries" in ended.stderr):
            self.judge(f"{name} of {size}", job, out, old, ended, reason=reason)
        shutil.rmtree(out)
        with self.lock:
            self.faults += 1

    def limits_part(self) -> None:
        """Few descriptors, small files."""
        tasks = [(self.with_limit, job, resource.RLIMIT_NOFILE, count) for job in self.jobs
                 for count in range(3, 7 if self.short else 16)]
        for job in self.jobs:
            if job.expected:
                largest = max(map(len, job.expected.values()))
                for size in sorted({0, 1, largest // 2, largest - 1}):
                    tasks.append((self.with_limit, job, resource.RLIMIT_FSIZE, size, "File too large"))
                tasks.append((self.with_limit, job, resource.RLIMIT_FSIZE, largest))
        self.in_parallel(tasks)

    def disk_part(self) -> None:
        """A filesystem of one megabyte, filled to a different degree each time."""
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = shutil.which("mount") and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "ckpt-harden", disk], capture_output=True, check=False).returncode == 0
        if not mounted:
            print("skipped: a full disk (no filesystem can be mounted here; limits on file size and ENOSPC stand in)")
            return
        try:
            for job in self.jobs:
                if not job.expected or job.is_large:
                    continue
                for room in (0, 4096, 8192, 16384, 1 << 19):
                    for path in disk.iterdir():
                        shutil.rmtree(path) if path.is_dir() else path.unlink()
                    out = disk / "out"
                    out.mkdir()
                    old = self.old_outputs(job, out)
                    with (disk / "filler").open("wb") as filler:
                        try:
                            filler.write(bytes(1 << 21))
                            filler.flush()
                        except OSError:
                            pass
                        try:
                            filler.close()
                        except OSError:
                            pass
                    size = (disk / "filler").stat().st_size
                    os.truncate(disk / "filler", max(size - room, 0))
                    ended = self.run(job, out, force=True)
                    self.judge(f"a disk with {room} bytes left", job, out, old, ended, must_succeed=room == 1 << 19)
                    self.faults += 1
        finally:
            subprocess.run(["umount", disk], check=False)

    def permissions_part(self) -> None:
        """A folder that may not be written to, an input that may not be read."""
        as_nobody = {}
        if os.geteuid() == 0:
            as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            reachable = subprocess.run([self.ckpt, "--version"], capture_output=True, check=False, cwd=self.folder,
                                       **as_nobody) if self.opened_to_all() else None
            if reachable is None or reachable.returncode != 0:
                print("skipped: permissions (user nobody does not reach the program)")
                return
        for job in self.jobs:
            if not job.expected:
                continue
            out = self.fresh()
            old = self.old_outputs(job, out)
            places = [out, *(path for path in out.rglob("*") if path.is_dir())]
            for path in places:
                path.chmod(0o555)
            ended = self.run(job, out, force=True, **as_nobody)
            for path in places:
                path.chmod(0o755)
            self.judge("a folder that is read-only", job, out, old, ended, reason="Permission denied")
            if ended.status != 2:
                self.find(f"{job.name}: a folder that is read-only: status {ended.status}")
            shutil.rmtree(out)
            self.scenes += 1
        hidden = self.folder / "hidden.safetensors"
        shutil.copyfile(self.inputs / "small.safetensors", hidden)
        hidden.chmod(0)
        out = self.fresh()
        out.chmod(0o777)
        for words in (["convert", hidden, "{out}/out.bpk"], ["inspect", hidden], ["check", hidden], ["lock", hidden],
                      ["diff", hidden, self.inputs / "small.pt"]):
            ended = self.run(Job("unreadable", words), out, **as_nobody)
            self.judge(f"{words[0]} of a file without permission", Job("unreadable", words), out, {}, ended,
                       reason="Permission denied")
            if ended.status != 2:
                self.find(f"{words[0]} of a file without permission: status {ended.status}")
            self.scenes += 1

    def opened_to_all(self) -> bool:
        """Whether somebody else can get at the folder and the program."""
        self.folder.chmod(0o755)
        return all(path.stat().st_mode & stat.S_IXOTH for place in (self.folder, Path(self.ckpt).parent)
                   for path in (place, *place.parents))

    def inputs_part(self) -> None:
        """The input is cut, written to or replaced before the N-th time that it is read."""
        tasks = []
        for job in self.jobs:
            for word in job.words:
                # Half a text is another text.
                if not isinstance(word, Path) or not word.is_file() or word == self.lock_file:
                    continue
                for name, most in (("pread", 24), ("copy_file_range", 12), ("fstat", 2)):
                    count = job.counts.get(name, 0)
                    most = 4 if self.short else most
                    numbers = {*range(1, min(count, most // 2) + 1), *range(max(1, count - most // 2), count + 1)}
                    tasks += [(self.changed_input, job, word, name, number, action) for number in sorted(numbers)
                              for action in ("cut", "write", "replace")]
        print(f"inputs: {len(tasks)}", flush=True)
        self.in_parallel(tasks)

    def changed_input(self, job: Job, source: Path, name: str, number: int, action: str) -> None:
        out, mine = self.fresh(), self.fresh() / source.name
        shutil.copyfile(source, mine)
        os.utime(mine, (1e9, 1e9))
        shutil.copyfile(source, f"{mine}.new")  # opened again, it is as good as the first
        old = self.old_outputs(job, out) if job.expected else {}
        named = (str(source).encode(), str(mine).encode())
        changed = Job(job.name, [mine if word == source else word for word in job.words], older_set=job.older_set, status=job.status,
                      expected={path: whole.replace(*named) for path, whole in job.expected.items()},
                      stdout=job.stdout.replace(*named))
        ended = self.run(changed, out, {"FAULT": f"{name}:{number}:{action}", "FAULT_FILE": str(mine)},
                         force=bool(job.expected))
        what = f"{source.name} changes: {name}:{number}:{action}"
        self.judge(what, changed, out, old, ended, must_succeed=action == "replace")
        # The only file that is read, and there is something left to read.
        is_alone = sum(isinstance(word, Path) for word in job.words) == 1 and job.name != "verified"
        if is_alone and action != "replace" and name != "fstat" and ended.status != 2:
            self.find(f"{job.name}, {what}: status {ended.status}, and nothing is said")
        shutil.rmtree(out)
        shutil.rmtree(mine.parent)
        with self.lock:
            self.faults += 1

    def outputs_part(self) -> None:
        """Devices, pipes, links."""
        small = self.inputs / "small.safetensors"
        large = self.inputs / "large.safetensors"
        words = ["convert", "--quiet", "--adapter", "none", "--to", "burnpack"]
        whole = self.jobs[0].expected["out.bpk"]

        def expect(what, ok, ended):
            self.scenes += 1
            if not ok:
                self.find(f"{what}: status {ended.status}: {ended.stderr.strip()[-300:]}")

        out = self.fresh()
        run = lambda source, target, *more, **how: self.run(Job("", [*words, *more, source, target]), out, **how)
        ended = run(small, "/dev/null")
        expect("to /dev/null", ended.status == 0 and stat.S_ISCHR(os.stat("/dev/null").st_mode), ended)
        for source in (small, large):
            ended = run(source, "/dev/full")
            expect("to /dev/full", ended.status == 2 and "/dev/full" in ended.stderr
                   and "No space left" in ended.stderr, ended)
        ended = run(small, "/dev/stdout")
        expect("to a pipe", ended.status == 0 and ended.stdout == whole, ended)

        # A reader that goes away.
        for limit in (0, 1000, 100_000):
            process = self.start(Job("", [*words, large, "/dev/stdout"]), out, {})
            process.stdout.read(limit)
            process.stdout.close()
            process.stdout = None
            ended = self.finish(process)
            expect(f"to a pipe that is closed after {limit} bytes", ended.status == 2 and "Broken pipe" in ended.stderr,
                   ended)
        fifo = out / "fifo"
        os.mkfifo(fifo)
        for limit in (None, 1000):
            process = self.start(Job("", [*words, large, fifo]), out, {})
            with fifo.open("rb") as reader:
                read = reader.read() if limit is None else reader.read(limit)
            ended = self.finish(process)
            is_right = (ended.status == 0 and len(read) > 1000) if limit is None else (
                ended.status == 2 and "fifo" in ended.stderr and "Broken pipe" in ended.stderr)
            expect(f"to a FIFO, {'all' if limit is None else 'some'} of it read",
                   is_right and stat.S_ISFIFO(fifo.stat().st_mode), ended)
        fifo.unlink()

        # What a link points to is replaced, the link stays.
        (out / "inner").mkdir()
        (out / "second").symlink_to("inner/target")
        (out / "first").symlink_to(out / "second")
        for had_target in (False, True):
            if had_target:
                (out / "inner/target").write_bytes(OLD)
            ended = run(small, out / "first", "--force")
            expect("through links", ended.status == 0 and (out / "inner/target").read_bytes() == whole
                   and (out / "first").is_symlink() and (out / "second").is_symlink(), ended)
        ended = run(small, out / "first")
        expect("through links to a file that exists", ended.status == 2 and "already exists" in ended.stderr, ended)
        shutil.rmtree(out / "inner")
        ended = run(small, out / "first", "--force")
        expect("through links to a folder that is missing", ended.status == 2 and sorted(os.listdir(out)) ==
               ["first", "second"], ended)

        # Standard output that takes nothing.
        for job in self.jobs:
            if not job.stdout:
                continue
            mine = self.fresh()
            with open("/dev/full", "wb") as full:
                ended = self.run(job, mine, stdout=full)
            expect(f"{job.name} with standard output on /dev/full", ended.status == 2
                   and "standard output" in ended.stderr, ended)
            shutil.rmtree(mine)
        # Standard error that takes nothing does not change the result.
        for target in ("/dev/full", None):
            mine = self.fresh()
            with open(target or os.devnull, "wb") as error:
                process = subprocess.run(
                    [self.ckpt, "convert", "--adapter", "none", small, mine / "out.bpk"], stderr=error, check=False,
                    stdin=subprocess.DEVNULL, preexec_fn=None if target else lambda: os.close(2))
            expect(f"standard error {target or 'closed'}", process.returncode == 0
                   and (mine / "out.bpk").read_bytes() == whole, Ended(process.returncode, b"", ""))
            shutil.rmtree(mine)
        # Nothing open at all: a file must not be taken for standard output.
        mine = self.fresh()
        process = subprocess.run([self.ckpt, "convert", "--adapter", "none", small, mine / "out.bpk"], check=False,
                                 preexec_fn=lambda: os.closerange(0, 3))
        expect("no standard streams", process.returncode == 0 and (mine / "out.bpk").read_bytes() == whole,
               Ended(process.returncode, b"", ""))
        shutil.rmtree(mine)

    def races_part(self) -> None:
        """Several conversions to one output at once, and into one folder."""
        rounds = 10 if self.short else 60
        sources = [self.inputs / "small.safetensors", self.inputs / "other.safetensors"]
        wholes = []
        for source in sources:
            out = self.fresh()
            self.run(Job("", ["convert", "--quiet", "--adapter", "none", source, "{out}/out.bpk"]), out)
            wholes.append((out / "out.bpk").read_bytes())
        for i in range(rounds):
            force = i % 2 == 1
            without = ("", "tmpfile,move", "tmpfile,move,lock")[i % 3]
            out = self.fresh()
            old = {}
            if force and i % 4 == 1:
                (out / "out.bpk").write_bytes(OLD)
            processes = [self.start(Job("", ["convert", "--quiet", "--adapter", "none", sources[k % 2],
                                             "{out}/out.bpk"]), out, {"FAULT_WITHOUT": without}, force=force)
                         for k in range(4)]
            ended = [self.finish(process) for process in processes]
            now = tree(out)
            statuses = sorted(one.status for one in ended)
            is_right = sorted(now) == ["out.bpk"] and now["out.bpk"] in wholes
            is_right = is_right and statuses == ([0, 0, 0, 0] if force else [0, 2, 2, 2])
            losers = [one for one in ended if one.status == 2]
            is_right = is_right and all("already exists" in one.stderr for one in losers)
            if not force and is_right:
                winner = next(k for k, one in enumerate(ended) if one.status == 0)
                is_right = now["out.bpk"] == wholes[winner % 2]
            if not is_right:
                self.find(f"four conversions to one output{' with --force' if force else ''}"
                          f"{' without ' + without if without else ''}: {statuses}, {sorted(now)}: "
                          f"{[one.stderr for one in losers]}")
            shutil.rmtree(out)
            self.scenes += 1
        # Sets, some of more files than others: the last to be written is there, and nothing of the others.
        sizes = ("1000", "3000", "1MB", "1500")
        sets = []
        for k, size in enumerate(sizes):
            out = self.fresh()
            self.must("convert", "--quiet", sources[k % 2], out / "set", "--shard-size", size)
            sets.append(tree(out))
        for i in range(rounds):
            out = self.fresh()
            processes = [self.start(Job("", ["convert", "--quiet", sources[k % 2], "{out}/set", "--shard-size", size]),
                                    out, {}, force=True) for k, size in enumerate(sizes)]
            ended = [self.finish(process) for process in processes]
            if any(one.status for one in ended) or tree(out) not in sets:
                self.find(f"four sets in one folder: {[(one.status, one.stderr) for one in ended]}, {sorted(tree(out))}")
            shutil.rmtree(out)
            self.scenes += 1
        # Others that clear the folder do not take a file that is being written for a stranded one.
        out = self.fresh()
        stranded = out / ".ckpt-1-0.tmp"  # process 1 lives
        stranded.write_bytes(b"stranded")
        slow = [self.start(Job("", ["convert", "--quiet", "--adapter", "none", self.inputs / "large.safetensors",
                                    f"{{out}}/slow-{k}.bpk"]), out, {"FAULT_WITHOUT": "tmpfile,move"}) for k in range(4)]
        for k in range(20):
            self.run(Job("", ["convert", "--quiet", "--adapter", "none", sources[0], f"{{out}}/quick-{k}.bpk"]), out,
                     {"FAULT_WITHOUT": "tmpfile,move"})
        ended = [self.finish(process) for process in slow]
        if any(one.status for one in ended) or len(tree(out)) != 24 or stranded.exists():
            self.find(f"writing and clearing at once: {[one.stderr for one in ended]}, {sorted(tree(out))}")
        self.scenes += 1


PARTS = ("kills", "faults", "memory", "limits", "disk", "permissions", "inputs", "outputs", "races")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ckpt", required=True)
    parser.add_argument("--faults", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--kills", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("parts", nargs="*", metavar="PART", choices=[*PARTS, []])
    options = parser.parse_args()
    options.kills = options.kills if options.kills is not None else 20 if options.short else 200
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="harden-") as name:
        harness = Harness(options, Path(name).resolve())
        for part in options.parts or PARTS:
            begun = time.monotonic()
            before = (harness.kills, harness.faults + harness.scenes)
            getattr(harness, f"{part}_part")()
            print(f"{part}: {harness.kills - before[0]} kills, {harness.faults + harness.scenes - before[1]} faults, "
                  f"{time.monotonic() - begun:.0f} s", flush=True)
        if tree(harness.inputs) != harness.input_bytes:
            harness.find("an input has changed")
    print(f"kills survived {harness.kills}, faults injected {harness.faults + harness.scenes}, "
          f"findings {len(harness.findings)}")
    return 1 if harness.findings else 0


if __name__ == "__main__":
    sys.exit(main())
