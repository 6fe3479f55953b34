"""The rules languages are made of: definitions, bindings, wrappers, members, imports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypedDict, Unpack

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Rule
from asterism.analysis.syntax.text import SIGNATURE_LIMIT, decorator_names

if TYPE_CHECKING:
    from tree_sitter import Node

Reader: TypeAlias = "Callable[[Builder, Node], str | None]"
"""Reads a word off a node: a name, a kind. None means the rule does not apply."""

Finder: TypeAlias = "Callable[[Node], Node | None]"


class DefinitionOptions(TypedDict, total=False):
    """How a definition's parts are found. All are optional."""

    name: str | Finder
    """A field or a function; the field `name` if not given."""
    body: str | Finder
    """A field or a function; the field `body` if not given."""
    level: Level
    owner: Callable[[Builder, Node], Sequence[str]]
    where: Callable[[Builder], bool]
    """Whether the node is a symbol where it occurs; if not, its children are walked only."""
    after: Callable[[Builder, Node, Draft], None]
    """Completes the new draft."""


def definition(kind: str | Reader, **options: Unpack[DefinitionOptions]) -> Rule:
    """A node that is a symbol."""
    name, body = options.get("name", "name"), options.get("body", "body")
    level, owner = options.get("level", Level.FUNCTION), options.get("owner")
    where, after = options.get("where"), options.get("after")

    def rule(builder: Builder, node: Node) -> bool:
        if where is not None and not where(builder):
            return True
        word = kind if isinstance(kind, str) else kind(builder, node)
        name_node = field(node, name)
        if word is None or name_node is None or name_node.is_missing:
            return True
        modifiers, decorators = marks(builder, node)
        draft = builder.define(
            node,
            word,
            builder.text(name_node),
            name_node=name_node,
            body=field(node, body),
            level=level,
            owner=owner(builder, node) if owner is not None else (),
            modifiers=modifiers,
            decorators=decorators,
        )
        if after is not None:
            after(builder, node, draft)
        return True

    return rule


def member(kind: str | Reader, **options: Unpack[DefinitionOptions]) -> Rule:
    """A definition that only counts directly inside a class-like body."""
    inside: DefinitionOptions = {"where": lambda builder: builder.is_member, **options}
    return definition(kind, **inside)


def variable(
    kind: str | Reader,
    *,
    name: str | Finder = "name",
    value: str | Finder = "value",
    body: Finder | None = None,
) -> Rule:
    """A variable: a symbol at module level and in types, a local binding inside functions."""

    def rule(builder: Builder, node: Node) -> bool:
        name_node = field(node, name)
        if name_node is None:
            return True
        if builder.level is Level.FUNCTION:
            builder.bind(name_node)
            return True
        word = kind if isinstance(kind, str) else kind(builder, node)
        if word is None:
            return True
        modifiers, decorators = marks(builder, node)
        builder.define(
            node,
            word,
            builder.text(name_node),
            name_node=name_node,
            body=body(node) if body is not None else None,
            modifiers=modifiers,
            decorators=decorators,
            signature_end=value_cut(node, field(node, value)),
        )
        return True

    return rule


def binds(*names: str) -> Rule:
    """A node whose fields bind locals: parameters, loop variables, patterns."""

    def rule(builder: Builder, node: Node) -> bool:
        for name in names:
            builder.bind(node.child_by_field_name(name))
        return True

    return rule


def binds_children(builder: Builder, node: Node) -> bool:
    """A node all of whose identifier children are bindings, as a bare parameter list."""
    identifiers = builder.conventions.identifiers
    for child in node.named_children:
        if child.type in identifiers:
            builder.bind(child)
    return True


def silent(*names: str) -> Rule:
    """A node whose fields look like names but use nothing: keyword arguments, labels, keys."""
    return _noting(names, lambda builder: builder.defined)


def silence(builder: Builder, node: Node) -> None:
    """Take every name in a node as no use of anything: the parts of a package's own name."""
    pending = [node]
    while pending:
        here = pending.pop()
        builder.defined.add(here.start_byte)
        pending.extend(here.named_children)


def never_local(*names: str) -> Rule:
    """A node whose fields cannot mean a local, whatever it is called: types, modules, callees."""
    return _noting(names, lambda builder: builder.free)


def _noting(names: Sequence[str], where: Callable[[Builder], set[int]]) -> Rule:
    def rule(builder: Builder, node: Node) -> bool:
        for name in names:
            child = node.child_by_field_name(name)
            if child is not None:
                where(builder).add(child.start_byte)
        return True

    return rule


def transparent(builder: Builder, _node: Node) -> bool:
    """Grouping node; its children are treated as siblings of the node."""
    if builder.level is not Level.FUNCTION:
        builder.transparent()
    return True


def prefix(builder: Builder, node: Node) -> bool:
    """An attribute before the declaration it belongs to."""
    builder.prefix(node, decorator_names(builder.source, [node]))
    return True


def root(kind: str, named: Reader | None = None) -> Rule:
    """A statement that is a root item of this kind at the top, and nothing elsewhere."""

    def rule(builder: Builder, node: Node) -> bool:
        if builder.at_statement:
            builder.root_item(node, kind, named(builder, node) if named is not None else None)
        return True

    return rule


def skip(_builder: Builder, _node: Node) -> bool:
    """A node that holds nothing to read."""
    return False


def marks(builder: Builder, node: Node) -> tuple[list[str], list[Node]]:
    """Modifiers and decorators that stand among the node's own children."""
    modifiers: list[str] = []
    decorators: list[Node] = []
    conventions = builder.conventions
    for child in node.children:
        kind = child.type
        if kind in conventions.modifiers:
            modifiers.append(builder.text(child))
        elif kind in conventions.decorators:
            decorators.append(child)
        elif kind in conventions.modifier_groups:
            inner, notes = marks(builder, child)
            modifiers.extend(inner)
            decorators.extend(notes)
    return modifiers, decorators


def field(node: Node, how: str | Finder) -> Node | None:
    """A child by field name or by a function of the language."""
    return node.child_by_field_name(how) if isinstance(how, str) else how(node)


def value_cut(node: Node, value: Node | None) -> int | None:
    """Where a declaration's signature ends: before a value too long to quote."""
    if value is None or value.end_byte - node.start_byte <= SIGNATURE_LIMIT // 2:
        return None
    return value.start_byte


def share_comment(draft: Draft, first: Draft | None) -> Draft:
    """Give what stands above `a, b` to both names; returns the first of them."""
    if first is None:
        return draft
    draft.doc, draft.start, draft.first_row = first.doc, first.start, first.first_row
    return first


def child_of(*kinds: str) -> Finder:
    """The first named child of one of these types."""

    def find(node: Node) -> Node | None:
        return next((child for child in node.named_children if child.type in kinds), None)

    return find


def children_of(node: Node, *kinds: str) -> Iterator[Node]:
    """The named children of these types."""
    return (child for child in node.named_children if child.type in kinds)


def by_modifier(*hidden: str) -> Callable[[Draft, Builder], bool]:
    """Exported unless one of these words is a modifier: `private`, `fileprivate`."""
    return lambda draft, _builder: not any(word in hidden for word in draft.modifiers)
