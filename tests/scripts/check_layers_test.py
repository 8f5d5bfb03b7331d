"""Tests of scripts/check_layers.py on trees made here."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_layers.py"


def check(files: dict[str, str]) -> list[str]:
    """The faults that the script finds in a tree of these files."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True)
        lines = done.stdout.splitlines()
        assert done.returncode == (1 if lines else 0), done
        return lines


class Allowed(unittest.TestCase):
    def test_rooms_below_and_the_standard_library(self):
        self.assertEqual(check({
            "lib/ckpt/core/a.hpp": "#include <vector>\n#include <fmt/format.h>\n",
            "lib/ckpt/core/spool.cpp": "#include <unistd.h>\n",
            "lib/ckpt/io/file.cpp": '#include "ckpt/core/a.hpp"\n#include <sys/stat.h>\n',
            "lib/ckpt/codec/json.cpp": "#include <simdjson.h>\n",
            "lib/ckpt/kernels/checksum.cpp": "#include <openssl/evp.h>\n",
            "lib/ckpt/formats/pytorch/zip.cpp": '#include "ckpt/codec/zip.hpp"\n',
            "apps/ckpt/main.cpp": '#include <CLI/CLI.hpp>\n#include <iostream>\n#include "options.hpp"\n'
                                  '#include "ckpt/report/diff.hpp"\n',
        }), [])

    def test_words_in_comments_strings_and_snprintf_do_not_print(self):
        self.assertEqual(check({"lib/ckpt/core/a.cpp":
            '// std::cout << 1\n/* printf("x") */\nauto s = "puts(stdout)";\nint n = snprintf(b, 3, "x");\n'
            'void reprint(int); auto r = R"(std::cerr)";\n'
            "char q = '\"'; auto t = 1'000; char b = '\\''; auto u = \"stderr\";\n"}), [])


class Faults(unittest.TestCase):
    def test_each_is_named_with_its_line(self):
        for file, line, says in [
            ("lib/ckpt/core/a.cpp", '#include "ckpt/io/file.hpp"', "core may not include io"),
            ("lib/ckpt/formats/a.cpp", '#include "ckpt/stages/remap.hpp"', "formats may not include stages"),
            ("lib/ckpt/stages/a.cpp", '#include "ckpt/formats/format.hpp"', "stages may not include formats"),
            ("lib/ckpt/report/a.cpp", '#include "ckpt/codec/json.hpp"', "report may not include codec"),
            ("lib/ckpt/core/a.cpp", '#include "a.hpp"', "include root"),
            ("lib/ckpt/core/a.cpp", "#include <simdjson.h>", "only in codec/"),
            ("lib/ckpt/kernels/cast.cpp", "#include <openssl/evp.h>", "kernels/checksum"),
            ("lib/ckpt/core/a.cpp", "#include <unistd.h>", "core/spool"),
            ("lib/ckpt/io/a.cpp", "#include <CLI/CLI.hpp>", "only in apps/"),
            ("lib/ckpt/io/a.cpp", "#include <boost/any.hpp>", "not in the table"),
            ("lib/ckpt/core/a.cpp", "#include <iostream>", "does not print"),
            ("lib/ckpt/core/a.cpp", "void f() { std::cerr << 1; }", "does not print"),
            ("lib/ckpt/core/a.cpp", 'void f() { fmt::print("x"); }', "does not print"),
            ("lib/ckpt/core/a.cpp", 'void f() { std::fprintf(g, "x"); }', "does not print"),
            ("lib/ckpt/attic/a.cpp", "", "no room"),
            ("apps/ckpt/main.cpp", "#include <zlib.h>", "only in codec/"),
        ]:
            with self.subTest(line, file=file):
                found = check({file: "\n" + line + "\n"})
                self.assertEqual(len(found), 1, found)
                self.assertRegex(found[0], rf"^{file}:[12]: .*{says}")

    def test_an_empty_tree_is_a_fault(self):
        self.assertEqual(len(check({})), 1)


if __name__ == "__main__":
    unittest.main()
