"""What a name is there for in TypeScript: to declare, to import, to call, to extend or else."""

from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from asterism.structure.typescript.files import SourceFile
from asterism.structure.typescript.tree import WRAPPING, Kind, Tree

CALL_KINDS = frozenset(
    {
        Kind.call,
        Kind.new,
        Kind.tagged_template,
        Kind.decorator,
        Kind.jsx_opening,
        Kind.jsx_self_closing,
    }
)
_ACCESS = frozenset({Kind.property_access, Kind.element_access})
_IMPORTING = frozenset(
    {
        Kind.import_specifier,
        Kind.import_clause,
        Kind.namespace_import,
        Kind.import_equals,
        Kind.export_specifier,
        Kind.export_assignment,
        Kind.namespace_export,
        Kind.namespace_export_declaration,
    }
)
_DECLARING = frozenset(
    {
        Kind.variable_declaration,
        Kind.function_declaration,
        Kind.function_expression,
        Kind.class_declaration,
        Kind.class_expression,
        Kind.interface_declaration,
        Kind.type_alias,
        Kind.enum_declaration,
        Kind.module_declaration,
        Kind.property_declaration,
        Kind.property_signature,
        Kind.method_declaration,
        Kind.method_signature,
        Kind.get_accessor,
        Kind.set_accessor,
        Kind.parameter,
        Kind.enum_member,
        Kind.type_parameter,
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
    if tree.kind(above) == Kind.binary and _declares_by_assignment(tree, above, inner):
        return Use.declares
    while tree.kind(above) in WRAPPING:
        inner, above = above, tree.parent(above)
    if tree.kind(above) in CALL_KINDS and tree.first_child(above) == inner:
        return Use.calls
    while tree.kind(above) == Kind.call:
        # `extends Mixed(Base)` builds on the base too.
        inner, above = above, tree.parent(above)
    if tree.kind(above) == Kind.expression_with_type_arguments:
        is_itself = tree.first_child(above) == inner
        if is_itself and tree.kind(tree.parent(above)) == Kind.heritage_clause:
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
    if tree.kind(call) == Kind.decorator and tree.kind(called) == Kind.call:
        # `@Injectable()`: the call inside is met by itself.
        return None
    if tree.kind(called) in _ACCESS:
        name = tree.last_child(called)
        # `table[key]()` names nothing; `table["key"]()` does.
        is_name = name is not None and tree.kind(name) in (
            Kind.identifier,
            Kind.private_identifier,
            Kind.string_literal,
        )
        if tree.kind(called) == Kind.element_access:
            is_name = name is not None and tree.kind(name) == Kind.string_literal
        return name if is_name else None
    if tree.kind(called) != Kind.identifier:
        return None
    is_jsx = tree.kind(call) in (Kind.jsx_opening, Kind.jsx_self_closing)
    # `<div>` is an element of the page, `<Page>` a component of somebody's.
    return None if is_jsx and tree.text(called)[:1].islower() else called


def accessed_names(tree: Tree, inside: int) -> Iterator[int]:
    """The names read or written as `object.name` below a node: each may run an accessor."""
    for node in tree.below(inside):
        if tree.kind(node) == Kind.property_access:
            name = tree.last_child(node)
            if name is not None:
                yield name


def heritage_of(tree: Tree, declaration: int) -> list[Heritage]:
    """What a class or an interface says it extends and implements, in order."""
    found = []
    for clause in tree.children(declaration):
        if tree.kind(clause) != Kind.heritage_clause:
            continue
        implements = tree.text(clause).startswith("implements")
        for base in tree.children(clause):
            expression = tree.first_child(base)
            if expression is not None:
                found += _bases(tree, tree.unwrapped(expression), implements)
    return found


def _bases(tree: Tree, expression: int, implements: bool) -> list[Heritage]:
    if tree.kind(expression) == Kind.identifier:
        return [Heritage(expression, implements)]
    if tree.kind(expression) in _ACCESS:
        name = tree.last_child(expression)
        return [Heritage(name, implements)] if name is not None else []
    inner = [node for node in tree.below(expression) if tree.kind(node) == Kind.identifier]
    return [Heritage(node, implements, is_argument=True) for node in inner]
