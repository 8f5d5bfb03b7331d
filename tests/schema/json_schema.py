"""A validator for the part of JSON Schema (draft 2020-12) that docs/schema uses. Any other keyword is an error: a
schema that says more than is checked would promise what nobody keeps."""

import json
import re
from pathlib import Path

REMARKS = {"$schema", "title", "description", "$defs"}


class SchemaError(Exception):
    """The schema itself is wrong."""


def is_type(value, name: str) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return {
        "object": isinstance(value, dict), "array": isinstance(value, list), "string": isinstance(value, str),
        "boolean": isinstance(value, bool), "null": value is None, "number": number,
        "integer": number and value == int(value),
    }[name]


def same(a, b) -> bool:
    """Equality as JSON has it: true is not 1."""
    return a == b and isinstance(a, bool) == isinstance(b, bool)


class Validator:
    """Holds documents against the schemas of a folder, which may refer to each other."""

    def __init__(self, folder: Path):
        self.schemas = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.schema.json")}

    def check(self, document, file: str) -> list[str]:
        """What is wrong with a document, each with its place; empty when it is valid."""
        return self._check(document, self.schemas[file], file, "$")

    def _resolve(self, reference: str, file: str):
        name, _, pointer = reference.partition("#")
        file = name or file
        node = self.schemas[file]
        for part in pointer.split("/")[1:]:
            node = node[part]
        return node, file

    def _check(self, value, schema, file: str, at: str) -> list[str]:
        if schema is True:
            return []
        if schema is False:
            return [f"{at}: nothing is allowed here"]
        faults: list[str] = []
        for keyword, want in schema.items():
            if keyword in REMARKS:
                continue
            check = getattr(self, "_" + keyword.strip("$").lower(), None)
            if check is None:
                raise SchemaError(f"{file}: the keyword {keyword} is not known")
            faults += check(value, want, schema, file, at)
        return faults

    def _ref(self, value, want, schema, file, at):
        node, file = self._resolve(want, file)
        return self._check(value, node, file, at)

    def _type(self, value, want, schema, file, at):
        names = [want] if isinstance(want, str) else want
        return [] if any(is_type(value, name) for name in names) else [f"{at}: is no {' or '.join(names)}"]

    def _const(self, value, want, schema, file, at):
        return [] if same(value, want) else [f"{at}: is {value!r}, not {want!r}"]

    def _enum(self, value, want, schema, file, at):
        return [] if any(same(value, each) for each in want) else [f"{at}: {value!r} is none of {want}"]

    def _minimum(self, value, want, schema, file, at):
        return [f"{at}: {value} is less than {want}"] if is_type(value, "number") and value < want else []

    def _maximum(self, value, want, schema, file, at):
        return [f"{at}: {value} is more than {want}"] if is_type(value, "number") and value > want else []

    def _pattern(self, value, want, schema, file, at):
        return [f"{at}: {value!r} does not match {want}"] if isinstance(value, str) and not re.search(want, value) else []

    def _anyof(self, value, want, schema, file, at):
        tried = [self._check(value, each, file, at) for each in want]
        if not all(tried):
            return []
        nearest = max(tried, key=lambda faults: len(faults[0].partition(":")[0]))  # the one that came furthest
        return [f"{at}: fits none of {len(want)} choices"] + nearest

    def _items(self, value, want, schema, file, at):
        if not isinstance(value, list):
            return []
        return [fault for i, each in enumerate(value) for fault in self._check(each, want, file, f"{at}[{i}]")]

    def _required(self, value, want, schema, file, at):
        return [f"{at}: lacks {name}" for name in want if name not in value] if isinstance(value, dict) else []

    def _properties(self, value, want, schema, file, at):
        if not isinstance(value, dict):
            return []
        return [fault for name, each in want.items() if name in value
                for fault in self._check(value[name], each, file, f"{at}.{name}")]

    def _additionalproperties(self, value, want, schema, file, at):
        if not isinstance(value, dict):
            return []
        more = [name for name in value if name not in schema.get("properties", {})]
        if want is False:
            return [f"{at}: {name} is not documented" for name in more]
        return [fault for name in more for fault in self._check(value[name], want, file, f"{at}.{name}")]
