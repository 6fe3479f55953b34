"""References to what CommonJS modules export, which the compiler does not find by itself.

It knows what `require("./greet").greet` means, but asked who refers to `exports.greet` it looks no
further than the file. So every file that has the name is asked what it means there.
"""

from collections.abc import Iterator, Sequence

from asterism.structure.typescript.files import SourceFile
from asterism.structure.typescript.places import split
from asterism.structure.typescript.session import Symbol
from asterism.structure.typescript.tree import NAME_KINDS, Kind
from asterism.structure.typescript.view import View

_ENDINGS = (".js", ".jsx", ".cjs")
_IN_OBJECT = frozenset({Kind.shorthand_property, Kind.property_assignment})


def exported_references(
    view: View, file: SourceFile, symbol: Symbol, found: Sequence[str]
) -> list[tuple[str, str]]:
    """More references, each with the project that knows it, beside those found already."""
    if not file.path.endswith(_ENDINGS) or b"exports" not in file.tree.source.decoded:
        return []
    name = symbol.name
    meant = {*symbol.declarations, *_in_exported_objects(file, found)}
    more = []
    for project, right in view.projects:
        for path in sorted(right):
            if path != file.tree.path and view.session.mentions(path, [name]):
                handles = list(_occurrences(view, project, path, name))
                symbols = view.session.symbols(project, handles)
                more += [
                    (project, handle)
                    for handle, other in zip(handles, symbols, strict=True)
                    if other is not None and meant.intersection(other.declarations)
                ]
    return more


def _in_exported_objects(file: SourceFile, found: Sequence[str]) -> Iterator[str]:
    """`module.exports = { serve }`: importers mean that property, not the function."""
    for handle in found:
        node, _, path = split(handle)
        if path == file.tree.path and node < file.tree.count:
            above = file.tree.parent(node)
            if file.tree.kind(above) in _IN_OBJECT:
                yield file.tree.handle(above)


def _occurrences(view: View, project: str, path: str, name: str) -> Iterator[str]:
    file = view.session.file(project, path)
    if file is None:
        return
    units, tree, at = file.tree.source.units, file.tree, -1
    while (at := units.find(name, at + 1)) >= 0:
        node = tree.at(at)
        if tree.kind(node) in NAME_KINDS and tree.text(node) == name:
            yield tree.handle(node)
