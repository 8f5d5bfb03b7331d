"""Checkpoints of any size, written by hand from the definitions of the formats: the growth tests' inputs."""

import json
import struct
import zipfile
from pathlib import Path


def safetensors(path: Path, names, metadata: dict | None = None, shape=(1,), tail: str = "") -> Path:
    """I8 tensors of these names and one shape. `tail` goes to the end of the header's text."""
    size = product(shape)
    dims = list(shape)
    entries = {name: {"dtype": "I8", "shape": dims, "data_offsets": [i * size, (i + 1) * size]}
               for i, name in enumerate(names)}
    if metadata is not None:
        entries["__metadata__"] = metadata
    text = json.dumps(entries, separators=(",", ":"))
    return headed(path, text[:-1] + tail + "}", len(names) * size)


def headed(path: Path, header: str, data: int) -> Path:
    text = header.encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + payload(data))
    return path


def payload(size: int) -> bytes:
    """Bytes of which no short run is all the same."""
    return (bytes(range(1, 252)) * (size // 251 + 1))[:size]


def product(shape) -> int:
    count = 1
    for dimension in shape:
        count *= dimension
    return count


# CBOR, as far as a burnpack needs it.


def cbor_head(major: int, number: int) -> bytes:
    if number < 24:
        return bytes([major << 5 | number])
    for info, code, limit in ((24, ">B", 1 << 8), (25, ">H", 1 << 16), (26, ">I", 1 << 32)):
        if number < limit:
            return bytes([major << 5 | info]) + struct.pack(code, number)
    return bytes([major << 5 | 27]) + struct.pack(">Q", number)


def cbor(value) -> bytes:
    if isinstance(value, bool):
        return b"\xf5" if value else b"\xf4"
    if isinstance(value, int):
        return cbor_head(0, value)
    if isinstance(value, str):
        return cbor_head(3, len(value.encode())) + value.encode()
    if isinstance(value, dict):
        return cbor_head(5, len(value)) + b"".join(cbor(key) + cbor(item) for key, item in value.items())
    return cbor_head(4, len(value)) + b"".join(map(cbor, value))


def burnpack(path: Path, names, extra: dict | None = None, metadata: bytes | None = None) -> Path:
    """U8 tensors of these names, or any bytes as metadata."""
    if metadata is None:
        tensors = {name: {"dtype": "U8", "shape": [1], "data_offsets": [256 * i, 256 * i + 1], "param_id": 1000 + i}
                   for i, name in enumerate(sorted(names))}
        metadata = cbor({"tensors": tensors, **(extra or {})})
    start = (10 + len(metadata) + 255) // 256 * 256
    data = bytearray(256 * (len(names) - 1) + 1 if names else 0)
    data[::256] = payload(len(data[::256]))
    path.write_bytes((b"NRUB" + struct.pack("<HI", 1, len(metadata)) + metadata).ljust(start, b"\0") + data)
    return path


# Pickles, protocol 2.


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value.encode())) + value.encode()


def integer(value: int) -> bytes:
    return b"J" + struct.pack("<i", value)


def storage(key: str, size: int) -> bytes:
    return b"(" + text("storage") + b"ctorch\nCharStorage\n" + text(key) + text("cpu") + integer(size) + b"tQ"


def tensor(key: str, size: int, offset: int = 0, shape: int = 1, stride: int = 1) -> bytes:
    """A vector of I8 in a storage."""
    return (b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage(key, size) + integer(offset) + integer(shape) + b"\x85"
            + integer(stride) + b"\x85\x89ccollections\nOrderedDict\n)RtR")


def state_dict(entries) -> bytes:
    return b"\x80\x02}(" + b"".join(text(name) + value for name, value in entries) + b"u."


def pytorch(path: Path, pickle: bytes, storages=()) -> Path:
    """What torch.save writes: a ZIP of the pickle and the storages' bytes."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle)
        for key, size in storages:
            archive.writestr(f"archive/data/{key}", payload(size))
        archive.writestr("archive/version", b"3\n")
    return path


def many_storages(path: Path, names) -> Path:
    """A tensor and a storage a name."""
    return pytorch(path, state_dict((name, tensor(str(i), 1)) for i, name in enumerate(names)),
                   [(str(i), 1) for i in range(len(names))])


def one_storage(path: Path, names, places=lambda i: 0, size: int = 64) -> Path:
    """Tensors that lie in one storage."""
    entries = ((name, tensor("0", size, places(i))) for i, name in enumerate(names))
    return pytorch(path, state_dict(entries), [("0", size)])


def lock(path: Path, lines) -> Path:
    path.write_text("# ckpt lock 1\n" + "".join(line + "\n" for line in lines))
    return path
