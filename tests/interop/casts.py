#!/usr/bin/python3
"""Compares the casts of ckpt with NumPy, PyTorch and the definitions of the small formats.

Usage: casts.py CKPT    (status 77 where PyTorch is missing)

Every code of every type of at most 16 bits is cast to F32; every number of a small type, everything half way
between two of them, and what lies beside, is cast back. PyTorch says what F16 and BF16 are, NumPy's search for the
nearest number what the types of 8 bits are.
"""

import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def small(exponent_bits, mantissa_bits, bias, special):
    """The 256 numbers of a type of 8 bits. ieee: the highest exponent is infinities and NaN; fn: all ones are NaN,
    nothing is infinite; fnuz: minus zero is NaN, nothing is infinite."""
    numbers = []
    for code in range(256):
        sign = -1.0 if code >> 7 else 1.0
        exponent = code >> mantissa_bits & (1 << exponent_bits) - 1
        mantissa = code & (1 << mantissa_bits) - 1
        fraction = mantissa / (1 << mantissa_bits)
        if special == "ieee" and exponent == (1 << exponent_bits) - 1:
            number = float("nan") if mantissa else sign * float("inf")
        elif special == "fn" and code & 0x7F == 0x7F or special == "fnuz" and code == 0x80:
            number = float("nan")
        elif exponent == 0:
            number = sign * fraction * 2.0 ** (1 - bias)
        else:
            number = sign * (1 + fraction) * 2.0 ** (exponent - bias)
        numbers.append(number)
    return numpy.array(numbers)


SMALL = {
    "F8_E4M3": small(4, 3, 7, "fn"), "F8_E5M2": small(5, 2, 15, "ieee"),
    "F8_E4M3FNUZ": small(4, 3, 8, "fnuz"), "F8_E5M2FNUZ": small(5, 2, 16, "fnuz"),
    "F8_E8M0": numpy.array([2.0 ** (code - 127) for code in range(255)] + [float("nan")]),
}


def write(path: Path, tensors: dict) -> None:
    header, body = {}, b""
    for name, (dtype, array) in tensors.items():
        data = array.tobytes()
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def read(path: Path) -> dict:
    data = path.read_bytes()
    size = struct.unpack_from("<Q", data)[0]
    body = data[8 + size :]
    rows = json.loads(data[8 : 8 + size])
    return {name: body[slice(*row["data_offsets"])] for name, row in rows.items() if name != "__metadata__"}


def cast(folder: Path, tensors: dict, dtype: str) -> dict:
    source, target = folder / "source.safetensors", folder / "target.safetensors"
    write(source, tensors)
    subprocess.run([sys.argv[1], "convert", "--quiet", "--force", "--allow-overflow", "--dtype", dtype, source, target],
                   check=True)
    return read(target)


def same_numbers(found, wanted) -> bool:
    """The same bits, any NaN being as good as another."""
    nan = numpy.isnan(wanted)
    return bool((numpy.isnan(found) == nan).all() and (found[~nan].view(numpy.uint32) == wanted[~nan].view(numpy.uint32)).all())


def check_codes(folder: Path) -> int:
    tensors = {name: (name, numpy.arange(256).astype(numpy.uint8)) for name in SMALL}
    wide = numpy.arange(1 << 16).astype("<u2")
    tensors["F16"], tensors["BF16"] = ("F16", wide), ("BF16", wide)
    found = cast(folder, tensors, "F32")
    signed = torch.from_numpy(wide.astype(numpy.int32)).to(torch.int16)
    wanted = {name: numbers.astype(numpy.float32) for name, numbers in SMALL.items()}
    wanted["F16"] = wide.view(numpy.float16).astype(numpy.float32)
    wanted["BF16"] = signed.view(torch.bfloat16).to(torch.float32).numpy()
    for name, numbers in wanted.items():
        assert same_numbers(numpy.frombuffer(found[name], "<f4"), numbers), f"{name} to F32"
    return sum(len(numbers) for numbers in wanted.values())


def nearest(number: float, numbers) -> set:
    """The codes that stand for the nearest number; of two, the even one. Beyond the largest, as if there were one
    more number."""
    if numpy.isnan(number):
        return set(numpy.flatnonzero(numpy.isnan(numbers)))
    codes = numpy.flatnonzero(numpy.isfinite(numbers))
    values = numbers[codes]
    limit = 2 * values.max() - values[values < values.max()].max()
    distance = numpy.abs(values - number)
    best = codes[distance == distance.min()]
    if abs(number) > values.max() and (
            limit - abs(number) < distance.min() or (limit - abs(number) == distance.min() and best[0] % 2 == 1)):
        infinite = numpy.flatnonzero(numpy.isinf(numbers) & (numpy.signbit(numbers) == numpy.signbit(number)))
        return set(infinite) if len(infinite) else set(numpy.flatnonzero(numpy.isnan(numbers)))
    even = {code for code in best if code % 2 == 0} or set(best)
    # Both zeros are as near where there are two: the sign is kept.
    alike = {code for code in even if numpy.signbit(numbers[code]) == numpy.signbit(number)}
    return alike or even


def check_rounding(folder: Path) -> int:
    count = 0
    for name, numbers in SMALL.items():
        if name == "F8_E8M0":
            continue  # no sign and no zero: its own rules are tested by unit tests
        finite = numpy.unique(numbers[numpy.isfinite(numbers)])
        halves = (finite[1:] + finite[:-1]) / 2
        largest = finite.max()
        edges = numpy.array([largest * 1.03, largest * 1.05, largest * 1.0625, largest * 1.1, largest * 1.125, largest * 2])
        points = numpy.concatenate([finite, halves, edges, -edges]).astype(numpy.float32)
        inputs = numpy.concatenate([points, numpy.nextafter(points, numpy.float32(numpy.inf)),
                                    numpy.nextafter(points, numpy.float32(-numpy.inf)),
                                    numpy.array([numpy.nan, -0.0], numpy.float32)])
        found = cast(folder, {"x": ("F32", inputs)}, name)["x"]
        for number, code in zip(inputs, found):
            assert code in nearest(float(number), numbers), f"{number!r} to {name}: {code:#x}"
        count += len(inputs)
    dice = torch.Generator().manual_seed(7)
    bits = torch.randint(-(2**31), 2**31, (200_000,), generator=dice).to(torch.int32)
    inputs = bits.view(torch.float32)
    for name, dtype in (("F16", torch.float16), ("BF16", torch.bfloat16)):
        found = numpy.frombuffer(cast(folder, {"x": ("F32", inputs.numpy())}, name)["x"], "<i2")
        wanted = inputs.to(dtype)
        back = torch.from_numpy(found.copy()).view(dtype)
        nan = torch.isnan(wanted)
        assert torch.equal(torch.isnan(back), nan), name
        assert torch.equal(back[~nan].view(torch.int16), wanted[~nan].view(torch.int16)), name
        count += len(inputs)
    return count


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="ckpt-casts-") as folder:
        codes = check_codes(Path(folder))
        numbers = check_rounding(Path(folder))
    print(f"{codes} codes and {numbers} roundings agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
