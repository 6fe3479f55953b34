"""What a TypeScript symbol calls, one hop: functions, `new`, components, decorators, accessors."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum, auto
from typing import NamedTuple

from asterism.structure.typescript.places import IMPORT_CONFIDENCE, CompilerView, one_line, split
from asterism.structure.typescript.session import (
    ACCESSOR,
    CompilerSymbol,
    SourceFile,
    is_unresolved,
)
from asterism.structure.typescript.tree import WRAPPING, SyntaxKind, Tree
from asterism.types.structure import Edge, Known, SymbolPlace

CALL_KINDS = frozenset(
    {
        SyntaxKind.call,
        SyntaxKind.new,
        SyntaxKind.tagged_template,
        SyntaxKind.decorator,
        SyntaxKind.jsx_opening,
        SyntaxKind.jsx_self_closing,
    }
)
_ACCESS = frozenset({SyntaxKind.property_access, SyntaxKind.element_access})
_IMPORTING = frozenset(
    {
        SyntaxKind.import_specifier,
        SyntaxKind.import_clause,
        SyntaxKind.namespace_import,
        SyntaxKind.import_equals,
        SyntaxKind.export_specifier,
        SyntaxKind.export_assignment,
        SyntaxKind.namespace_export,
        SyntaxKind.namespace_export_declaration,
    }
)
_DECLARING = frozenset(
    {
        SyntaxKind.variable_declaration,
        SyntaxKind.function_declaration,
        SyntaxKind.function_expression,
        SyntaxKind.class_declaration,
        SyntaxKind.class_expression,
        SyntaxKind.interface_declaration,
        SyntaxKind.type_alias,
        SyntaxKind.enum_declaration,
        SyntaxKind.module_declaration,
        SyntaxKind.property_declaration,
        SyntaxKind.property_signature,
        SyntaxKind.method_declaration,
        SyntaxKind.method_signature,
        SyntaxKind.get_accessor,
        SyntaxKind.set_accessor,
        SyntaxKind.parameter,
        SyntaxKind.enum_member,
        SyntaxKind.type_parameter,
    }
)


class Use(Enum):
    """What a name does where it stands."""

    declares = auto()
    imports = auto()
    """An import, an export or a re-export."""
    calls = auto()
    """Also `new`, a tagged template, a decorator and a component in JSX."""
    extends = auto()
    """Named in a heritage clause, as the class or interface itself."""
    mentions = auto()


class Heritage(NamedTuple):
    """One class or interface that a declaration builds on."""

    name: int
    """The node of the name."""
    implements: bool
    is_argument: bool = False
    """Given to a function that makes the base, as in `extends Mixed(Base)`."""


def use_of(file: SourceFile, node: int) -> Use:
    """What a name does."""
    tree = file.tree
    above = tree.parent(node)
    if tree.kind(above) in _IMPORTING:
        return Use.imports
    if tree.kind(above) in _DECLARING and file.name_of(above) == node:
        return Use.declares
    inner = node
    while tree.kind(above) in _ACCESS and tree.last_child(above) == inner:
        inner, above = above, tree.parent(above)
    if tree.kind(above) == SyntaxKind.binary and _declares_by_assignment(tree, above, inner):
        return Use.declares
    while tree.kind(above) in WRAPPING:
        inner, above = above, tree.parent(above)
    if tree.kind(above) in CALL_KINDS and tree.first_child(above) == inner:
        return Use.calls
    while tree.kind(above) == SyntaxKind.call:
        # `extends Mixed(Base)` builds on the base too.
        inner, above = above, tree.parent(above)
    if tree.kind(above) == SyntaxKind.expression_with_type_arguments:
        is_itself = tree.first_child(above) == inner
        if is_itself and tree.kind(tree.parent(above)) == SyntaxKind.heritage_clause:
            return Use.extends
    return Use.mentions


def _declares_by_assignment(tree: Tree, assignment: int, target: int) -> bool:
    """Whether `exports.name = …` or the like stands there; only JavaScript declares so."""
    if not tree.path.endswith((".js", ".jsx", ".mjs", ".cjs")):
        return False
    if tree.first_child(assignment) != target or tree.kind(target) not in _ACCESS:
        return False
    written = tree.text(target)
    return written.startswith(("exports.", "module.exports")) or ".prototype." in written


def callee_of(tree: Tree, call: int) -> int | None:
    """The node of the name that is called; None for a call of something nameless."""
    called = tree.first_child(call)
    if called is None:
        return None
    called = tree.unwrapped(called)
    if tree.kind(call) == SyntaxKind.decorator and tree.kind(called) == SyntaxKind.call:
        # `@Injectable()`: the call inside is met by itself.
        return None
    if tree.kind(called) in _ACCESS:
        name = tree.last_child(called)
        # `table[key]()` names nothing; `table["key"]()` does.
        is_name = name is not None and tree.kind(name) in (
            SyntaxKind.identifier,
            SyntaxKind.private_identifier,
            SyntaxKind.string_literal,
        )
        if tree.kind(called) == SyntaxKind.element_access:
            is_name = name is not None and tree.kind(name) == SyntaxKind.string_literal
        return name if is_name else None
    if tree.kind(called) != SyntaxKind.identifier:
        return None
    is_jsx = tree.kind(call) in (SyntaxKind.jsx_opening, SyntaxKind.jsx_self_closing)
    # `<div>` is an element of the page, `<Page>` a component.
    return None if is_jsx and tree.text(called)[:1].islower() else called


def accessed_names(tree: Tree, inside: int) -> Iterator[int]:
    """The names read or written as `object.name` below a node: each may run an accessor."""
    for node in tree.below(inside):
        if tree.kind(node) == SyntaxKind.property_access:
            name = tree.last_child(node)
            if name is not None:
                yield name


def heritage_of(tree: Tree, declaration: int) -> list[Heritage]:
    """What a class or an interface says it extends and implements, in order."""
    found = []
    for clause in tree.children(declaration):
        if tree.kind(clause) != SyntaxKind.heritage_clause:
            continue
        implements = tree.text(clause).startswith("implements")
        for base in tree.children(clause):
            expression = tree.first_child(base)
            if expression is not None:
                found += _bases(tree, tree.unwrapped(expression), implements)
    return found


def _bases(tree: Tree, expression: int, implements: bool) -> list[Heritage]:
    if tree.kind(expression) == SyntaxKind.identifier:
        return [Heritage(expression, implements)]
    if tree.kind(expression) in _ACCESS:
        name = tree.last_child(expression)
        return [Heritage(name, implements)] if name is not None else []
    inner = [node for node in tree.below(expression) if tree.kind(node) == SyntaxKind.identifier]
    return [Heritage(node, implements, is_argument=True) for node in inner]


# What a class runs when it is made: its fields and its constructor, not its methods.
_MADE_WITH = frozenset({"property", "constructor"})


class Calls(NamedTuple):
    """What a symbol calls."""

    edges: tuple[Edge, ...]
    given: tuple[str, ...]
    """Parameters that it calls: whatever its own callers pass there."""


def calls_of(
    view: CompilerView, file: SourceFile, declarations: Sequence[int], owners: AbstractSet[int]
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


def _is_parameter(symbol: CompilerSymbol) -> bool:
    return bool(symbol.declarations) and split(symbol.declarations[0])[1] == SyntaxKind.parameter


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
    view: CompilerView, file: SourceFile, name: int, symbol: CompilerSymbol | None
) -> tuple[SymbolPlace, Known] | None:
    """What a called name means; None for parameters and locals."""
    if symbol is None:
        return _through_import(view, file, name)
    place = view.places.of(symbol)
    if place is None or view.places.is_local(symbol):
        return None
    return place, Known.by_name if is_unresolved(symbol) else Known.resolved


def _through_import(
    view: CompilerView, file: SourceFile, name: int
) -> tuple[SymbolPlace, Known] | None:
    """`jwt.verify` without a declaration of `jwt`: the import still names its package."""
    tree = file.tree
    access = tree.parent(name)
    if tree.kind(access) != SyntaxKind.property_access or tree.last_child(access) != name:
        return None
    first = access
    while tree.kind(first) == SyntaxKind.property_access:
        inner = tree.first_child(first)
        if inner is None:
            return None
        first = tree.unwrapped(inner)
    if tree.kind(first) != SyntaxKind.identifier:
        return None
    symbol = view.session.symbols(view.project, [tree.handle(first)])[0]
    if symbol is None or not is_unresolved(symbol):
        return None
    place = view.places.of(symbol)
    if place is None:
        return None
    return place._replace(name=one_line(tree.text(access))), Known.by_name
