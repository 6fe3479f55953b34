"""Snapshots that were written down: a source, what is wanted of it, and the text."""

from pathlib import Path
from typing import NamedTuple

CASES = sorted((Path(__file__).parents[1] / "golden" / "snapshots").glob("*.txt"))


class Case(NamedTuple):
    """The head of a case names the path and the targets; source and snapshot follow."""

    path: str
    targets: tuple[str, ...]
    source: bytes
    expected: str
    damaged: bool


def read_case(path: Path) -> Case:
    """One case from its file."""
    head, _, rest = path.read_text(encoding="utf-8").partition("=== source\n")
    source, _, expected = rest.partition("=== snapshot\n")
    settings = dict(line.split(": ", 1) for line in head.splitlines())
    targets = tuple(settings["targets"].split(", "))
    return Case(settings["path"], targets, source.encode(), expected, "damaged" in settings)


def case_source(path: Path) -> tuple[str, bytes]:
    """The file that a case is about."""
    case = read_case(path)
    return case.path, case.source
