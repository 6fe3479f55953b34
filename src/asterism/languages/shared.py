"""Names for functions without one: by the call they are passed to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.rules import marks
from asterism.analysis.syntax.text import fold

if TYPE_CHECKING:
    from tree_sitter import Node


def declare_parameter(
    builder: Builder, node: Node, name: Node | None, *, is_property: bool
) -> bool:
    """A property where the language makes a parameter one, else a local."""
    if name is not None and is_property:
        modifiers, decorators = marks(builder, node)
        builder.define(
            node,
            "property",
            builder.text(name),
            name_node=name,
            modifiers=modifiers,
            decorators=decorators,
        )
    else:
        builder.bind(name)
    return True


# Items that only group declarations: their contents are still at the top.
_GROUPS = frozenset({"namespace", "extension"})


def declare_exports(exported: Callable[[Draft, Builder], bool]) -> Callable[[Builder], None]:
    """A finish that lists the exported declarations at the top of a file or namespace."""

    def finish(builder: Builder) -> None:
        for draft in builder.drafts:
            if draft.is_root or draft.kind in _GROUPS or not exported(draft, builder):
                continue
            if _at_top(builder, draft):
                builder.declare_export(draft.name, draft)
        builder.exports.sort(key=lambda export: export.line)

    return finish


def owner_kind(builder: Builder, draft: Draft) -> str | None:
    """The kind of the item around a draft, or None at the top."""
    return None if draft.parent is None else builder.drafts[draft.parent].kind


def is_local(builder: Builder, draft: Draft) -> bool:
    """Whether a draft stands inside a function or a value, where no other file can reach it."""
    while draft.parent is not None:
        draft = builder.drafts[draft.parent]
        if draft.is_root or draft.level is Level.FUNCTION:
            return True
    return False


def _at_top(builder: Builder, draft: Draft) -> bool:
    while draft.parent is not None:
        draft = builder.drafts[draft.parent]
        if draft.kind not in _GROUPS:
            return False
    return True


# A callback's name quotes the call it is passed to; a long chain says no more than its last link.
NAME_LIMIT = 60


def callback_name(receiver: str, callee: str, title: str = "") -> str:
    """`suite.test("parser") callback`: what is called on what, and the string that comes first."""
    head = fold(f"{receiver}.{callee}" if receiver else callee)
    if len(head) > NAME_LIMIT:
        head = f"….{callee}" if receiver else fold(callee, NAME_LIMIT)
    return f"{head}({fold(title, NAME_LIMIT)}) callback"


def spans_lines(body: Node) -> bool:
    """Whether a function has statements on lines of their own."""
    return body.end_point[0] > body.start_point[0]
