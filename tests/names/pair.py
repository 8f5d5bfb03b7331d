"""Two lists of names with shapes, and which of them are each other."""


class Pair:
    def __init__(self):
        self.rows: list[tuple[str | None, str | None, list[int], list[int]]] = []

    def add(self, a: str | None, b: str | None, shape: list[int], other: list[int] | None = None):
        self.rows.append((a, b, shape, other or shape))

    def both(self, a: str, b: str, out: int, into: int | None = None):
        """Weight and bias of a linear layer, or of a norm."""
        self.add(a + ".weight", b + ".weight", [out] if into is None else [out, into])
        self.add(a + ".bias", b + ".bias", [out])

    def norm(self, a: str, b: str, size: int, weight: str = "weight", bias: str = "bias"):
        """A batch norm, which also counts."""
        self.add(a + ".weight", f"{b}.{weight}", [size])
        self.add(a + ".bias", f"{b}.{bias}", [size])
        self.add(a + ".running_mean", b + ".running_mean", [size])
        self.add(a + ".running_var", b + ".running_var", [size])
        self.add(a + ".num_batches_tracked", None if weight == "gamma" else b + ".num_batches_tracked", [])

    def lines(self, a: str, b: str, text: str):
        """One module a line: names below `a` and `b` (`-` for none), what it holds, the dimensions of its weight:
        `w` weight, `wb` weight and bias, `t` and `tb` the same transposed on the other side, `=` a bare tensor,
        `n` a batch norm, `g` a norm that is called gamma and beta on the other side."""
        for line in text.strip().splitlines():
            left, right, kind, *dims = line.split()
            one = None if left == "-" else a + left
            other = None if right == "-" else b + right
            shape = [int(d) for d in dims]
            def name(base: str | None, leaf: str) -> str | None:
                return None if base is None else f"{base}.{leaf}"
            if kind == "=":
                self.add(one, other, shape)
            elif kind == "n":
                self.norm(left if one is None else one, right if other is None else other, shape[0])
            elif kind == "g":
                self.add(name(one, "weight"), name(other, "gamma"), shape)
                self.add(name(one, "bias"), name(other, "beta"), shape)
            else:
                self.add(name(one, "weight"), name(other, "weight"), shape, shape[::-1] if "t" in kind else None)
                if "b" in kind:
                    self.add(name(one, "bias"), name(other, "bias"), shape[:1])

    def renamed(self, one=lambda name: name, other=lambda name: name) -> "Pair":
        """The same tensors under names that are derived from these."""
        p = Pair()
        for a, b, s, t in self.rows:
            p.add(None if a is None else one(a), None if b is None else other(b), s, t)
        return p

    def joined(self, more: "Pair") -> "Pair":
        p = Pair()
        p.rows = self.rows + more.rows
        return p
