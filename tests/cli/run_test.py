"""Tests of the runner of transcripts, with a program that is a shell script."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RUN = Path(__file__).parent / "run.py"
PROGRAM = """#!/bin/sh
case "$1" in
  say) shift; printf '%s\\n' "$@" ;;
  fail) echo "ckpt: $2: no such file" >&2; exit 2 ;;
  die) kill -s SEGV $$ ;;
esac
"""


class Runner(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.root = Path(self._folder.name)
        (self.root / "testdata").mkdir()
        (self.root / "testdata" / "file").write_text("content\n")
        program = self.root / "anything"
        program.write_text(PROGRAM)
        program.chmod(0o755)

    def run_text(self, text: str, *options: str, name: str = "case.t") -> tuple[int, str]:
        self.file = self.root / name
        self.file.write_text(text)
        done = subprocess.run(
            [sys.executable, RUN, "--ckpt", self.root / "anything", "--testdata", self.root / "testdata",
             *options, self.file],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ,
        )
        return done.returncode, done.stdout

    def assert_good(self, text: str, *options: str, **more: str):
        self.assertEqual(self.run_text(text, *options, **more), (0, ""))

    def assert_bad(self, text: str, shows: str):
        status, output = self.run_text(text)
        self.assertEqual(status, 1, output)
        self.assertIn(shows, output)

    def test_output_status_and_standard_error_are_compared(self):
        self.assert_good("# what it says\n$ ckpt say one two\none\ntwo\n\n"
                         "$ ckpt fail x\nckpt: x: no such file\n[2]\n$ true\n")

    def test_other_missing_and_further_lines_are_differences(self):
        self.assert_bad("$ ckpt say one\ntwo\n", "-two\n+one")
        self.assert_bad("$ ckpt say one\none\ntwo\n", "-two")
        self.assert_bad("$ ckpt say one two\none\n", "+two")
        self.assert_bad("$ ckpt say one\n", "case.t:1: $ ckpt say one")
        self.assert_bad("$ true\n# silent?\n$ ckpt say one\n", "case.t:3: $ ckpt say one")

    def test_another_status_is_a_difference(self):
        self.assert_bad("$ ckpt fail x\nckpt: x: no such file\n", "+[2]")
        self.assert_bad("$ ckpt fail x\nckpt: x: no such file\n[1]\n", "-[1]\n+[2]")
        self.assert_bad("$ true\n[1]\n", "-[1]")
        self.assert_bad("$ ckpt die\n", "+[139]")

    def test_regular_expressions_are_for_the_whole_line(self):
        self.assert_good("$ ckpt say 'took 12 ms'\ntook \\d+ ms (re)\n")
        self.assert_bad("$ ckpt say 'took 12 ms'\ntook \\d+ (re)\n", "+took 12 ms")

    def test_dots_stand_for_any_number_of_lines(self):
        for text in ("...", "a\n...", "...\nc", "a\n...\nc", "...\nb\n...", "a\nb\nc\n..."):
            self.assert_good(f"$ ckpt say a b c\n{text}\n")
        self.assert_bad("$ ckpt say a b c\na\n...\nb\n", "+c")
        self.assert_bad("$ ckpt say a b c\n...\nd\n...\n", "-d")

    def test_a_backslash_takes_the_meaning_away(self):
        self.assert_good("$ ckpt say '# a' '$ b' ... '[3]' '\\c'\n\\# a\n\\$ b\n\\...\n\\[3]\n\\\\c\n")

    def test_lines_of_one_command_share_a_shell_and_commands_share_the_directory(self):
        self.assert_good("$ x=1\n> cat > f <<EOF\n> $x\n> EOF\n$ cat f testdata/file\n1\ncontent\n")

    def test_places_of_this_machine_do_not_show(self):
        self.assert_good("$ echo $TESTDATA/a $PWD/b\n$TESTDATA/a $PWD/b\n")

    def test_what_is_no_transcript_is_refused(self):
        self.assert_bad("", "no commands")
        self.assert_bad("hello\n$ true\n", "line 1")
        self.assert_bad("$ ckpt say a b\na\n# remark\nb\n", "line 4")

    def test_markdown_runs_its_console_blocks_only(self):
        text = "# Title\n```sh\nfalse\n```\ntext\n```console\n$ ckpt say a\n%s\n```\n$ not this\n"
        self.assert_good(text % "a", "--markdown", name="page.md")
        self.assert_good("no examples\n", "--markdown", name="page.md")
        status, output = self.run_text(text % "b", "--markdown", name="page.md")
        self.assertEqual(status, 1)
        self.assertIn("page.md:7", output)

    def test_update_writes_what_was_said_and_nothing_else(self):
        text = ("# remark\n\n$ ckpt say one 7 '# x' 'y (re)'\nold\n\\d (re)\n\n# next\n$ ckpt fail x\n\n"
                "$ ckpt say ok\nok\n")
        self.assertEqual(self.run_text(text, "--update")[0], 0)
        updated = self.file.read_text()
        self.assertEqual(updated,
                         "# remark\n\n$ ckpt say one 7 '# x' 'y (re)'\none\n\\d (re)\n\\# x\ny\\ \\(re\\) (re)\n\n"
                         "# next\n$ ckpt fail x\nckpt: x: no such file\n[2]\n\n$ ckpt say ok\nok\n")
        self.assert_good(updated)

    def test_update_fills_markdown(self):
        text = "a\n```console\n$ ckpt say a\n```\nb\n```console\n$ ckpt say b\nold\nold\n```\nc\n"
        self.assertEqual(self.run_text(text, "--update", "--markdown", name="page.md")[0], 0)
        self.assertEqual(self.file.read_text(),
                         "a\n```console\n$ ckpt say a\na\n```\nb\n```console\n$ ckpt say b\nb\n```\nc\n")


if __name__ == "__main__":
    unittest.main()
