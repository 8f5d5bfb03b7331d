#!/usr/bin/env python3
"""Checks that every room of lib/ and apps/ includes only what it may.

The table below is the rooms' table of docs/architecture.md. Usage: check_layers.py [ROOT]
Prints one line a fault, `file:line: what`, and ends with status 1 when there is one.
"""

import re
import sys
from pathlib import Path

# Which rooms a room may include, beside itself.
ROOMS = {
    "core": set(),
    "io": {"core"},
    "codec": {"core"},
    "kernels": {"core"},
    "formats": {"core", "codec"},
    "stages": {"core", "codec"},
    "training": {"core", "codec", "stages"},
    "report": {"core", "kernels"},
}

# Foreign headers: what the name in <> looks like, and the places (paths below lib/ckpt/, or apps/)
# that may include it. Anything else that is no header of the standard library is a fault.
FOREIGN = [
    (r"fmt/\w+\.h", ["", "apps/"]),
    (r"simdjson\.h|cbor\.h|cbor/\w+\.h|pcre2\.h", ["codec/"]),
    (r"zlib\.h", ["codec/"]),
    (r"libdeflate\.h", ["core/crc32"]),
    (r"openssl/evp\.h", ["kernels/checksum"]),
    (r"(unistd|fcntl|dirent|poll|signal|spawn|termios|sys/\w+|linux/fs)\.h", ["core/spool", "io/", "apps/"]),
    (r"CLI/CLI\.hpp|malloc\.h", ["apps/"]),
]
STANDARD = re.compile(r"[a-z_0-9]+")  # <vector>, <cstdint>; C's own <stdint.h> has a C++ name

BANNED_IN_LIB = {"iostream", "print"}
PRINTING = re.compile(
    r"\b(?:v?f?printf|putchar|puts|fputs|fputc|perror)\s*\(|\bfmt::v?print(?:ln)?\b"
    r"|\bstd::(?:cout|cerr|clog|cin)\b|\b(?:stdout|stderr)\b"
)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.[^'\n]*|[^'\\\n])'",
    re.DOTALL,
)


def blank(match: re.Match) -> str:
    """Comments and literals become blanks, so that line numbers stay."""
    return re.sub(r"[^\n]", " ", match.group())


def include_fault(place: str, room: str, quoted: bool, name: str) -> str | None:
    """What is wrong with an include; `place` is apps/... or a path below lib/ckpt/."""
    if quoted:
        own = re.fullmatch(r"ckpt/(\w+)/.+", name)
        if room == "apps":
            return None
        if not own:
            return f'"{name}" is not named from the include root ("ckpt/<room>/<file>")'
        if own[1] not in ROOMS:
            return f"{own[1]} is no room of the library"
        if own[1] != room and own[1] not in ROOMS[room]:
            return f"{room} may not include {own[1]}: {name}"
        return None
    if room != "apps" and name in BANNED_IN_LIB:
        return f"the library does not print: <{name}>"
    for pattern, places in FOREIGN:
        if re.fullmatch(pattern, name):
            if any(place.startswith(start) and (start or room != "apps") for start in places):
                return None
            return f"<{name}> does not belong here, only in " + ", ".join(filter(None, places))
    return None if STANDARD.fullmatch(name) else f"<{name}> is not in the table of headers"


def faults(root: Path):
    """Yields (file, line number, text) for every fault below `root`."""
    library = root / "lib" / "ckpt"
    files = sorted(p for d in (library, root / "apps") for p in d.rglob("*") if p.suffix in {".hpp", ".cpp"})
    if not files:
        yield root, 0, "there are no sources here"
    for path in files:
        in_library = path.is_relative_to(library)
        place = path.relative_to(library if in_library else root).as_posix()
        room = place.split("/")[0]
        if in_library and room not in ROOMS:
            yield path, 1, f"{room} is no room of the library"
            continue
        text = path.read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            if found := INCLUDE.match(line):
                if fault := include_fault(place, room, found[1] == '"', found[2]):
                    yield path, number, fault
        if in_library:
            code = COMMENT_OR_STRING.sub(blank, text)
            for number, line in enumerate(code.splitlines(), 1):
                if found := PRINTING.search(line):
                    yield path, number, f"the library does not print: {found.group().strip()}"


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    found = list(faults(root))
    for path, number, text in found:
        print(f"{path.relative_to(root) if path != root else '.'}:{number}: {text}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
