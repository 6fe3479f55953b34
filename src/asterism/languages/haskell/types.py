"""Haskell's types and classes: data, constructors, fields, families, instances."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder, last_row
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.rules import child_of
from asterism.analysis.syntax.text import clean_comment, fold

if TYPE_CHECKING:
    from tree_sitter import Node

# An instance is named by its head; a longer one says no more than its start.
_NAME_LIMIT = 100

_MARK = re.compile(r"^\s*--+(?: ?[|^])? ?")
_ABOVE = ("-- |", "{-|", "{- |")
_BEHIND = ("-- ^", "{-^", "{- ^")


# What a note behind a constructor may stand outside of, and how deep that is.
_LISTED = frozenset(
    {"data_constructor", "gadt_constructor", "data_constructors", "gadt_constructors"}
)
_LISTS = 3


def silence(builder: Builder, node: Node | None) -> None:
    """Type variables belong to their own signature and are uses of nothing."""
    pending = [node] if node is not None else []
    while pending:
        here = pending.pop()
        if here.type == "variable":
            builder.defined.add(here.start_byte)
        else:
            pending.extend(here.named_children)


def _where(node: Node) -> Node | None:
    return next((child for child in node.children if child.type == "where"), None)


def _equals(node: Node) -> Node | None:
    return next((child for child in node.children if child.type in ("=", "where")), None)


def _name(node: Node) -> Node | None:
    """The name in the head of a declaration: before its parameters, or between two of them."""
    head = node
    while (name := head.child_by_field_name("name")) is None:
        inner = child_of("infix", "parens")(head)
        if inner is None:
            return head.child_by_field_name("operator") if head != node else None
        head = inner
    return name


def _head(builder: Builder, node: Node) -> str:
    """`Show (Maybe a)`: a class or family with what it is applied to."""
    name, patterns = node.child_by_field_name("name"), node.child_by_field_name("patterns")
    if name is None:
        infix = child_of("infix")(node)
        return fold(builder.text(infix), _NAME_LIMIT) if infix is not None else ""
    end = patterns.end_byte if patterns is not None else name.end_byte
    text = builder.source[name.start_byte : end].decode("utf-8", "replace")
    return fold(text, _NAME_LIMIT)


def data(builder: Builder, node: Node) -> bool:
    """`data T a = …`, `newtype T = …`, and instances of data families."""
    name, patterns = _name(node), node.child_by_field_name("patterns")
    if name is None or name.is_missing:
        return True
    is_instance = patterns is not None and patterns.type == "type_patterns"
    opener = _equals(node)
    draft = builder.define(
        node,
        "instance" if is_instance else "type",
        _head(builder, node) if is_instance else _plain(builder, name),
        name_node=None if is_instance else name,
        level=Level.TYPE,
        signature_end=opener.start_byte if opener is not None else None,
    )
    _take_note_below(builder, node, draft)
    silence(builder, node)
    return True


def _take_note_below(builder: Builder, node: Node, draft: Draft) -> None:
    """`-- ^ x` below the last constructor is inside the type, though the grammar ends before it."""
    note = node.next_named_sibling
    if note is None or note.type != "haddock" or not builder.text(note).startswith(_BEHIND):
        return
    while note is not None and note.start_point[0] == draft.end_row + 1:
        draft.end, draft.end_row = note.end_byte, last_row(note)
        following = note.next_named_sibling
        note = following if following is not None and following.type == "comment" else None
    builder.frames[-2].last_end = draft.end


def constructor(builder: Builder, node: Node) -> bool:
    """One constructor: `A Int`, `A { x :: Int }`, `Int :+: Int`, `A :: Int -> T`."""
    inner = node.child_by_field_name("constructor") or node
    name = inner.child_by_field_name("name") or inner.child_by_field_name("operator")
    if name is None and inner.child_by_field_name("names") is not None:
        name = inner.child_by_field_name("names")
    if name is None or name.is_missing:
        return True
    fields = inner.child_by_field_name("fields") or inner.child_by_field_name("field")
    is_record = fields is not None and (fields.type in ("fields", "record"))
    draft = builder.define(
        node,
        "constructor",
        _plain(builder, name),
        name_node=name,
        level=Level.TYPE,
        signature_end=fields.start_byte if is_record and fields is not None else None,
    )
    _nearby_doc(builder, node, draft)
    return True


def record_field(builder: Builder, node: Node) -> bool:
    """`a, b :: Int` in a record: each is a property."""
    owner = builder.owner
    names = node.children_by_field_name("name")
    if owner is None or owner.kind != "constructor":
        return True
    for name in names:
        if name.is_missing or not builder.text(name).strip():
            continue
        draft = builder.define(
            node, "property", builder.text(name), name_node=name, opens=name == names[-1]
        )
        _nearby_doc(builder, node, draft)
    return True


def type_(builder: Builder, node: Node) -> bool:
    """`type S = …`, `type family F a`, `data family D a`."""
    if _define_head(builder, node, "type"):
        silence(builder, node)
    return True


def class_(builder: Builder, node: Node) -> bool:
    """`class Eq a => Ord a where …`."""
    body = node.child_by_field_name("declarations")
    if _define_head(builder, node, "class", body, Level.TYPE):
        _silence_head(builder, node)
    return True


def _define_head(
    builder: Builder, node: Node, kind: str, body: Node | None = None, level: Level = Level.FUNCTION
) -> bool:
    """Define what the head names, its signature ending before `where`; False without a name."""
    name = _name(node)
    if name is None or name.is_missing:
        return False
    where = _where(node)
    builder.define(
        node,
        kind,
        _plain(builder, name),
        name_node=name,
        body=body,
        level=level,
        signature_end=where.start_byte if where is not None else None,
    )
    return True


def instance(builder: Builder, node: Node) -> bool:
    """`instance Show a => Show (Tree a) where …`, `deriving instance …`, `type instance …`."""
    where = _where(node)
    builder.define(
        node,
        "instance",
        _head(builder, node) or fold(builder.text(node), _NAME_LIMIT),
        body=node.child_by_field_name("declarations"),
        level=Level.TYPE,
        signature_end=where.start_byte if where is not None else None,
    )
    if node.type == "instance":
        _silence_head(builder, node)
    else:
        silence(builder, node)
    return True


def _silence_head(builder: Builder, node: Node) -> None:
    for field in ("context", "patterns", "fundeps"):
        silence(builder, node.child_by_field_name(field))
    silence(builder, child_of("infix", "parens")(node))


def _plain(builder: Builder, node: Node) -> str:
    return fold(builder.text(node).strip("`()"), _NAME_LIMIT)


def _nearby_doc(builder: Builder, node: Node, draft: Draft) -> None:
    """Haddock on the line of a constructor or field: `{ -- | x` before it, `-- ^ x` behind it."""
    _release_stray(builder, node, draft)
    if draft.doc is not None:
        return
    before = node.prev_named_sibling
    if before is None and node.parent is not None and node.type == "data_constructor":
        before = node.parent.prev_named_sibling
    for note, prefixes in ((before, _ABOVE), (_note_behind(node), _BEHIND)):
        if note is not None and note.type == "haddock":
            text = builder.text(note)
            if text.startswith(prefixes):
                draft.doc = clean_haddock([text, *_rest_of(builder, note)])
                return


def _note_behind(node: Node) -> Node | None:
    """What follows a constructor or field; behind the last one it stands outside the list."""
    for _ in range(_LISTS):
        following = node.next_named_sibling
        if following is not None or node.parent is None or node.type not in _LISTED:
            return following
        node = node.parent
    return None


def _rest_of(builder: Builder, note: Node) -> Iterator[str]:
    """The lines that go on with an indented note; to the grammar they are other comments."""
    following = note.next_named_sibling
    while following is not None and following.type == "comment":
        if following.start_point[0] != note.end_point[0] + 1:
            return
        yield builder.text(following)
        note, following = following, following.next_named_sibling


def _release_stray(builder: Builder, node: Node, draft: Draft) -> None:
    """The last lines of a `-- ^` note belong to what stands before it, not to what follows."""
    end = builder.source.rfind(b"\n", 0, draft.start)
    line = builder.source[builder.source.rfind(b"\n", 0, max(end, 0)) + 1 : max(end, 0)]
    if draft.first_row < draft.start_row and line.lstrip().startswith(b"-- ^"):
        draft.first_row, draft.start, draft.doc = draft.start_row, node.start_byte, None


def clean_haddock(lines: Iterable[str]) -> str | None:
    """The words of a Haddock comment."""
    text = "\n".join(lines)
    if text.startswith("{-"):
        return clean_comment(text) or None
    return "\n".join(_MARK.sub("", line) for line in text.split("\n")).strip() or None


def foreign(builder: Builder, node: Node) -> bool:
    """`foreign import ccall "sin" c_sin :: Double -> Double`."""
    inner = child_of("signature")(node)
    name = inner.child_by_field_name("name") if inner is not None else None
    if inner is None or name is None:
        return True
    builder.consumed.add(inner.start_byte)
    builder.define(node, "function", builder.text(name), name_node=name)
    silence(builder, inner.child_by_field_name("type"))
    return True
