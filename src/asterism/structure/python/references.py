"""All references to a Python symbol, those under another name included."""

from collections.abc import Iterator
from typing import NamedTuple

from asterism.lsp.client import to_path
from asterism.structure.python.places import PythonFile
from asterism.structure.python.resolving import Resolver, find_word

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
