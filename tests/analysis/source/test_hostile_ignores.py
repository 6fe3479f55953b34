"""Ignore files that were written to take for ever: a repository's rules are input like its code."""

import subprocess
import sys
from pathlib import Path

import pytest

from asterism.analysis.source.discovery import DiscoveryOptions, discover
from asterism.analysis.source.ignores import LONGEST_IGNORE_FILE

GENEROUS_SECONDS = 120
"""Backtracking would need years."""

DEEP = "a/" * 1_500 + "b"
LONG_NAME = "a" * 250

HOSTILE = [
    ("**/" * 200 + "z", DEEP),
    ("**/a/" * 60 + "z", DEEP),
    ("a/" + "**/a/" * 60 + "z", DEEP),
    ("**/a*a*a/" * 30 + "z", "aaaa/" * 700 + "b"),
    ("**/" + "a*a*a/**/" * 30 + "z", "aaaa/" * 700 + "b"),
    ("a**/" * 60 + "z", "aaaa/" * 700 + "b"),
    ("a**/a**/a**/a**/a**/a**/a**/z", DEEP),
    ("*a" * 60 + "z", LONG_NAME),
    ("x/" + "*a" * 60 + "z", f"x/{LONG_NAME}"),
    ("!x/" + "*a" * 60 + "z/y", f"x/{LONG_NAME}/y"),
    ("!a/" + "**/a/" * 60 + "z", DEEP),
    ("?*" * 100 + "z", LONG_NAME),
    ("[ab]*" * 100 + "z", LONG_NAME),
    ("\\a*" * 100 + "z", LONG_NAME),
    ("?" * 1_000_000, LONG_NAME),
    ("[" * 1_000_000, LONG_NAME),
    (" " * 1_000_000 + "x", LONG_NAME),
]


@pytest.mark.parametrize(("line", "path"), HOSTILE, ids=[line[:12] for line, _ in HOSTILE])
def test_a_line_ends(line: str, path: str) -> None:
    """In a process of its own, so that a pattern that never ends is ended."""
    code = """if True:
        import sys
        from asterism.analysis.source.ignores import IgnoreScope, find_rule, parse_rules, reaches_into
        line, path = sys.stdin.read().split("\\n")
        rules = parse_rules(line.encode(), "p")
        folder, _, name = path.rpartition("/")
        folder = folder and folder + "/"
        print(find_rule((IgnoreScope(rules),), folder, name, False), reaches_into((IgnoreScope(rules),), path))
    """
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=f"{line}\n{path}",
        capture_output=True,
        text=True,
        timeout=GENEROUS_SECONDS,
        check=True,
    )
    assert done.stdout.startswith("None ")


def test_of_a_long_ignore_file_whole_lines_of_its_beginning_count(tmp_path: Path) -> None:
    first = "left-out.txt\n"
    filler = "x" * (LONGEST_IGNORE_FILE - len(first) - 2) + "\n"
    (tmp_path / ".asterismignore").write_text(f"{first}{filler}kept.txt\n" + "y*\n" * 1_000)
    for name in ("left-out.txt", "kept.txt", "k"):
        (tmp_path / name).write_text("text\n")
    found = discover(str(tmp_path), DiscoveryOptions())
    assert {file.path for file in found.files} >= {"kept.txt", "k"}
    assert "left-out.txt" not in {file.path for file in found.files}
