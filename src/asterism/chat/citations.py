"""Which places an answer rests on: read off tool results, without duplicates, two to a file."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from asterism.types.chat import Citation, ToolResult

PER_FILE = 2
"""As in the searches that a chat makes: the nearest two of a file say enough of it."""


def cited(results: Iterable[ToolResult]) -> tuple[Citation, ...]:
    """The places in the results' rows, in the order they came.

    Of equal ones (same chunk, or same text, in one file) the nearest stays, of equally near ones
    the first; of a file the nearest two stay, those without a distance last. Rows that name no
    place are passed over.
    """
    places = [place for result in results for place in _places(result)]
    nearest = sorted(range(len(places)), key=lambda number: places[number].distance)
    seen: set[tuple[tuple[str, str], str, str]] = set()
    counts: Counter[tuple[str, str]] = Counter()
    kept = []
    for number in nearest:
        place = places[number]
        keys = place.keys()
        if seen.isdisjoint(keys) and counts[place.file] < PER_FILE:
            counts[place.file] += 1
            kept.append(number)
        seen |= keys
    return tuple(places[number].citation for number in sorted(kept))


def existing(
    citations: Iterable[Citation], exists: Callable[[Citation], bool]
) -> tuple[Citation, ...]:
    """Those whose lines are still there, by a look at the file when they are shown."""
    return tuple(citation for citation in citations if exists(citation))


class _Place(NamedTuple):
    citation: Citation
    text: str

    @property
    def file(self) -> tuple[str, str]:
        return self.citation.repo, self.citation.path

    @property
    def distance(self) -> float:
        known = self.citation.distance
        return math.inf if known is None else known

    def keys(self) -> set[tuple[tuple[str, str], str, str]]:
        """What equal places share."""
        named = [("id", self.citation.chunk_id), ("text", self.text)]
        return {(self.file, kind, value) for kind, value in named if value}


def _places(result: ToolResult) -> Iterator[_Place]:
    rows = (result.data or {}).get("results")
    if result.is_error or not isinstance(rows, Sequence) or isinstance(rows, str):
        return
    for row in rows:
        place = _place(row) if isinstance(row, Mapping) else None
        if place is not None:
            yield place


def _place(row: Mapping[str, Any]) -> _Place | None:
    """A row of a vector search inside a chat, or of a list of code; None if it is neither."""
    repo, path = row.get("repo"), row.get("relPath") or row.get("file_path")
    first = _line(row, "startLine", "start_line")
    last = _line(row, "endLine", "end_line")
    if not (isinstance(repo, str) and repo and isinstance(path, str) and path and first and last):
        return None
    if last < first:
        return None
    distance = row.get("score") if "relPath" in row else row.get("distance")
    citation = Citation(
        repo=repo,
        path=path,
        first_line=first,
        last_line=last,
        chunk_id=_text(row, "chunkId", "chunk_id"),
        distance=_number(distance),
        name=_text(row, "name"),
    )
    return _Place(citation, _text(row, "chunk", "content"))


def _line(row: Mapping[str, Any], *keys: str) -> int:
    value = next((row[key] for key in keys if key in row), 0)
    return value if isinstance(value, int) and value > 0 else 0


def _text(row: Mapping[str, Any], *keys: str) -> str:
    value = next((row[key] for key in keys if key in row), "")
    return value if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None
