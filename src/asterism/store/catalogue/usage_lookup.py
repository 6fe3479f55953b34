"""Finding usages by name, whose rows hold all places of a name in a file."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from asterism.store.catalogue.conditions import Condition, all_of, any_of
from asterism.store.database import Database
from asterism.store.stored_text import clean, loaded_id, loaded_path
from asterism.types.catalogue import FoundSymbol, SymbolName
from asterism.types.symbol import Role, SymbolRow

# The join order is fixed (CROSS JOIN): the name's index first, whatever the statistics say.
_GROUPS = """
    SELECT r.name, f.path, s.file, w.word, w.number, s.count
    FROM words w
    CROSS JOIN usages s ON s.name = w.number
    CROSS JOIN files f ON f.number = s.file
    CROSS JOIN repositories r ON r.number = f.repo
"""


class _Group(NamedTuple):
    """All places of a name in a file."""

    repo: str
    path: str
    file: int
    name: str
    word: int
    size: int


class _Place(NamedTuple):
    line: int
    chunk: int | None
    receiver: int | None
    ordinal: int


def find_usages(
    database: Database, readings: Sequence[SymbolName], where: Condition, page: slice
) -> tuple[list[FoundSymbol], int]:
    """The usages of a page, by path and line, and how many there are."""
    names = tuple(dict.fromkeys(clean(reading.name) for reading in readings))
    condition = all_of([any_of("w.word = ?", names), where])
    rows = database.rows(
        f"{_GROUPS} WHERE {condition.sql} ORDER BY f.path, r.name, w.word", condition.values
    )
    groups = [_Group(repo, loaded_path(path), *rest) for repo, path, *rest in rows]
    receivers = _Receivers(database)
    if any(reading.container or reading.path for reading in readings):
        chosen = [
            (group, place)
            for group in groups
            for place in _places(database, group)
            if _is_meant(group, receivers.text(place.receiver), readings)
        ]
        return _loaded(database, chosen[page], receivers), len(chosen)
    chosen = list(_cut(database, groups, page))
    return _loaded(database, chosen, receivers), sum(group.size for group in groups)


def using_files(database: Database, repo: int, name: str) -> list[str]:
    """The files of a repository that use a name, in order of their paths."""
    rows = database.rows(
        "SELECT f.path FROM words w CROSS JOIN usages s ON s.name = w.number"
        " CROSS JOIN files f ON f.number = s.file WHERE w.word = ? AND f.repo = ? ORDER BY f.path",
        (clean(name), repo),
    )
    return [loaded_path(path) for (path,) in rows]


def _cut(
    database: Database, groups: Sequence[_Group], page: slice
) -> Iterator[tuple[_Group, _Place]]:
    """The places of a page; groups outside it are only counted."""
    position = 0
    for group in groups:
        end = position + group.size
        if end > page.start and position < page.stop:
            first, last = max(0, page.start - position), page.stop - position
            yield from ((group, place) for place in _places(database, group)[first:last])
        position = end


def _places(database: Database, group: _Group) -> list[_Place]:
    row = database.one(
        "SELECT places FROM usages WHERE file = ? AND name = ?", (group.file, group.word)
    )
    # Sorting is stable: on one line, the order of the source stays.
    places = map(_Place._make, database.unpacked(row[0]) if row else ())
    return sorted(places, key=lambda place: place.line)


def _is_meant(group: _Group, receiver: str, readings: Sequence[SymbolName]) -> bool:
    return any(
        group.name == clean(reading.name)
        and (not reading.container or f".{receiver}".endswith(f".{clean(reading.container)}"))
        and (not reading.path or f"/{group.path}".endswith(f"/{reading.path}"))
        for reading in readings
    )


def _loaded(
    database: Database, chosen: Sequence[tuple[_Group, _Place]], receivers: "_Receivers"
) -> list[FoundSymbol]:
    found: list[FoundSymbol] = []
    for group, place in chosen:
        receiver = receivers.text(place.receiver)
        chunk = database.one(
            "SELECT id FROM chunks WHERE file = ? AND n = ?", (group.file, place.chunk)
        )
        row = SymbolRow(
            group.name,
            f"{receiver}.{group.name}" if receiver else group.name,
            "usage",
            Role.USAGE,
            group.path,
            place.line,
            False,
            loaded_id(chunk[0]) if chunk else None,
            place.ordinal,
        )
        found.append(FoundSymbol(group.repo, row))
    return found


class _Receivers:
    """The words of receivers, each asked for once."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._words: dict[int | None, str] = {None: ""}

    def text(self, number: int | None) -> str:
        """The word of a number; nothing where there is no receiver."""
        if number not in self._words:
            row = self._database.one("SELECT word FROM words WHERE number = ?", (number,))
            self._words[number] = row[0] if row else ""
        return self._words[number]
