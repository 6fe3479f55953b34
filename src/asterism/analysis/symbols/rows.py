"""The symbols table of one file: a row per definition, export, import and use of a name."""

import hashlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence

from asterism.domain.chunk import Chunk
from asterism.domain.outline import Outline
from asterism.domain.symbol import Role, SymbolRow


def symbol_rows(outline: Outline, chunks: Sequence[Chunk]) -> Iterator[SymbolRow]:
    """Every row of a file, definitions first.

    Uses of parameters and local variables are left out: nothing outside their function can be
    meant by them. A name used several times on one line is one row.
    """
    path = outline.path
    place = _Places(chunks)
    ids = _Ids(path)
    for _, item in outline.symbols():
        yield SymbolRow(
            ids.next(Role.DEFINITION, item.qualified_name, item.kind),
            item.name,
            item.qualified_name,
            item.kind,
            Role.DEFINITION,
            path,
            item.start_line,
            item.exported,
            place.innermost(item.start_line, item.depth),
        )
    for export in outline.exports:
        yield SymbolRow(
            ids.next(Role.EXPORT, export.name, export.module or ""),
            export.name,
            export.local,
            "re-export" if export.module else "export",
            Role.EXPORT,
            path,
            export.line,
            True,
            place.innermost(export.line),
        )
    for entry in outline.imports:
        for name in entry.names or ((entry.module, None),):
            local = name[1] or name[0]
            yield SymbolRow(
                ids.next(Role.IMPORT, local, entry.module),
                local,
                f"{entry.module}.{name[0]}" if entry.names else entry.module,
                "import",
                Role.IMPORT,
                path,
                entry.start_line,
                entry.reexport,
                place.innermost(entry.start_line),
            )
    yield from _usages(outline, place, ids)


def _usages(outline: Outline, place: "_Places", ids: "_Ids") -> Iterator[SymbolRow]:
    seen: set[tuple[str, str | None, int]] = set()
    for name, line, _column, receiver, _enclosing, local in outline.references:
        key = (name, receiver, line)
        if local or key in seen:
            continue
        seen.add(key)
        qualified = f"{receiver}.{name}" if receiver else name
        yield SymbolRow(
            ids.next(Role.USAGE, qualified, ""),
            name,
            qualified,
            "usage",
            Role.USAGE,
            outline.path,
            line,
            False,
            place.innermost(line),
        )


class _Ids:
    """Stable ids: what the row says and its ordinal among equals, no line numbers."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: Counter[tuple[str, str, str]] = Counter()

    def next(self, role: Role, name: str, detail: str) -> str:
        key = (role.value, name, detail)
        ordinal = self._seen[key]
        self._seen[key] += 1
        data = "\x00".join((self._path, *key, str(ordinal))).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, digest_size=16).hexdigest()


class _Places:
    """Which chunk a line belongs to."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        # No two chunks of one depth share a line, so at each depth a line has one chunk or none.
        self._levels: list[tuple[list[int], list[Chunk]]] = []
        for chunk in sorted(chunks, key=lambda chunk: (chunk.depth, chunk.start_line)):
            if chunk.depth >= len(self._levels):
                self._levels.append(([], []))
            starts, ordered = self._levels[chunk.depth]
            starts.append(chunk.start_line)
            ordered.append(chunk)

    def innermost(self, line: int, depth: int | None = None) -> str | None:
        """The deepest chunk that holds the line, no deeper than `depth` if that is given."""
        best: str | None = None
        for starts, ordered in self._levels[: None if depth is None else depth + 1]:
            position = bisect_right(starts, line) - 1
            if position < 0 or ordered[position].end_line < line:
                break
            best = ordered[position].id
        return best
