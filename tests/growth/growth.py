#!/usr/bin/env python3
"""Measures that what a command costs grows with its input, and not with the square of it.

Usage: growth.py PEAK_MEMORY CKPT DIRECTORY [--table] [CASE...]

Each case makes inputs of a size that is a parameter. The largest is tried first: where it takes little time and
memory, nothing can be wrong. Otherwise an eighth of it is measured too, and eight times as much input may take
twenty times as long (n log n, and a generous rest). Time is that of the processor, not of the clock. --table
measures all of n, 2n, 4n, 8n and prints them.
"""

import gzip
import json
import os
import re
import resource
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import files
from files import burnpack, headed, integer, lock, pytorch, safetensors, state_dict, storage, tensor, text

LONGEST = 5  # seconds after which a command is stopped, …
LARGEST = 4 << 30  # … and bytes that it is given at most
LITTLE = 0.3  # seconds that are never judged
TIMES = 20  # as long for eight times the input
MEMORY = 96 << 20  # bytes that any command may take …
MEMORY_PER_TENSOR = 1024  # … and for each tensor, …
MEMORY_PER_BYTE = 160  # … or, where the file is no list of tensors, for each byte of it, …
MEMORY_PER_BYTE_PASSED = 4  # … which is much less where the file is read as it comes

RECORD = {"float": "f32", "int": "i32", "format": "burn_core::record::file::PrettyJsonFileRecorder",
          "version": "0.13.2", "settings": "FullPrecisionSettings"}
CASES = {}


def case(largest: int, tensors: bool = False, per_byte: int = MEMORY_PER_BYTE):
    """A case: a function of a folder and a size that gives commands. `tensors`: the size is their number."""

    def register(make):
        CASES[make.__name__] = (make, largest, tensors, per_byte)
        return make

    return register


def layers(count: int, stem: str = "layers", leaf: str = "weight") -> list:
    return [f"{stem}.{i // 4}.part{i % 4}.{leaf}" for i in range(count)]


# Many tensors


@case(40_000, tensors=True)
def tensors_of_safetensors(folder, n):
    a = safetensors(folder / "a.safetensors", layers(n))
    yield "inspect", a
    yield "inspect", "--json", a
    yield "check", a
    yield "lock", a
    yield "diff", a, a
    yield "remap", a, "--rename", r"layers\.(\d+) => h.$1"
    yield "check", a, "--like", a
    yield "convert", a, folder / "o.bpk", "--adapter", "none"
    yield "convert", a, folder / "o.pt"


@case(40_000, tensors=True)
def tensors_of_pytorch(folder, n):
    a = files.many_storages(folder / "a.pt", layers(n))
    yield "inspect", a
    yield "check", a
    yield "lock", a
    yield "convert", a, folder / "o.safetensors"
    yield "convert", a, folder / "o.pt"


@case(40_000, tensors=True)
def tensors_of_burnpack(folder, n):
    a = burnpack(folder / "a.bpk", layers(n))
    yield "inspect", a
    yield "check", a
    yield "convert", a, folder / "o.safetensors"
    yield "diff", a, a


@case(20_000, tensors=True)
def tensors_of_records(folder, n):
    item = {f"l{i}": {"id": "avq43klip2pc6", "param": {"value": [1.0], "shape": [1]}} for i in range(n)}
    a = folder / "a.json"
    a.write_text(json.dumps({"metadata": RECORD, "item": item}))
    yield "inspect", a
    yield "convert", a, folder / "o.bpk"


@case(10_000)
def records_of_long_paths(folder, n):
    """One long key above n parameters, and above n numbers."""
    for name, leaf in (("a", {"id": "avq43klip2pc6", "param": {"value": [1.0], "shape": [1]}}), ("b", 1)):
        made = folder / f"{name}.json"
        item = {"k" * 50 * n: {f"l{i}": leaf for i in range(n)}}
        made.write_text(json.dumps({"metadata": RECORD, "item": item}))
        yield "inspect", made


@case(5_000_000, per_byte=MEMORY_PER_BYTE_PASSED)
def records_of_numbers(folder, n):
    """Lists of numbers, which are packed as they are read, and of what is smaller as a text than as a value."""
    zeros = "0," * (n - 1) + "0"
    items = {"bytes": f'{{"w":{{"bytes":[{zeros}],"shape":[{n}],"dtype":"U8"}}}}',
             "value": f'{{"w":{{"value":[{zeros}],"shape":[{n}]}}}}',
             "values": f"[{zeros}]",
             "deep": '{"value":[{"a":1},' * 60 + zeros + "]}" * 60,
             "lists": "[" + "[]," * (n // 2) + "[]]",
             "texts": "[" + '"",' * (n // 2) + '""]',
             "keys": "{" + ",".join(f'"{i:x}":0' for i in range(n // 5)) + "}"}
    for name, item in items.items():
        made = folder / f"{name}.json"
        made.write_text(f'{{"metadata":{json.dumps(RECORD)},"item":{item}}}')
        yield "inspect", made
    folded = folder / "bytes.json.gz"
    folded.write_bytes(gzip.compress((folder / "bytes.json").read_bytes(), 1))
    yield "inspect", folded
    yield "convert", folded, folder / "o.bpk"
    size = struct.pack(">I", n)
    packed = folder / "value.mpk"
    packed.write_bytes(b"\x82\xa8metadata\x80\xa4item\x81\xa1w\x82\xa5value\xdd" + size + b"\x01" * n
                       + b"\xa5shape\x91\xce" + size)
    yield "inspect", packed
    yield "convert", packed, folder / "o2.bpk"


@case(20_000, tensors=True)
def tensors_at_one_place(folder, n):
    a = files.one_storage(folder / "a.pt", layers(n))
    yield "inspect", a
    yield "check", a
    yield "lock", a
    yield "diff", a, a
    yield "inspect", "--id", a
    yield "convert", a, folder / "o.safetensors"
    yield "convert", a, folder / "o.pt"


@case(20_000, tensors=True)
def tensors_that_overlap(folder, n):
    a = files.one_storage(folder / "a.pt", layers(n), lambda i: i % 60)
    yield "inspect", a
    yield "check", a
    yield "diff", a, a
    yield "convert", a, folder / "o.pt"


@case(20_000, tensors=True)
def tensors_that_unfold(folder, n):
    """64 bytes of which each tensor makes 64 MiB."""
    entries = ((name, tensor("0", 64, i % 60, 1 << 26, 0)) for i, name in enumerate(layers(n)))
    a = pytorch(folder / "a.pt", state_dict(entries), [("0", 64)])
    yield "inspect", a
    yield "check", a
    yield "diff", a, a
    yield "inspect", "--id", a
    yield "inspect", "--stats", a
    yield "inspect", "--sha256", a
    yield "convert", a, folder / "o.safetensors"
    yield "check", a, "--salvage", folder / "s.safetensors"


@case(20_000, tensors=True)
def empty_tensors(folder, n):
    a = safetensors(folder / "a.safetensors", layers(n), shape=(0, 3))
    yield "inspect", a
    yield "check", a
    yield "convert", a, folder / "o.pt"


# Names


@case(400_000)
def long_names(folder, n):
    a = safetensors(folder / "a.safetensors", ["a" * n, "a" * (n - 1)])
    b = safetensors(folder / "b.safetensors", ["a" * (n - 2), "b" * n])
    yield "inspect", a
    yield "lock", a
    yield "diff", a, b
    yield "remap", a, "--rename", "a => "
    yield "convert", a, folder / "o.bpk", "--adapter", "pytorch-to-burn"


@case(40_000)
def names_of_many_segments(folder, n):
    a = safetensors(folder / "a.safetensors", [".".join(["a"] * n)])
    yield "inspect", a
    yield "remap", a, "--renumber"
    yield "convert", a, folder / "o.bpk", "--adapter", "pytorch-to-burn"


@case(100_000)
def names_of_digits(folder, n):
    a = safetensors(folder / "a.safetensors", ["1" * n, "1" * (n - 1) + "2", "0" * n])
    yield "inspect", "--sort", a
    yield "lock", a
    yield "remap", a, "--renumber"


@case(20_000)
def duplicate_names(folder, n):
    entry = '{"dtype":"I8","shape":[0],"data_offsets":[0,0]}'
    a = headed(folder / "a.safetensors", "{" + ",".join([f'"a":{entry}'] * n) + "}", 0)
    yield "inspect", a
    tensors = files.cbor({"dtype": "U8", "shape": [0], "data_offsets": [0, 0]})
    metadata = b"\xa1" + files.cbor("tensors") + files.cbor_head(5, n) + (files.cbor("a") + tensors) * n
    yield "inspect", burnpack(folder / "a.bpk", [], metadata=metadata)
    yield "inspect", files.one_storage(folder / "a.pt", ["a"] * n)


# Depth


@case(400_000)
def nested_json(folder, n):
    yield "inspect", headed(folder / "a.safetensors", '{"a":' + "[" * n + "]" * n + "}", 0)
    a = folder / "a.json"
    a.write_text('{"metadata":' + json.dumps(RECORD) + ',"item":' + '{"a":' * n + "1" + "}" * n + "}")
    yield "inspect", a


@case(400_000)
def nested_cbor(folder, n):
    for name, nest in (("arrays", b"\x81"), ("maps", b"\xa1\x61a"), ("open", b"\x9f"), ("tags", b"\xc1")):
        yield "inspect", burnpack(folder / f"{name}.bpk", [], metadata=b"\xa1" + files.cbor("tensors") + nest * n)


@case(400_000)
def nested_pickles(folder, n):
    yield "inspect", pytorch(folder / "a.pt", b"\x80\x02" + b"N" + b"\x85" * n + b".")
    yield "inspect", pytorch(folder / "b.pt", b"\x80\x02" + b"}X\x01\x00\x00\x00k" * n + b"N" + b"s" * n + b".")
    yield "inspect", pytorch(folder / "c.pt", b"\x80\x02" + b"(" * n + b"." + b"l" * n)


# Memory of a pickle


@case(400_000)
def references_to_a_memo(folder, n):
    yield "inspect", pytorch(folder / "a.pt", b"\x80\x02](K\x01q\x00" + b"h\x00" * n + b"e.")
    numbered = b"".join(b"K\x01r" + i.to_bytes(4, "little") for i in range(n // 4))
    yield "inspect", pytorch(folder / "b.pt", b"\x80\x02](" + numbered + b"e.")
    sparse = b"".join(b"K\x01r" + (i * 65537).to_bytes(4, "little") for i in range(n // 8))
    yield "inspect", pytorch(folder / "c.pt", b"\x80\x02](" + sparse + b"e.")
    again = b"".join(b"p" + str(i).encode() + b"\n" for i in range(n // 8))
    yield "inspect", pytorch(folder / "d.pt", b"\x80\x02]" + again + b".")


@case(800)
def shared_tuples(folder, n):
    """Each holds the one before twice: 2^n paths."""
    yield "inspect", pytorch(folder / "a.pt", b"\x80\x02K\x01" + b"2\x86" * n + b".")
    yield "inspect", "--json", folder / "a.pt"
    dicts = b"".join(b"q\x00}(X\x01\x00\x00\x00ah\x00X\x01\x00\x00\x00bh\x00u" for _ in range(n))
    yield "inspect", pytorch(folder / "b.pt", b"\x80\x02" + tensor("0", 1) + dicts + b".", [("0", 1)])
    yield "check", folder / "b.pt"


@case(2_000)
def shared_lists(folder, n):
    """n lists that hold the same n numbers: n * n values."""
    inner = b"](" + integer(7) * n + b"eq\x01"
    yield "inspect", pytorch(folder / "a.pt", b"\x80\x02](" + inner + b"h\x01" * n + b"e.")
    yield "inspect", "--json", folder / "a.pt"
    tensors = b"](" + tensor("0", 1) * n + b"eq\x01"
    yield "inspect", pytorch(folder / "b.pt", b"\x80\x02](" + tensors + b"h\x01" * n + b"e.", [("0", 1)])


@case(2_000_000)
def long_integers(folder, n):
    value = b"\x8b" + n.to_bytes(4, "little") + b"\x7f" * n
    yield "inspect", pytorch(folder / "a.pt", state_dict([("epoch", value)]))
    yield "inspect", "--json", pytorch(folder / "b.pt", state_dict([("epoch", b"L" + b"9" * n + b"L\n")]))
    yield "inspect", pytorch(folder / "c.pt", state_dict([("epoch", b"F" + b"9" * n + b"\n")]))
    a = folder / "a.json"
    a.write_text('{"metadata":' + json.dumps(RECORD) + ',"item":{"a":' + "9" * n + "}}")
    yield "inspect", a


ONE = [("0", 64)]  # the storage of tensors that `tensor("0", 64)` makes


@case(40_000)
def keys_spelled_alike(folder, n):
    yield "inspect", pytorch(folder / "a.pt", b"\x80\x02}(" + (b"N" + tensor("0", 64)) * n + b"u.", ONE)
    values = tensor("0", 64) + b"}(" + text("t") + tensor("0", 64) + b"NK\x01" * n + b"u"
    yield "inspect", pytorch(folder / "b.pt", b"\x80\x02](" + values + b"e.", ONE)


@case(40_000)
def keys_of_one_bucket(folder, n):
    """Integers that libstdc++'s hash tables put into one place, whichever of these sizes they have by then."""
    keys = [i * 5_087 * 42_043 * 85_229 for i in range(n)]
    pairs = b"".join(b"\x8a\x08" + key.to_bytes(8, "little") + b"K\x01" for key in keys)
    yield "inspect", pytorch(folder / "a.pt", b"\x80\x02}(" + pairs + b"u.")
    puts = b"".join(b"K\x01p" + str(key + 2**40).encode() + b"\n" for key in keys)
    yield "inspect", pytorch(folder / "b.pt", b"\x80\x02](" + puts + b"e.")


@case(20_000)
def shared_objects(folder, n):
    """One object that is dear to look at, in n places."""
    settings_ = b"".join(text(f"k{i}") + b"K\x01" for i in range(n)) + text("t") + tensor("0", 64)
    again = (text("t") + tensor("0", 64)) * (n // 8)
    for name, inner in (("dict", b"}(" + settings_ + b"u"), ("again", b"}(" + again + b"u"),
                        ("plain", b"}(" + (text("k") + b"K\x01") * n + b"u")):
        pickle = b"\x80\x02](" + inner + b"q\x01" + b"h\x01" * n + tensor("0", 64) + b"e."
        yield "inspect", pytorch(folder / f"{name}.pt", pickle, ONE)


@case(10_000)
def shared_texts(folder, n):
    """One long key, text, class, array or shape in n places: each may be shown, none may be copied n times."""
    long = text("k" * 50 * n) + b"q\x01"
    size = b"(" + integer(1) * 4000 + b"tq\x01"
    data = b"c_codecs\nencode\n" + text("k" * 50 * n) + text("latin1") + b"\x86Rq\x01"
    array = (b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R(K\x01"
             + integer(50 * n) + b"\x85cnumpy\ndtype\n" + text("i1") + b"\x85Rh\x00h\x01tb")
    scaled = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage("0", 64) + b"K\x00h\x01h\x01\x89}tR"
    for name, first, each in (("keys", long, b"}h\x01K\x01s"), ("names", long, b"}h\x01" + tensor("0", 64) + b"s"),
                              ("texts", long, b"h\x01"), ("shapes", size, scaled),
                              ("arrays", b"\x89q\x00" + data, array)):
        yield "inspect", pytorch(folder / f"{name}.pt", b"\x80\x02](" + first + each * n + b"e.", ONE)


@case(10_000)
def places_of_tensors(folder, n):
    """Dicts that hold a tensor each, beside one that is called a model."""
    dicts = []
    dicts += [(f"a{i}", b"}" + text("t") + tensor("0", 64) + b"s") for i in range(n)]
    dicts.append(("model", b"}" + text("t") + tensor("0", 64) + b"s"))
    yield "inspect", pytorch(folder / "a.pt", state_dict(dicts), ONE)
    members = b"".join(text(f"b{i}") + tensor("0", 64) for i in range(n))
    skipped = b"c__builtin__\nset\n](" + b"".join(text(f"x{i}") for i in range(n)) + b"e\x85R"
    parts = [("_parameters", b"}"), ("_modules", b"}"), ("_buffers", b"}(" + members + b"u"),
             ("_non_persistent_buffers_set", skipped)]
    module = b"cmodels\nNet\n)R}(" + b"".join(text(name) + value for name, value in parts) + b"ub"
    yield "inspect", pytorch(folder / "b.pt", b"\x80\x02" + module + b".", ONE)


@case(100_000)
def settings(folder, n):
    beside = [("t", tensor("0", 64))] + [(f"k{i}", integer(i)) for i in range(n)]
    yield "inspect", pytorch(folder / "beside.pt", state_dict(beside), ONE)
    yield "inspect", pytorch(folder / "a.pt", state_dict([(f"k{i}", integer(i)) for i in range(n)]))
    yield "inspect", "--json", folder / "a.pt"
    yield "inspect", pytorch(folder / "b.pt", state_dict([("same", integer(i)) for i in range(n)]))
    yield "inspect", pytorch(folder / "c.pt", state_dict([("k", b"](" + integer(1) * n + b"e")]))
    nested = b"](" + b"".join(b"}" + text("k") + integer(i) + b"s" for i in range(n // 4)) + b"e"
    yield "inspect", pytorch(folder / "d.pt", state_dict([("k", nested)]))


@case(40_000)
def globals_of_pickles(folder, n):
    names = b"".join(f"cmodels{i}\nNet\n".encode() for i in range(n))
    a = pytorch(folder / "a.pt", b"\x80\x02](" + names + b"e.")
    yield "inspect", a
    yield "check", a
    calls = b"".join(f"cmodels{i}\nNet\n)R}}b".encode() for i in range(n))
    yield "check", pytorch(folder / "b.pt", b"\x80\x02](" + calls + b"e.")


@case(10_000)
def optimizers(folder, n):
    """The state of Adam for n parameters."""

    def state(i):
        moments = ((name, tensor("0", 64, i % 60)) for name in ("exp_avg", "exp_avg_sq"))
        return integer(i) + b"}(" + text("step") + integer(9) + b"".join(text(k) + v for k, v in moments) + b"u"

    group = (b"}(" + text("lr") + b"G?\xf0\0\0\0\0\0\0" + text("betas") + integer(0) + integer(0) + b"\x86"
             + text("eps") + integer(0) + text("weight_decay") + integer(0) + text("amsgrad") + b"\x89"
             + text("params") + b"](" + b"".join(map(integer, range(n))) + b"eu")
    optimizer = (b"}(" + text("state") + b"}(" + b"".join(map(state, range(n))) + b"u"
                 + text("param_groups") + b"]" + group + b"au")
    model = b"}(" + b"".join(text(f"m.{i}.weight") + tensor("0", 64) for i in range(n)) + b"u"
    a = pytorch(folder / "a.pt", state_dict([("model", model), ("optimizer", optimizer)]), [("0", 64)])
    yield "inspect", a
    yield "inspect", "--optimizer", a
    yield "check", a
    yield ("convert", a, folder / "o.bpk", "--top-level-key", "model", "--adapter", "none",
           "--optimizer-out", folder / "o.optim.bpk")


# Containers


@case(100_000)
def members_of_an_archive(folder, n):
    a = pytorch(folder / "a.pt", b"\x80\x02}.", [(f"other{i}", 0) for i in range(n // 4)])
    yield "inspect", a
    yield "check", a
    long = pytorch(folder / "b.pt", b"\x80\x02}.", [("n" * 20_000 + str(i), 0) for i in range(n // 1000)])
    yield "inspect", long
    cut = folder / "cut.pt"
    cut.write_bytes(a.read_bytes()[: a.stat().st_size // 2])
    yield "check", cut, "--salvage", folder / "o.safetensors"


@case(20_000)
def damaged_files(folder, n):
    a = safetensors(folder / "a.safetensors", layers(n))
    a.write_bytes(a.read_bytes()[:-n // 2])
    yield "check", a, "--salvage", folder / "o.safetensors"
    b = files.many_storages(folder / "b.pt", layers(n // 2))
    b.write_bytes(b.read_bytes()[: b.stat().st_size * 9 // 10])
    yield "check", b, "--salvage", folder / "o.safetensors"


@case(40_000)
def notes_of_safetensors(folder, n):
    a = safetensors(folder / "a.safetensors", ["a"], {f"key {i}": f"value {i}" for i in range(n)})
    yield "inspect", a
    yield "convert", a, folder / "o.bpk", "--adapter", "none"
    yield "inspect", safetensors(folder / "b.safetensors", ["a"], {"k": "\x1b[31m" * n})
    scalars = {f"s{i}": {"UInt": 3} for i in range(n)}
    c = burnpack(folder / "c.bpk", ["a"], {"metadata": {f"k{i}": "v" for i in range(n)}, "scalars": scalars})
    yield "inspect", c
    yield "convert", c, folder / "o2.bpk"


@case(40_000)
def index_of_a_set(folder, n):
    names = layers(n)
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": dict.fromkeys(names, "a.safetensors")}))
    safetensors(folder / "a.safetensors", names)
    yield "inspect", folder
    yield "check", folder
    more = {**dict.fromkeys(names, "a.safetensors"), **dict.fromkeys(layers(n, "gone"), "a.safetensors")}
    other = folder / "other"
    other.mkdir(exist_ok=True)
    (other / index.name).write_text(json.dumps({"metadata": {}, "weight_map": more}))
    safetensors(other / "a.safetensors", names)
    yield "inspect", other


@case(2_000)
def shards_of_a_set(folder, n):
    shards = {f"l{i}.w": f"model-{i + 1:05}-of-{n:05}.safetensors" for i in range(n)}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": shards}))
    for name, shard in shards.items():
        safetensors(folder / shard, [name], {"format": "pt", name: name})
    yield "inspect", folder
    yield "check", folder
    yield "convert", folder, folder / "o.bpk", "--adapter", "none"


# Rules and targets


@case(4_000)
def rules(folder, n):
    a = safetensors(folder / "a.safetensors", layers(40))
    many = folder / "many.rules"
    many.write_text("".join(rf"^layers\.{i}\.x => b{i}." + "\n" for i in range(n)))
    yield "remap", a, "--remap", many
    names = folder / "names.map"
    b = safetensors(folder / "b.safetensors", layers(n))
    names.write_text("".join(f"{name} => new.{name}\n" for name in layers(n)))
    yield "remap", b, "--map", names
    yield "remap", b, "--map", names, "--invert"
    kinds = folder / "kinds"
    kinds.write_text("".join(rf"^layers\.{i}\.x$ => Linear" + "\n" for i in range(n)))
    yield "convert", a, folder / "o.bpk", "--adapter", "pytorch-to-burn", "--modules", kinds


@case(2_000)
def regular_expressions(folder, n):
    a = safetensors(folder / "a.safetensors", [f"{'a' * 40}{i}" for i in range(n)])
    for pattern in (r"(a+)+$", r"(a|aa)+$", r"(.*)*x", r"^(\w+\s?)*$", r"(?:a?){30}a{30}$"):
        yield "remap", a, "--rename", pattern + " => b"
    yield "inspect", a, "--include", r"^(a+)+b$"


@case(40_000)
def other_names(folder, n):
    a = safetensors(folder / "a.safetensors", layers(n))
    b = safetensors(folder / "b.safetensors", layers(n, "blocks"))
    c = safetensors(folder / "c.safetensors", [f"{i * 2654435761 % 2**32:x}.weight" for i in range(n)])
    for other in (b, c):
        yield "diff", a, other


@case(20_000, tensors=True)
def names_that_do_not_fit(folder, n):
    """Targets with nothing in common, with one odd name, and with the same names; and lists that count otherwise."""
    n //= 2  # of each of two files
    same = layers(n)
    odd = [*same[: n // 3], "odd.thing.weight", *same[n // 3 + 1 :]]
    other_part = [*same[: n // 3], f"layers.{n // 12}.part9.weight", *same[n // 3 + 1 :]]
    a = safetensors(folder / "a.safetensors", same)
    for name, names in (
        ("odd", odd), ("part", other_part), ("moved", [name.replace("layers", "h") for name in odd]),
        ("list", [f"x{i + n}" for i in range(n)]),
        ("next", [f"layers.{i // 4 + 1}.part{i % 4}.weight" for i in range(n)]),
        ("hex", [f"{i * 2654435761 % 2**32:x}.weight" for i in range(n)]),
    ):
        b = safetensors(folder / f"{name}.safetensors", names)
        yield "check", a, "--like", b
        yield "remap", a, "--infer", b
        yield "convert", a, folder / "o.bpk", "--adapter", "none", "--like", b
    c = safetensors(folder / "c.safetensors", [f"{(i * 2654435761 + 7) % 2**32:x}.weight" for i in range(n)])
    yield "check", c, "--like", folder / "hex.safetensors"
    yield "remap", c, "--infer", folder / "hex.safetensors"
    yield "remap", a, "--infer", a


@case(40_000)
def locks(folder, n):
    a = safetensors(folder / "a.safetensors", layers(n))
    yield "check", a, "--like", lock(folder / "a.lock", (f"{name} I8 [1]" for name in layers(n)))
    first, *rest = layers(n)
    ties = [f"{first} I8 [1]"] + [f"{name} I8 [1] tied-to={first}" for name in rest]
    yield "check", a, "--like", lock(folder / "b.lock", ties)
    yield "check", a, "--like", lock(folder / "c.lock", [f"a I8 [{','.join(['1'] * n)}]"])


# Stages


@case(10_000)
def modules(folder, n):
    names = [f"enc.{i // 2}.fc{i % 2}.{leaf}" for i in range(n // 2) for leaf in ("weight", "bias")]
    a = safetensors(folder / "a.safetensors", names)
    entries = {}
    end = 0
    for name in names:
        shape = [2, 3] if name.endswith("weight") else [2]
        size = files.product(shape)
        entries[name] = {"dtype": "I8", "shape": shape, "data_offsets": [end, end + size]}
        end += size
    a = headed(folder / "a.safetensors", json.dumps(entries), end)
    yield "convert", a, folder / "o.bpk", "--adapter", "pytorch-to-burn"
    yield "convert", a, folder / "o2.bpk", "--adapter", "pytorch-to-burn", "--explain"
    b = safetensors(folder / "b.safetensors", [f"{i}.weight" for i in range(n)], shape=(2, 2))
    yield "convert", b, folder / "o3.bpk", "--adapter", "pytorch-to-burn"
    yield "remap", safetensors(folder / "c.safetensors", [f"net.{2 * i}.w" for i in range(n)]), "--renumber"
    yield "convert", safetensors(folder / "d.safetensors", [f"experts.{i}.w" for i in range(n)]), \
        folder / "o4.safetensors", "--stack", r"^experts\.(\d+)\.w$ => w"
    yield "convert", folder / "o4.safetensors", folder / "o5.safetensors", "--unstack", "^w$ => experts.#.w"


class Measured:
    """What one run of a command took."""

    def __init__(self, peak_memory: str, ckpt: str, command: list):

        def bound() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST))
            resource.setrlimit(resource.RLIMIT_AS, (LARGEST, LARGEST))

        done = subprocess.run([peak_memory, ckpt, *map(str, command)], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=True, preexec_fn=bound)
        self.resident, status, microseconds = map(int, done.stdout.split())
        self.seconds = microseconds / 1e6
        self.status = os.waitstatus_to_exitcode(status)


def input_size(command: list) -> int:
    """Bytes of the files that a command is given, its outputs aside."""
    size = 0
    for word in command:
        if isinstance(word, Path) and not re.match(r"o\d?\.", word.name):
            size += sum(f.stat().st_size for f in ([word] if word.is_file() else word.iterdir()) if f.is_file())
    return size


def shown(command: list) -> str:
    return " ".join(word.name if isinstance(word, Path) else word for word in command)


def runs_of(make, size: int, place: str, tools: list):
    """Makes the inputs of one size and runs the commands; yields each with what it took."""
    with tempfile.TemporaryDirectory(dir=place, prefix="growth-") as name:
        folder = Path(name)
        for command in make(folder, size):
            command = list(command)
            if command[0] == "convert" or "--salvage" in command:
                command.append("--force")
            yield shown(command), Measured(*tools, command), input_size(command)


def judge(name: str, place: str, tools: list) -> list:
    """What is wrong with a case, a line each."""
    make, largest, tensors, per_byte = CASES[name]
    wrong = []
    slow = {}
    for command, took, size in runs_of(make, largest, place, tools):
        allowed = MEMORY + (MEMORY_PER_TENSOR * largest if tensors else per_byte * size)
        if took.resident > allowed:
            wrong.append(f"{command}: {took.resident >> 20} MB for {size} bytes; {allowed >> 20} are allowed")
        if took.status not in (0, 1, 2):
            wrong.append(f"{command}: ended with {took.status}")
        if took.seconds > LITTLE:
            slow[command] = took.seconds
    if slow:
        for command, took, _ in runs_of(make, largest // 8, place, tools):
            if slow.get(command, 0) > TIMES * took.seconds:
                wrong.append(f"{command}: {took.seconds:.3f} s, and {slow[command]:.3f} s for eight times the input")
    return wrong


def table(name: str, place: str, tools: list) -> None:
    """Every size, and the memory of the largest."""
    make, largest, *_ = CASES[name]
    rows = {}
    for size in (largest // 8, largest // 4, largest // 2, largest):
        for command, took, bytes_ in runs_of(make, size, place, tools):
            rows.setdefault(command, []).append((took, bytes_))
    for command, row in rows.items():
        times = " ".join(f"{took.seconds:7.3f}" for took, _ in row)
        took, size = row[-1]
        print(f"{name:24} {command:70.70} {times} s {took.resident / 2**20:6.0f} MB of {size / 2**20:6.2f} MB, "
              f"status {took.status}", flush=True)


def main() -> int:
    words = [word for word in sys.argv[1:] if word != "--table"]
    peak_memory, ckpt, place, *names = words
    failed = 0
    for name in names or CASES:
        if "--table" in sys.argv:
            table(name, place, [peak_memory, ckpt])
            continue
        wrong = judge(name, place, [peak_memory, ckpt])
        print(f"{'FAILED' if wrong else 'ok'}: {name}", *wrong, sep="\n  ", flush=True)
        failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
