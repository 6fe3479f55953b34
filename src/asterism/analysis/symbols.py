"""The symbols table of one file: a row per definition, export, import and use of a name."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from asterism.types.index import Chunk, Role, SymbolRow
from asterism.types.outline import Outline


def symbol_rows(outline: Outline, chunks: Sequence[Chunk]) -> Iterator[SymbolRow]:
    """Every row of a file, definitions first.

    Uses of parameters and local variables are left out: nothing outside their function can be
    meant by them. A name used several times on one line is one row.
    """
    places = _Places(chunks)
    yield from _definitions(outline, places)
    yield from _exports(outline, places)
    yield from _imports(outline, places)
    yield from _usages(outline, places)


def _definitions(outline: Outline, places: "_Places") -> Iterator[SymbolRow]:
    seen: dict[str, int] = {}
    for _, item in outline.symbols():
        qualified = item.qualified_name
        ordinal = seen[qualified] = seen.get(qualified, -1) + 1
        yield SymbolRow(
            item.name,
            qualified,
            item.kind,
            Role.DEFINITION,
            outline.path,
            item.start_line,
            item.exported,
            places.no_deeper(item.start_line, item.depth),
            ordinal,
            item.signature,
        )


def _exports(outline: Outline, places: "_Places") -> Iterator[SymbolRow]:
    seen: dict[tuple[str, str | None], int] = {}
    for name, local, line, module, _type_only in outline.exports:
        ordinal = seen[local, module] = seen.get((local, module), -1) + 1
        yield SymbolRow(
            name,
            local,
            "export" if module is None else "re-export",
            Role.EXPORT,
            outline.path,
            line,
            True,
            places.innermost(line),
            ordinal,
            None,
            module,
        )


def _imports(outline: Outline, places: "_Places") -> Iterator[SymbolRow]:
    seen: dict[tuple[str, str], int] = {}
    for entry in outline.imports:
        module = entry.module
        for name, alias in entry.names or ((None, module),):
            qualified = module if name is None else f"{module}.{name}"
            ordinal = seen[qualified, module] = seen.get((qualified, module), -1) + 1
            yield SymbolRow(
                alias or name or module,
                qualified,
                "import",
                Role.IMPORT,
                outline.path,
                entry.start_line,
                entry.reexport,
                places.innermost(entry.start_line),
                ordinal,
                None,
                module,
            )


def _usages(outline: Outline, places: "_Places") -> Iterator[SymbolRow]:
    path, role, new = outline.path, Role.USAGE, tuple.__new__
    seen: set[tuple[str, int]] = set()
    ordinals: dict[str, int] = {}
    for name, line, _column, receiver, _enclosing, local in outline.references:
        if local:
            continue
        qualified = f"{receiver}.{name}" if receiver else name
        key = (qualified, line)
        if key in seen:
            continue
        seen.add(key)
        ordinal = ordinals[qualified] = ordinals.get(qualified, -1) + 1
        chunk = places.innermost(line)
        # Past the class's constructor: most rows of an index are these.
        yield new(
            SymbolRow,
            (name, qualified, "usage", role, path, line, False, chunk, ordinal, None, None),
        )


class _Places:
    """Which chunk a line belongs to."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks
        end = max((chunk.end_line for chunk in chunks), default=0)
        self._owners: list[Chunk | None] = [None] * (end + 1)
        # Parents come before their children, so the innermost chunk writes its lines last.
        for chunk in chunks:
            first, behind = chunk.start_line, chunk.end_line + 1
            self._owners[first:behind] = [chunk] * (behind - first)
        self._levels: dict[int, tuple[list[int], list[Chunk]]] | None = None

    def innermost(self, line: int) -> str | None:
        """The deepest chunk that holds the line."""
        chunk = self._owners[line] if line < len(self._owners) else None
        return None if chunk is None else chunk.id

    def no_deeper(self, line: int, depth: int) -> str | None:
        """The deepest chunk that holds the line and is not below `depth`."""
        chunk = self._owners[line] if line < len(self._owners) else None
        if chunk is not None and chunk.depth > depth:
            # No two chunks of one depth share a line, so there is one of them or none.
            starts, ordered = self._level(depth)
            chunk = ordered[bisect_right(starts, line) - 1]
        return None if chunk is None else chunk.id

    def _level(self, depth: int) -> tuple[list[int], list[Chunk]]:
        """The chunks of one depth in their order, and where they begin."""
        if self._levels is None:
            self._levels = {}
            for chunk in sorted(self._chunks, key=lambda chunk: chunk.start_line):
                starts, ordered = self._levels.setdefault(chunk.depth, ([], []))
                starts.append(chunk.start_line)
                ordered.append(chunk)
        return self._levels[depth]
