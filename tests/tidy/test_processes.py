"""Are processes started in few places, and ended with the process that started them?"""

import re

import pytest

from scripts.house.files import SOURCE, text_of

# What begins a process in Python, by module; `os` and `multiprocessing` have other uses too.
STARTS = re.compile(
    r"^\s*(?:import|from)\s+(?:subprocess|pty|_posixsubprocess|_winapi|webbrowser)\b"
    r"|\bos\.(?:exec|spawn|posix_spawn|fork|system|popen|startfile)\w*\("
    r"|\b(?:create_subprocess_\w+|open_process|run_process)\("
    r"|\b(?:ProcessPoolExecutor|multiprocessing)\b",
    re.MULTILINE,
)
MAY_START = {
    "src/asterism/programs/start.py": "starts what the table of programs has",
    "src/asterism/programs/launcher.py": "becomes the program, behind its fences",
    "src/asterism/programs/fork_server.py": "tidies up in Python's own fork server",
    "src/asterism/toolservers/transports.py": "opens a tool server asynchronously, as prepared",
    "src/asterism/analysis/parallel.py": "reader processes, which Python starts from our own code",
    "src/asterism/programs/table.py": "names the module whose warnings reader processes leave out",
    "src/asterism/api/codebase.py": "recognises that it is in a reader process",
}


def test_processes_begin_in_one_place() -> None:
    """Elsewhere one would start without the environment, directory and limits of the table."""
    found = [name for name in SOURCE if STARTS.search(text_of(name) or "")]
    assert sorted(found) == sorted(MAY_START)


# How the modules that start something end it with the process that did.
TIES = re.compile(r"\b(?:line\.tie|follow_parent)\(")


def test_what_begins_ends_with_its_parent() -> None:
    """`kill -9` would leave it behind otherwise."""
    starts = re.compile(r"\b(?:Popen|open_process|ProcessPoolExecutor)\(")
    found = [name for name in SOURCE if starts.search(text_of(name) or "")]
    assert len(found) == 3
    assert [name for name in found if not TIES.search(text_of(name) or "")] == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import subprocess\n", True),
        ("    from subprocess import run\n", True),
        ("os.execvp('a', [])", True),
        ("os.posix_spawnp('a', [], {})", True),
        ("await asyncio.create_subprocess_exec('a')", True),
        ("anyio.run_process(['a'])", True),
        ("from multiprocessing import get_context", True),
        ("import os\nos.path.join('a', 'b')\n", False),
        ('"""Says what a subprocess is."""', False),
    ],
)
def test_what_counts_as_a_start(source: str, expected: bool) -> None:
    assert bool(STARTS.search(source)) is expected
