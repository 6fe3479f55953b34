"""Golden ranks: queries and what a searcher finds for them, as a text that is read in a diff.

The file holds its own queries, so a new one is added as a line `? query` and filled in by
`write_ranks`; `\\n` in it is a new line:

    ? check a token
      1  0.93  src/tokens.ts:7-9  TokenService.validate
      2  0.07  src/keys.ts:1-3
"""

import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from pathlib import Path

from asterism.evaluation.datasets import FoundPlace
from asterism.evaluation.run import Searcher

# Enough to see a ranking move; a longer list would change with every breath.
SHOWN = 5

# Another machine adds up in another order, and a score on the edge is then rounded the other way.
SAME_SCORE = 0.0101

_QUERY = "? "
_COMMENT = "#"
_PLACE = re.compile(r" *\d+  (?P<score>\d\.\d\d)  (?P<place>.*)")


def ranks_text(searcher: Searcher, directory: Path, expected: str, limit: int = SHOWN) -> str:
    """What the file would be now: comments and queries as they are, places found anew."""
    searcher.index(directory)
    try:
        lines: list[str] = []
        for line, places in _entries(expected):
            lines.append(line)
            if line.startswith(_QUERY):
                query = line.removeprefix(_QUERY).replace("\\n", "\n")
                lines += _settled(_places(searcher.search(query, limit)), places)
    finally:
        searcher.close()
    return "".join(f"{line}\n" for line in lines)


def changed_ranks(file: Path, searcher: Searcher, directory: Path) -> list[str]:
    """How the ranks differ from the file, as lines of a diff; nothing where they are the same."""
    expected = file.read_text(encoding="utf-8")
    if not any(line.startswith(_QUERY) for line in expected.splitlines()):
        return [f"{file.name} holds no query; add one as a line `? query`."]
    actual = ranks_text(searcher, directory, expected)
    # The context is as long as an entry, so that every change shows its query.
    return list(
        unified_diff(
            expected.splitlines(), actual.splitlines(), file.name, "now", n=SHOWN, lineterm=""
        )
    )


def write_ranks(file: Path, searcher: Searcher, directory: Path) -> None:
    """Bring the file up to date; read the diff before you commit it."""
    text = ranks_text(searcher, directory, file.read_text(encoding="utf-8"))
    file.write_text(text, encoding="utf-8", newline="\n")


def _entries(text: str) -> Iterator[tuple[str, list[str]]]:
    """The lines that people write, each with those that were written below it."""
    kept: tuple[str, list[str]] | None = None
    for line in text.splitlines():
        if not line or line.startswith((_QUERY, _COMMENT)):
            if kept is not None:
                yield kept
            kept = (line, [])
        elif kept is not None:
            kept[1].append(line)
    if kept is not None:
        yield kept


def _settled(now: Sequence[str], before: Sequence[str]) -> list[str]:
    """The lines as they are now; where only a hair has moved, as they were."""
    return [
        before[number] if number < len(before) and _is_same(before[number], line) else line
        for number, line in enumerate(now)
    ]


def _is_same(before: str, now: str) -> bool:
    old, new = _PLACE.fullmatch(before), _PLACE.fullmatch(now)
    if old is None or new is None or old["place"] != new["place"]:
        return False
    return abs(float(old["score"]) - float(new["score"])) < SAME_SCORE


def _places(found: Sequence[FoundPlace]) -> list[str]:
    if not found:
        return ["  nothing"]
    return [f"{rank:3}  {_place(place)}".rstrip() for rank, place in enumerate(found, 1)]


def _place(place: FoundPlace) -> str:
    lines = "" if place.start_line is None else f":{place.start_line}-{place.end_line}"
    score = "" if place.score is None else f"{place.score:.2f}  "
    return f"{score}{place.path}{lines}  {place.name}"
