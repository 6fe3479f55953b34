"""Citations as they are shown: each is looked for where it says it is."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from asterism.chat.extractive import NAME as EXTRACTIVE
from asterism.types.chat import Citation, Turn

_READ_BYTES = 1 << 20


class Checked(NamedTuple):
    """A citation, and whether its lines are there now."""

    citation: Citation
    exists: bool


def unnamed(turn: Turn) -> tuple[Citation, ...]:
    """The places that a reader has not seen yet: an answer without a model names its own."""
    if turn.provider != EXTRACTIVE:
        return turn.citations
    return tuple(entry for entry in turn.citations if entry.place not in turn.answer)


def checked(citations: Iterable[Citation], roots: Mapping[str, str]) -> list[Checked]:
    """Each citation with a word on whether its file still has those lines.

    `roots` has the folder of each repository by its name.
    """
    lines: dict[Path, int] = {}
    found = []
    for entry in citations:
        root = roots.get(entry.repo)
        count = 0
        if root is not None:
            path = Path(root, entry.path)
            if path not in lines:
                lines[path] = _line_count(path, Path(root))
            count = lines[path]
        found.append(Checked(entry, 1 <= entry.first_line <= entry.last_line <= count))
    return found


def _line_count(path: Path, root: Path) -> int:
    """Lines of a file inside the repository; none if it cannot be read."""
    try:
        if not path.resolve().is_relative_to(root.resolve()):
            return 0
        count, last = 0, b"\n"
        with path.open("rb") as file:
            while piece := file.read(_READ_BYTES):
                count += piece.count(b"\n")
                last = piece[-1:]
    except OSError:
        return 0
    return count if last == b"\n" else count + 1
