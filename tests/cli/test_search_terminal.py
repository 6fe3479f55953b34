"""What a search looks like in a terminal: colours, marks, cut lines; and plain elsewhere."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path
from threading import Timer

import pytest

from tests.cli.conftest import ROOT, spawn

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
PATIENCE_SECONDS = 300.0
"""How long a command may take on a busy machine before a test gives up."""
LONG = "# " + "words and more words " * 20


@pytest.fixture
def service(indexed: Path) -> Path:
    (indexed / "wide.py").write_text(f"def parse_widely(text):\n    {LONG}\n    return text\n")
    return indexed


def test_a_pattern_that_never_ends_on_a_shown_line_does_not_hang(indexed: Path) -> None:
    """In the file the tab ends it at once; what the terminal shows has blanks instead."""
    (indexed / "long.py").write_text(f'x = "{"a" * 60}\t!"\n')
    assert spawn(["index"], indexed).code == 0
    lines = plain(screen(indexed, 120, "search", r"regex:(a+)+\t"))
    assert lines[0].startswith("1. long.py:1")
    assert any(f'"{"a" * 60}' in line for line in lines)


def screen(where: Path, columns: int, *arguments: str, **environment: str) -> list[str]:
    """The lines a terminal of that width is given."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    known = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    process = subprocess.Popen(
        [sys.executable, "-m", "asterism.cli", *arguments],
        cwd=where,
        env={**known, "PYTHONPATH": str(ROOT / "src"), "TERM": "xterm-256color", **environment},
        stdout=theirs,
        stderr=subprocess.PIPE,
    )
    os.close(theirs)
    # A command that hangs is killed, and the test fails.
    patience = Timer(PATIENCE_SECONDS, process.kill)
    patience.start()
    pieces = []
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:
            # Linux says so where the other side has closed.
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(ours)
    _, complaint = process.communicate()
    patience.cancel()
    assert process.returncode != -signal.SIGKILL
    assert complaint == b""
    return b"".join(pieces).decode().splitlines()


def plain(lines: list[str]) -> list[str]:
    return [COLOUR.sub("", line) for line in lines]


def test_a_tree_of_calls_says_everything_in_a_narrow_terminal(indexed: Path) -> None:
    name = "a_name_that_is_longer_than_most_terminals_have_room_for_" * 2
    text = f"package main\n\nfunc last() {{}}\n\nfunc {name}() {{\n\tlast()\n}}\n"
    (indexed / "main.go").write_text(text)
    assert spawn(["index"], indexed).code == 0
    lines = plain(screen(indexed, 60, "callers", "last"))
    assert max(map(len, lines)) <= 60
    assert "calls it in line 6" in " ".join(" ".join(lines).replace("│", " ").split())


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_lines_are_cut_at_the_edge(service: Path, columns: int) -> None:
    lines = plain(screen(service, columns, "search", "parse widely", "--limit", "1"))
    assert lines[0].startswith("1. wide.py:1–3  ")
    assert lines[2] == "   1 │ def parse_widely(text):"
    assert lines[3].endswith("…")
    assert len(lines[3]) == columns
    assert lines[4] == "   3 │     return text"


def test_code_is_coloured_and_words_are_marked(service: Path) -> None:
    lines = screen(service, 100, "search", "parse widely", "--limit", "1")
    (signature,) = (line for line in lines if "def" in line)
    assert "\x1b[1;31mparse" in signature
    assert "\x1b[1;31mwidely" in signature
    assert re.search(r"\x1b\[\d+mdef\x1b\[0m", signature)


def test_of_a_long_path_the_end_is_shown(service: Path) -> None:
    folder = service / "/".join(["deeply", "nested"] * 6)
    folder.mkdir(parents=True)
    (folder / "far_away.py").write_text("def far_away():\n    return 1\n")
    first = plain(screen(service, 60, "search", "far away", "--limit", "1"))[0]
    assert re.fullmatch(r"1\. ….*/nested/far_away\.py:1–2  [01]\.\d\d", first)
    assert len(first) == 60


def test_of_a_long_name_the_end_is_shown_with_the_reasons(service: Path) -> None:
    name = "a_name_that_has_no_room_in_any_narrow_terminal_at_all_end"
    (service / "long.py").write_text(f"class Outer:\n    def {name}(self):\n        return 1\n")
    lines = plain(screen(service, 60, "search", f"symbol = {name}"))
    assert lines[1].startswith("   method …")
    assert lines[1].endswith("_all_end  defines it")
    assert len(lines[1]) == 60


def test_a_cursor_is_never_cut(service: Path) -> None:
    asked = ("search", "regex:e", "--exhaustive", "--limit", "1")
    *_, last = plain(screen(service, 60, *asked))
    cursor = last.removeprefix("Go on with --cursor ")
    assert len(last) > 60
    assert spawn([*asked, "--cursor", cursor], service).code == 0


def test_similar_code_has_no_marks(service: Path) -> None:
    lines = screen(service, 100, "similar", "main.py:1", "--limit", "1")
    assert plain(lines)[0] == "Like function main  main.py:1–2"
    assert not any("\x1b[1;31m" in line for line in lines)


def test_without_colours(service: Path) -> None:
    lines = screen(service, 100, "search", "parse widely", "--limit", "1", NO_COLOR="1")
    assert not any(re.search(r"\x1b\[[0-9;]*3[0-7]", line) for line in lines)
    assert plain(lines)[2] == "   1 │ def parse_widely(text):"


def test_through_a_pipe(service: Path) -> None:
    done = spawn(["search", "parse widely", "--limit", "1"], service, TERM="xterm-256color")
    assert (done.code, done.err) == (0, "")
    assert "\x1b" not in done.out
    assert f"   2 │     {LONG.rstrip()}\n" in done.out


def test_a_source_cannot_steer_the_terminal(indexed: Path) -> None:
    (indexed / "evil.py").write_text("def evil_escape():\n    x = '\x1b[2Jgone\x07'\n")
    lines = screen(indexed, 100, "search", "symbol = evil_escape")
    assert not any("\x1b[2J" in line or "\x07" in line for line in lines)
    assert any("\\x1b[2Jgone\\x07" in line for line in plain(lines))
