"""Signatures in TypeScript: as written, with the types filled in that the compiler infers."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from asterism.structure.typescript.places import Types, annotation_of, is_any, is_type, one_line
from asterism.structure.typescript.session import SourceFile
from asterism.structure.typescript.tree import NAME_KINDS, SyntaxKind, Tree
from asterism.types.outline import Item
from asterism.types.structure import Member, TypeFlow

# A value longer than this is read in the source, not in a summary.
LONGEST_VALUE = 80

_FUNCTIONS = frozenset(
    {
        SyntaxKind.function_declaration,
        SyntaxKind.function_expression,
        SyntaxKind.arrow_function,
        SyntaxKind.method_declaration,
        SyntaxKind.method_signature,
        SyntaxKind.constructor,
        SyntaxKind.get_accessor,
        SyntaxKind.set_accessor,
        SyntaxKind.call_signature,
        SyntaxKind.construct_signature,
    }
)
_VALUES = frozenset(
    {
        SyntaxKind.variable_declaration,
        SyntaxKind.property_declaration,
        SyntaxKind.property_signature,
        SyntaxKind.property_assignment,
        SyntaxKind.parameter,
        SyntaxKind.binary,
        SyntaxKind.enum_member,
    }
)
_ARROW = 38
_BEFORE_PARAMETERS_END = frozenset({SyntaxKind.parameter, SyntaxKind.type_parameter, *NAME_KINDS})
_RETURNLESS = frozenset({SyntaxKind.constructor, SyntaxKind.set_accessor})
_BINDS = frozenset({SyntaxKind.identifier, 207, 208})
# Numbers, strings, templates without parts, regular expressions, true, false and null say their
# type by themselves.
_LITERALS = frozenset({8, 9, 10, 13, 14, 100, 105, 111})
_COMMENT = re.compile(
    r"""("(?:\\.|[^"\\])*+(?:"|\Z)|'(?:\\.|[^'\\])*+(?:'|\Z)|`(?:\\.|[^`\\])*+(?:`|\Z))|//[^\n\r]*|/\*.*?\*/""",
    re.DOTALL,
)


class ParameterNodes(NamedTuple):
    """One parameter: its nodes, and the type that the compiler infers where none is written."""

    node: int
    name: int
    annotation: int | None


class SignatureShape(NamedTuple):
    """What a declaration takes and gives, and how it is written with all types."""

    signature: str | None
    types_in: tuple[TypeFlow, ...] = ()
    types_out: tuple[TypeFlow, ...] = ()


def function_in(tree: Tree, declaration: int) -> int | None:
    """The function that a declaration is, or that it names; None for other things."""
    if tree.kind(declaration) in _FUNCTIONS:
        return declaration
    if tree.kind(declaration) in _VALUES:
        last = tree.last_child(declaration)
        if last is not None and tree.kind(tree.unwrapped(last)) in _FUNCTIONS:
            return tree.unwrapped(last)
    return None


def is_value(tree: Tree, declaration: int) -> bool:
    """Whether a declaration is a variable, a property or the like."""
    return tree.kind(declaration) in _VALUES or tree.kind(declaration) == SyntaxKind.binding_element


def function_shape(
    file: SourceFile, declaration: int, function: int, types: Types
) -> SignatureShape:
    """What a function takes and returns; types that are not written are asked for."""
    tree = file.tree
    parameters = list(_parameters(tree, function))
    bare = [found for found in parameters if found.annotation is None]
    inferred = dict(
        zip(
            (found.node for found in bare),
            types.at([tree.handle(found.name) for found in bare]),
            strict=True,
        )
    )
    here = tree.handle(function)
    insertions: list[tuple[int, str]] = []
    flows_in = []
    for found in parameters:
        name = one_line(tree.text(found.name))
        if found.annotation is not None:
            written = one_line(tree.text(found.annotation))
            origins = types.written_origins(file, found.annotation)
            flows_in.append(TypeFlow(name, written, origins))
            if tree.start(found.annotation) < tree.start(found.node):
                # JavaScript's types are in the comment above.
                insertions.append((_after_name(tree, found), f": {written}"))
        elif (kind := inferred[found.node]) is not None:
            shown = types.text(kind, here)
            if is_any(kind):
                # Nothing is known: better as written than with a type that says so.
                pass
            elif _is_bare(tree, function):
                insertions += [(tree.start(found.node), "("), (tree.end(found.name), f": {shown})")]
            else:
                insertions.append((_after_name(tree, found), f": {shown}"))
            flows_in.append(TypeFlow(name, shown, types.inferred_origins(kind)))
    flow_out = _returned(file, function, types, insertions)
    signature = _written(tree, declaration, function, insertions)
    if flow_out is not None:
        # What an arrow leads to is said by now.
        signature = signature.removesuffix("=>").rstrip()
    return SignatureShape(signature, tuple(flows_in), (flow_out,) if flow_out else ())


def _returned(
    file: SourceFile, function: int, types: Types, insertions: list[tuple[int, str]]
) -> TypeFlow | None:
    tree = file.tree
    if tree.kind(function) in _RETURNLESS:
        return None
    annotation = annotation_of(tree, function)
    if annotation is not None:
        origins = types.written_origins(file, annotation)
        written = one_line(tree.text(annotation))
        if tree.start(annotation) < tree.start(function):
            insertions.append((_parameters_end(tree, function), f": {written}"))
        return TypeFlow(None, written, origins)
    kind = types.returned(tree.handle(function))
    if kind is None or is_any(kind):
        return None
    shown = types.text(kind, tree.handle(function))
    insertions.append((_parameters_end(tree, function), f": {shown}"))
    return TypeFlow(None, shown, types.inferred_origins(kind))


def value_type(
    file: SourceFile, declaration: int, types: Types
) -> tuple[str | None, tuple[TypeFlow, ...]]:
    """The type of a variable or property, and where that is declared."""
    tree = file.tree
    annotation = annotation_of(tree, declaration)
    if annotation is not None:
        written = one_line(tree.text(annotation))
        origins = types.written_origins(file, annotation)
        return written, (TypeFlow(None, written, origins),) if origins else ()
    name = file.name_of(declaration)
    kind = types.at([tree.handle(declaration if name is None else name)])[0]
    if kind is None or is_any(kind):
        return None, ()
    kind = types.widened(kind)
    shown = types.text(kind, tree.handle(declaration))
    origins = types.inferred_origins(kind)
    return shown, (TypeFlow(None, shown, origins),) if origins else ()


def value_of(tree: Tree, declaration: int) -> str | None:
    """What a constant is set to, as written, where that is short."""
    value = initializer_of(tree, declaration)
    if value is None:
        return None
    written = tree.text(value)
    return written if len(written) <= LONGEST_VALUE and "\n" not in written else None


def initializer_of(tree: Tree, declaration: int) -> int | None:
    """The node of the value that a declaration gives."""
    if tree.kind(declaration) not in _VALUES:
        return None
    children = list(tree.children(declaration))
    last = children[-1] if len(children) > 1 else None
    if last is None or is_type(tree.kind(last)):
        return None
    # What follows the name, a modifier or a question mark aside, is the value.
    before = tree.source.units[: tree.start(last)].rstrip()
    return last if before.endswith(("=", ":")) else None


def member_signature(file: SourceFile, declaration: int, written: str, types: Types) -> str:
    """A member's signature, with the type it has where none is written."""
    tree = file.tree
    function = function_in(tree, declaration)
    if function is not None:
        return function_shape(file, declaration, function, types).signature or written
    if not is_value(tree, declaration) or tree.kind(declaration) == SyntaxKind.enum_member:
        return written
    value = initializer_of(tree, declaration)
    name = file.name_of(declaration)
    is_plain = value is None or tree.kind(tree.unwrapped(value)) in _LITERALS
    if annotation_of(tree, declaration) is not None or is_plain or name is None:
        return written
    kind = types.at([tree.handle(name)])[0]
    if kind is None or is_any(kind):
        return written
    insertion = (tree.end(name), f": {types.text(kind, tree.handle(declaration))}")
    return _cleaned(tree, _beginning(tree, declaration), tree.start(value or name), [insertion])


def _parameters(tree: Tree, function: int) -> Iterator[ParameterNodes]:
    for node in tree.children(function):
        if tree.kind(node) != SyntaxKind.parameter:
            continue
        names = [child for child in tree.children(node) if tree.kind(child) in _BINDS]
        if names:
            yield ParameterNodes(node, names[0], annotation_of(tree, node))


def _after_name(tree: Tree, parameter: ParameterNodes) -> int:
    end = tree.end(parameter.name)
    return end + 1 if tree.source.units[end : end + 1] == "?" else end


def _parameters_end(tree: Tree, function: int) -> int:
    """The unit after the closing parenthesis of the parameters, or after a bare parameter."""
    end = tree.start(function)
    for child in tree.children(function):
        if tree.kind(child) == _ARROW:
            break
        if tree.kind(child) in _BEFORE_PARAMETERS_END:
            end = tree.end(child)
    if _is_bare(tree, function):
        return end
    close = tree.source.units.find(")", end)
    return close + 1 if close >= 0 else end


def _is_bare(tree: Tree, function: int) -> bool:
    """Whether a function is written as `x => …`, without parentheses."""
    if tree.kind(function) != SyntaxKind.arrow_function:
        return False
    parameters = [n for n in tree.children(function) if tree.kind(n) == SyntaxKind.parameter]
    if len(parameters) != 1:
        return False
    before = tree.source.units[tree.start(function) : tree.start(parameters[0])]
    return "(" not in before


def _written(tree: Tree, declaration: int, function: int, insertions: list[tuple[int, str]]) -> str:
    """The head of a function, its types put in."""
    body = tree.last_child(function)
    has_body = body is not None and tree.kind(body) == SyntaxKind.block
    if tree.kind(function) == SyntaxKind.arrow_function:
        has_body = body is not None
    end = tree.start(body) if has_body and body is not None else tree.end(function)
    return _cleaned(tree, _beginning(tree, declaration), end, insertions)


def _beginning(tree: Tree, declaration: int) -> int:
    """Where a declaration begins as one reads it: with `export const`, without decorators."""
    node = declaration
    if tree.kind(node) == SyntaxKind.variable_declaration:
        above = tree.parent(node)
        if sum(1 for _ in tree.children(above)) == 1:
            node = tree.parent(above)
    start = tree.start(node)
    for child in tree.children(node):
        if tree.kind(child) != SyntaxKind.decorator:
            break
        start = tree.after(child)
    return start


def _cleaned(tree: Tree, start: int, end: int, insertions: list[tuple[int, str]]) -> str:
    units, pieces, at = tree.source, [], start
    for place, text in sorted(insertions, key=lambda insertion: insertion[0]):
        pieces += [units.text(at, place), text]
        at = place
    pieces.append(units.text(at, end))
    text = _COMMENT.sub(lambda found: found.group(1) or " ", "".join(pieces))
    return one_line(text).rstrip("{;,= ")


# Members whose missing types are asked for; those of a class of hundreds are given as written.
MOST_INFERRED = 60


def members_of(
    declared: Sequence[tuple[SourceFile, int]], own_path: str, types: Types
) -> tuple[Member, ...]:
    """The members of all of a symbol's declarations, those of its own file first."""
    found: list[Member] = []
    places = {(file.path, index): file for file, index in declared}
    for (path, index), file in sorted(
        places.items(), key=lambda place: (place[0][0] != own_path, place[0])
    ):
        for child in _children(file, file.item(index)):
            item = file.item(child)
            signature = item.signature
            if len(found) < MOST_INFERRED:
                node = file.declaration_of(file.node_of(item))
                signature = member_signature(file, node, signature, types)
            line = 1 + file.tree.source.decoded.count(b"\n", 0, item.name_offset)
            elsewhere = None if path == own_path else path
            found.append(Member(item.name, item.kind, signature, line, elsewhere))
    return tuple(found)


def _children(file: SourceFile, item: Item) -> Iterator[int]:
    """The symbols directly below one; properties that a constructor declares come after it."""
    for child in item.children:
        inner = file.item(child)
        if not inner.is_symbol:
            continue
        yield child
        if inner.kind == "constructor":
            yield from (index for index in inner.children if file.item(index).kind == "property")
