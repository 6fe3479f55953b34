"""`symbol = …`: every definition of a name, exact and case-sensitive."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.chunk_table import ChunkKey, ChunkSnapshot
from asterism.store.filtering import predicate
from asterism.types.catalogue import FoundSymbol, SymbolQuery
from asterism.types.chunk import Chunk
from asterism.types.filters import NO_FILTER, Filter
from asterism.types.symbol import Role
from asterism.types.symbol_names import symbol_query

# Hints are read by people; more of them are a list to search through.
MAX_HINTS = 5
# Spellings to look for in what a name was said to stand in.
_LIKE = 20
# Every match is wanted; SQLite takes a limit all the same.
_ALL = 1_000_000_000
# Rows whose chunks are compared with a filter at once.
_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolAnswer:
    """The definitions of a name, by path and line."""

    name: str
    """As it was asked for."""
    found: tuple[FoundSymbol, ...] = ()
    """All of them."""
    filtered_out: int = 0
    """How many more there are that do not pass the filter."""
    other_case: bool = False
    """Whether these are spelt with other capitals, because nothing was spelt as asked."""
    did_you_mean: tuple[str, ...] = ()
    """Names that exist and look like this one; only where nothing has its name."""

    @property
    def total_matches(self) -> int:
        """How many there are; exact."""
        return len(self.found)


def look_up(
    catalogue: Catalogue, snapshot: ChunkSnapshot, name: str, where: Filter = NO_FILTER
) -> SymbolAnswer:
    """Find a name as a user writes it, `A.x` or `path > A > x`; none is an answer with hints."""
    rows = definitions_named(catalogue, name)
    found = passing(snapshot, rows, where)
    return SymbolAnswer(
        name=name,
        found=tuple(found),
        filtered_out=len(rows) - len(found),
        did_you_mean=() if rows else hints(catalogue, name),
    )


def definitions_named(catalogue: Catalogue, name: str) -> list[FoundSymbol]:
    """Every definition of a name, by path and line."""
    wanted = SymbolQuery(name, roles=(Role.DEFINITION,), by_end=True, limit=_ALL)
    query = symbol_query(name, wanted)
    return list(catalogue.find_symbols(query).rows)


def passing(
    snapshot: ChunkSnapshot, rows: Sequence[FoundSymbol], where: Filter
) -> list[FoundSymbol]:
    """Those that pass a filter; kind and export are the symbol's, all else is its chunk's."""
    if where == NO_FILTER:
        return list(rows)
    passes = predicate(where)
    found: list[FoundSymbol] = []
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        for row, chunk in zip(some, chunks_of(snapshot, some), strict=True):
            if chunk is None:
                continue
            symbol = row.row
            if passes(chunk._replace(node_kind=symbol.kind, is_exported=symbol.is_exported)):
                found.append(row)
    return found


def chunks_of(snapshot: ChunkSnapshot, rows: Sequence[FoundSymbol]) -> list[Chunk | None]:
    """The chunk that holds each symbol, where there is one."""
    keys = [ChunkKey(row.repo, row.row.chunk_id or "") for row in rows]
    chunks = {
        ChunkKey(chunk.repo, chunk.id): chunk for chunk in snapshot.chunks([*dict.fromkeys(keys)])
    }
    return [chunks.get(key) for key in keys]


def hints(catalogue: Catalogue, name: str) -> tuple[str, ...]:
    """What the name may have been meant to be, the likeliest first.

    Where its last part exists in other places, those; else names that are spelt like that part,
    first those that stand in what was written before it.
    """
    readings = symbol_query(name).readings
    last = readings[-1].name
    query = SymbolQuery(last, roles=(Role.DEFINITION,), limit=_ALL)
    elsewhere = dict.fromkeys(
        found.row.qualified_name for found in catalogue.find_symbols(query).rows
    )
    if elsewhere:
        plain = name.replace(" > ", ".").replace("::", ".")
        return tuple(difflib.get_close_matches(plain, elsewhere, n=MAX_HINTS, cutoff=0.0))
    like = catalogue.similar_names(last, _LIKE)
    inside = dict.fromkeys(
        found.row.qualified_name
        for path, container in dict.fromkeys((each.path, each.container) for each in readings)
        for word in (like if path or container else ())
        for found in definitions_named(catalogue, " > ".join(filter(None, (path, container, word))))
    )
    return tuple([*dict.fromkeys([*inside, *like])][:MAX_HINTS])


def in_other_case(catalogue: Catalogue, name: str) -> list[FoundSymbol]:
    """Every definition whose name differs in capitals alone."""
    found: dict[FoundSymbol, None] = {}
    spelt = {
        last: [word for word in catalogue.similar_names(last, _ALL) if word.lower() == last.lower()]
        for last in {reading.name for reading in symbol_query(name).readings}
    }
    for reading in symbol_query(name).readings:
        ends = f".{reading.container}.{reading.name}" if reading.container else f".{reading.name}"
        for spelling in (reading.name, *spelt[reading.name]):
            query = SymbolQuery(spelling, roles=(Role.DEFINITION,), limit=_ALL)
            for row in catalogue.find_symbols(query).rows:
                qualified = f".{row.row.qualified_name}".casefold()
                path = f"/{row.row.filepath}".casefold()
                if qualified.endswith(ends.casefold()) and path.endswith(
                    f"/{reading.path}".casefold() if reading.path else ""
                ):
                    found[row] = None
    return sorted(found, key=lambda row: (row.row.filepath, row.repo, row.row.line))
