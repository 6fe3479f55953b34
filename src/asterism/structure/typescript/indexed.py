"""References of the form `Type["member"]`, which the compiler does not always look for.

It only looks into files that have the name as a name, and this is a text to it.
"""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from asterism.structure.typescript.session import Session
from asterism.structure.typescript.tree import Kind


def indexed_references(
    session: Session,
    project: str,
    name: str,
    meant: AbstractSet[str],
    paths: AbstractSet[str],
) -> list[str]:
    """The handles of such references in some files; `meant` are handles of declarations."""
    handles = [
        handle
        for path in sorted(paths)
        if session.has_key(path, name)
        for handle in _literals(session, project, path, name)
    ]
    symbols = session.symbols(project, handles)
    return [
        handle
        for handle, symbol in zip(handles, symbols, strict=True)
        if symbol is not None and not meant.isdisjoint(symbol.declarations)
    ]


def _literals(session: Session, project: str, path: str, name: str) -> Iterator[str]:
    file = session.file(project, path)
    if file is None:
        return
    for found in re.finditer(rf"\[(['\"]){re.escape(name)}\1\]", file.tree.source.units):
        node = file.tree.at(found.start() + 1)
        if file.tree.kind(node) == Kind.string_literal:
            yield file.tree.handle(node)
