"""The files of the project: what git tracks or would track, and their texts and syntax trees."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

MATERIAL = ("tests/fixtures/", "tests/golden/", "examples/")
"""Input of the program under test, kept as it was written."""


def project_files() -> list[str]:
    """Every file of the project, as paths from its root."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
        names = {name for name in listing.decode().split("\0") if name}
    except (OSError, subprocess.CalledProcessError):
        names = set(_walk())  # an unpacked archive has no git
    return sorted(name for name in names if (ROOT / name).is_file())


def _walk() -> Iterator[str]:
    for path in ROOT.rglob("*"):
        name = path.relative_to(ROOT)
        if not any(part.startswith(".") or part == "__pycache__" for part in name.parts):
            yield name.as_posix()


FILES = project_files()
OURS = [name for name in FILES if not name.startswith(MATERIAL)]
MODULES = [name for name in OURS if name.endswith(".py")]
SOURCE = [name for name in MODULES if name.startswith("src/")]
PAGES = [name for name in OURS if name.endswith(".md")]


def text_of(name: str) -> str | None:
    """The file's text, or nothing if it is not text."""
    try:
        return (ROOT / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


@cache
def tree_of(name: str) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(text_of(name) or "")


def lines_with(pattern: re.Pattern[str], names: list[str]) -> list[str]:
    """Each place where the pattern matches, as `path:line`."""
    return [
        f"{name}:{number}"
        for name in names
        for number, line in enumerate((text_of(name) or "").splitlines(), start=1)
        if pattern.search(line)
    ]
