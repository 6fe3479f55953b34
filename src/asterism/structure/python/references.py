"""All references to a Python symbol, those under another name included."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from asterism.lsp.client import LanguageClient, to_path
from asterism.structure.python.places import Files, PythonFile, module_of
from asterism.types.structure import Edge, Known, SymbolPlace

# How sure an import alone makes us, no file declaring what it names; and a name without even that.
IMPORT_CONFIDENCE = 0.9
NAME_CONFIDENCE = 0.5


class Meaning(NamedTuple):
    """What a name means, and how that is known."""

    place: SymbolPlace
    known: Known = Known.resolved
    confidence: float = 1.0

    def edge(self, *lines: int) -> Edge:
        """The connection to it, made at some lines."""
        return Edge(self.place, self.known, self.confidence, lines)


class Resolver:
    """Asks where things are declared."""

    def __init__(self, client: LanguageClient, files: Files) -> None:
        self.client = client
        self.files = files

    def ask(self, method: str, file: PythonFile, offset: int, **more: Any) -> list[Any]:
        """The answers about a place in a file, as a list."""
        line, column = file.position(offset)
        path = f"{self.files.root}/{file.path}"
        answer = self.client.at(f"textDocument/{method}", path, line, column, **more)
        if not answer:
            return []
        return answer if isinstance(answer, list) else [answer]

    def meaning(self, file: PythonFile, offset: int, written: str) -> Meaning:
        """What the name at a place means; `written` is the name, dotted where it is."""
        for found in self.ask("definition", file, offset):
            start = found["range"]["start"]
            meaning = self.at(found["uri"], start["line"], start["character"], written)
            if meaning is not None:
                return meaning
        return self._by_import(file, written) or Meaning(
            SymbolPlace(written, None), Known.by_name, NAME_CONFIDENCE
        )

    def at(self, uri: str, line: int, column: int, name: str) -> Meaning | None:
        """What is declared at a place, line and UTF-16 column from 0; None for mere locals."""
        path = to_path(uri)
        file = self.files.get(path) if path else None
        if path is None or file is None:
            own = name.rpartition(".")[2]
            return Meaning(SymbolPlace(own, None, module=module_of(path or "") or None))
        offset = file.offset(line, column)
        index = file.named(offset)
        if index is not None:
            return Meaning(file.place(index))
        if file.import_at(line + 1) is not None:
            # The checker knows no declaration, so it leads to the import itself.
            return self._by_import(file, name)
        if (line, column) == (0, 0):
            return Meaning(file.place(None))
        around = file.around(offset)
        if around is None or file.item(around).kind in ("function", "method"):
            return None
        place = file.place(around)
        shown = f"{place.name}.{name.rpartition('.')[2]}"
        return Meaning(SymbolPlace(shown, file.path, line + 1))

    def _by_import(self, file: PythonFile, written: str) -> Meaning | None:
        """What the imports of a file say of a name that nothing declares."""
        first, _, rest = written.partition(".")
        for found in file.outline.imports:
            for name in found.names:
                local = name.local if name.name != "*" or name.alias else found.module
                if local.partition(".")[0] != first:
                    continue
                is_whole = name.name == "*"
                shown = written if is_whole else ".".join(filter(None, (name.name, rest)))
                place = SymbolPlace(shown, None, module=found.module)
                return Meaning(place, Known.by_name, IMPORT_CONFIDENCE)
        return None


def find_word(file: PythonFile, word: str, start: int, end: int) -> int | None:
    """The byte where a word first stands between two places."""
    last = word.rpartition(".")[2]
    pattern = re.compile(rb"(?<![\w])" + re.escape(last.encode()) + rb"(?![\w])")
    found = pattern.search(file.source.decoded, start, end)
    return found.start() if found else None


# Renamings that are followed: a symbol that changes its name more often is a puzzle, not code.
MOST_RENAMINGS = 20


class Found(NamedTuple):
    """One reference, between two bytes of a file."""

    file: PythonFile
    start: int
    end: int


def references_to(resolver: Resolver, file: PythonFile, offset: int) -> list[Found]:
    """Every reference in the repository, declarations included, in the order of files and lines.

    The checker stops at `import total as add_up`; from there the new name is asked for as well.
    """
    found: dict[tuple[str, int], Found] = {}
    pending, asked = [(file, offset)], set[tuple[str, int]]()
    while pending and len(asked) < MOST_RENAMINGS:
        file, offset = pending.pop()
        if (file.path, offset) in asked:
            continue
        asked.add((file.path, offset))
        for reference in _asked(resolver, file, offset):
            key = (reference.file.path, reference.start)
            if key not in found:
                found[key] = reference
                pending += _renamed(reference)
    return [found[key] for key in sorted(found)]


def _asked(resolver: Resolver, file: PythonFile, offset: int) -> Iterator[Found]:
    context = {"includeDeclaration": True}
    for reference in resolver.ask("references", file, offset, context=context):
        path = to_path(reference["uri"])
        own = resolver.files.get(path) if path else None
        if own is not None:
            start, end = reference["range"]["start"], reference["range"]["end"]
            yield Found(
                own,
                own.offset(start["line"], start["character"]),
                own.offset(end["line"], end["character"]),
            )


def _renamed(reference: Found) -> Iterator[tuple[PythonFile, int]]:
    """Where an import gives the name it refers to another one."""
    file = reference.file
    line = file.line(reference.start)
    found = file.import_at(line)
    if found is None:
        return
    word = file.source.decoded[reference.start : reference.end].decode("utf-8", "replace")
    for name in found.names:
        if name.name == word and name.alias and name.alias != word:
            end = file.source.decoded.find(b"\n", reference.end)
            alias = find_word(
                file, name.alias, reference.end, end if end >= 0 else len(file.source.decoded)
            )
            if alias is not None:
                yield file, alias
