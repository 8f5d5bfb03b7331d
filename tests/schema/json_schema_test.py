#!/usr/bin/env python3
"""Tests of the validator: what each keyword lets pass, and that unknown ones are errors."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

from json_schema import SchemaError, Validator


def faults(schema, document) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.schema.json").write_text(json.dumps(schema), encoding="utf-8")
        Path(folder, "b.schema.json").write_text(json.dumps({"$defs": {"n": {"type": "integer"}}}), encoding="utf-8")
        return Validator(Path(folder)).check(document, "a.schema.json")


class Keywords(unittest.TestCase):
    def good(self, schema, *documents):
        for document in documents:
            self.assertEqual(faults(schema, document), [], (schema, document))

    def bad(self, schema, *documents):
        for document in documents:
            self.assertNotEqual(faults(schema, document), [], (schema, document))

    def test_type(self):
        self.good({"type": "integer"}, 1, 0, -5, 2.0)
        self.bad({"type": "integer"}, 1.5, True, "1", None, [], {})
        self.good({"type": ["string", "null"]}, "", None)
        self.bad({"type": ["string", "null"]}, 0, False)

    def test_const_and_enum(self):
        self.good({"const": 1}, 1)
        self.bad({"const": 1}, True, 2, "1")
        self.good({"enum": ["a", None]}, "a", None)
        self.bad({"enum": [0]}, False, "a")

    def test_bounds_and_patterns(self):
        self.good({"minimum": 0, "maximum": 1}, 0, 1, 0.5, "text")
        self.bad({"minimum": 0, "maximum": 1}, -1, 1.5)
        self.good({"pattern": "^a"}, "ab", 5)
        self.bad({"pattern": "^a"}, "ba")

    def test_objects(self):
        schema = {"required": ["a"], "properties": {"a": {"type": "string"}, "b": True}, "additionalProperties": False}
        self.good(schema, {"a": ""}, {"a": "", "b": 1}, 5)
        self.bad(schema, {}, {"a": 1}, {"a": "", "c": 1})
        self.good({"additionalProperties": {"type": "string"}}, {"x": "", "y": ""})
        self.bad({"additionalProperties": {"type": "string"}}, {"x": 1})

    def test_arrays_and_choices(self):
        self.good({"items": {"type": "null"}}, [], [None], "text")
        self.bad({"items": {"type": "null"}}, [None, 1])
        self.good({"anyOf": [{"type": "null"}, {"const": 1}]}, None, 1)
        self.bad({"anyOf": [{"type": "null"}, {"const": 1}]}, 2)

    def test_references(self):
        self.good({"$ref": "b.schema.json#/$defs/n"}, 1)
        self.bad({"$ref": "b.schema.json#/$defs/n"}, "")
        self.good({"items": {"$ref": "#/$defs/x"}, "$defs": {"x": {"const": 1}}}, [1, 1])
        self.bad({"items": {"$ref": "#/$defs/x"}, "$defs": {"x": {"const": 1}}}, [1, 2])

    def test_unknown_keywords_are_errors(self):
        with self.assertRaises(SchemaError):
            faults({"multipleOf": 2}, 4)


if __name__ == "__main__":
    sys.exit(unittest.main())
