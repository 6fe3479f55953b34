"""What a TypeScript symbol calls, one hop: functions, `new`, components, decorators, accessors."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from asterism.structure.typescript.files import SourceFile
from asterism.structure.typescript.places import split
from asterism.structure.typescript.session import ACCESSOR, Symbol, is_unresolved
from asterism.structure.typescript.tree import Kind, Tree
from asterism.structure.typescript.types import IMPORT_CONFIDENCE, one_line
from asterism.structure.typescript.uses import CALL_KINDS, accessed_names, callee_of
from asterism.structure.typescript.view import View
from asterism.types.structure import Edge, Known, SymbolPlace

# What a class runs when it is made: its fields and its constructor, not its methods.
_MADE_WITH = frozenset({"property", "constructor"})


class Calls(NamedTuple):
    """What a symbol calls."""

    edges: tuple[Edge, ...]
    given: tuple[str, ...]
    """Parameters that it calls: whatever its own callers pass there."""


def calls_of(
    view: View, file: SourceFile, declarations: Sequence[int], owners: AbstractSet[int]
) -> Calls:
    """The calls inside some declarations that no other symbol between makes.

    A function with a name inside of another makes its own calls. A class makes those of its
    constructor, its fields, its static blocks, its decorators and its heritage.
    """
    makers = _with_parts(file, owners)
    tree = file.tree
    wanted = [pair for pair in _names(tree, declarations) if file.belongs(pair[0], makers)]
    names = [name for name, _ in wanted]
    called = {name for name, is_call in wanted if is_call}
    symbols = view.session.symbols(view.project, [tree.handle(name) for name in names])
    found: dict[tuple[SymbolPlace, Known], list[int]] = {}
    given: dict[str, None] = {}
    for name, symbol in zip(names, symbols, strict=True):
        if name not in called and not (symbol and symbol.flags & ACCESSOR):
            continue
        if name in called and symbol is not None and _is_parameter(symbol):
            given[symbol.name] = None
        meant = _meant(view, file, name, symbol)
        if meant is not None:
            found.setdefault(meant, []).append(tree.line(name))
    edges = tuple(
        Edge(
            place,
            known,
            1.0 if known is Known.resolved else IMPORT_CONFIDENCE,
            tuple(dict.fromkeys(lines)),
        )
        for (place, known), lines in found.items()
    )
    return Calls(edges, tuple(given))


def _is_parameter(symbol: Symbol) -> bool:
    return bool(symbol.declarations) and split(symbol.declarations[0])[1] == Kind.parameter


def _with_parts(file: SourceFile, owners: AbstractSet[int]) -> set[int]:
    makers = set(owners)
    for index in owners:
        if file.item(index).kind != "class":
            continue
        for child in file.item(index).children:
            if file.item(child).kind in _MADE_WITH:
                makers.add(child)
                inner = file.item(child).children
                makers.update(one for one in inner if file.item(one).kind == "property")
    return makers


def _names(tree: Tree, declarations: Sequence[int]) -> Iterator[tuple[int, bool]]:
    """The names that are called, and those that may be accessors, in source order."""
    for declaration in declarations:
        called = [
            name
            for node in tree.below(declaration)
            if tree.kind(node) in CALL_KINDS and (name := callee_of(tree, node)) is not None
        ]
        maybe = set(accessed_names(tree, declaration)).difference(called)
        yield from sorted([(n, True) for n in called] + [(n, False) for n in maybe])


def _meant(
    view: View, file: SourceFile, name: int, symbol: Symbol | None
) -> tuple[SymbolPlace, Known] | None:
    """What a called name means; None for parameters and locals."""
    if symbol is None:
        return _through_import(view, file, name)
    place = view.places.of(symbol)
    if place is None or view.places.is_local(symbol):
        return None
    return place, Known.by_name if is_unresolved(symbol) else Known.resolved


def _through_import(view: View, file: SourceFile, name: int) -> tuple[SymbolPlace, Known] | None:
    """`jwt.verify` where nobody declares `jwt`: the import still says whose it is."""
    tree = file.tree
    access = tree.parent(name)
    if tree.kind(access) != Kind.property_access or tree.last_child(access) != name:
        return None
    first = access
    while tree.kind(first) == Kind.property_access:
        inner = tree.first_child(first)
        if inner is None:
            return None
        first = tree.unwrapped(inner)
    if tree.kind(first) != Kind.identifier:
        return None
    symbol = view.session.symbols(view.project, [tree.handle(first)])[0]
    if symbol is None or not is_unresolved(symbol):
        return None
    place = view.places.of(symbol)
    if place is None:
        return None
    return place._replace(name=one_line(tree.text(access))), Known.by_name
