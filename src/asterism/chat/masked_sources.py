"""Where tokens are in the code that a turn's model was given."""

from collections.abc import Iterable, Iterator

from asterism.disclosure.places import MaskedPlace, places_in
from asterism.types.chat import ToolResult


def masked_places(results: Iterable[ToolResult]) -> Iterator[MaskedPlace]:
    """The places of tokens in the rows of results.

    Of a row that was shortened the lines are not known, so the place is its first line.
    """
    for result in results:
        rows = (result.data or {}).get("results")
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict):
                yield from _in_row(row)


def _in_row(row: dict[str, object]) -> Iterator[MaskedPlace]:
    path, text = row.get("relPath"), row.get("chunk")
    first, last = row.get("startLine"), row.get("endLine")
    if not (isinstance(path, str) and isinstance(text, str) and isinstance(first, int)):
        return
    places = places_in(path, first, text)
    if places and last != first + text.count("\n"):
        yield MaskedPlace(path, first)
    else:
        yield from places
