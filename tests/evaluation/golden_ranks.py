"""Golden ranks: queries and what a searcher finds for them, as a text that is read in a diff.

The file holds its own queries, so a new one is added as a line `? query` and filled in by
`write_ranks`:

    ? check a token
      1  src/tokens.ts:7-9  TokenService.validate
      2  src/keys.ts:1-3
"""

from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path

from asterism.evaluation.labels import Found
from asterism.evaluation.searching import Searcher

# Enough to see a ranking move; a longer list would change with every breath.
SHOWN = 5

_QUERY = "? "
_COMMENT = "#"


def ranks_text(searcher: Searcher, directory: Path, expected: str, limit: int = SHOWN) -> str:
    """What the file would be now: comments and queries as they are, places found anew."""
    searcher.index(directory)
    try:
        lines: list[str] = []
        for line in _kept(expected):
            lines.append(line)
            if line.startswith(_QUERY):
                lines += _places(searcher.search(line.removeprefix(_QUERY), limit))
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
    file.write_text(text, encoding="utf-8")


def _kept(text: str) -> list[str]:
    """The lines that people write: queries, comments, and blank lines between entries."""
    return [line for line in text.splitlines() if not line or line.startswith((_QUERY, _COMMENT))]


def _places(found: Sequence[Found]) -> list[str]:
    if not found:
        return ["  nothing"]
    return [f"{rank:3}  {_place(place)}".rstrip() for rank, place in enumerate(found, 1)]


def _place(place: Found) -> str:
    lines = "" if place.start_line is None else f":{place.start_line}-{place.end_line}"
    return f"{place.path}{lines}  {place.name}"
