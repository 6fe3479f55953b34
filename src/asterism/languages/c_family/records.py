"""Records of C and C++: structs, unions, classes, enums, and blocks the grammar misread as code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.rules import children_of, value_cut
from asterism.analysis.syntax.text import decorator_names
from asterism.languages.c_family.declarators import attributes_of, plain, scope_of

if TYPE_CHECKING:
    from tree_sitter import Node

ACCESS = frozenset({"public", "private", "protected"})

RECORDS = {
    "struct_specifier": "struct",
    "union_specifier": "union",
    "class_specifier": "class",
    "enum_specifier": "enum",
}

# The nameless are named in brackets, as compilers print them.
NAMELESS = "(anonymous"
ANONYMOUS = NAMELESS + " {})"

# A block whose head the grammar misread, as it does where a macro stands in it or where a C++
# header is read as C: `class EXPORT Name : Base {`, `BEGIN_MACRO namespace name {`.
_BLOCK_HEAD = re.compile(
    rb"\b(?P<word>namespace|class|struct|union)\s+"
    rb"(?:[A-Za-z_]\w*(?:\s*\([^()]*\))?\s+)*?"
    rb"(?P<name>[A-Za-z_][\w:]*)(?:\s*<[^{}]*>)?(?:\s+final)?\s*(?::[^:{][^{]*)?$"
)
_BLOCK_HEAD_LIMIT = 1000


def record(builder: Builder, node: Node) -> bool:
    """`struct`, `union`, `class`, `enum`: a symbol where it has a body or is declared alone."""
    if node.start_byte not in builder.consumed:
        define_record(builder, node, node)
    elif (name := node.child_by_field_name("name")) is not None:
        _reopen(builder, node, name)
    return True


def define_record(builder: Builder, outer: Node, node: Node, opens: bool = True) -> Draft | None:
    """A record with its members; `outer` is the template or typedef around it, or itself."""
    word = RECORDS[node.type]
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if body is None and (builder.level is Level.FUNCTION or not ends_there(builder, node)):
        return None
    if name is None or name.is_missing:
        if word != "enum":
            # Members of an anonymous struct or union are members of what it stands in.
            return None
        return builder.define(
            outer,
            word,
            ANONYMOUS.format(word),
            body=body,
            level=Level.TYPE,
            modifiers=access(builder),
        )
    scope: list[str] = []
    while name.type == "qualified_identifier":
        scope.extend(scope_of(builder, name))
        inner = name.child_by_field_name("name")
        if inner is None:
            return None
        name = inner
    modifiers = [*access(builder), *("final" for _ in children_of(node, "virtual_specifier"))]
    draft = builder.define(
        outer,
        word,
        plain(builder, name),
        name_node=name,
        body=body,
        level=Level.TYPE,
        owner=scope,
        modifiers=modifiers,
        decorators=attributes_of(node),
        opens=opens,
    )
    return name_attributes(builder, draft, attributes_of(node))


def enumerator(builder: Builder, node: Node) -> bool:
    """A member of an enum."""
    name = node.child_by_field_name("name")
    if name is not None and builder.level is Level.TYPE:
        end = value_cut(node, node.child_by_field_name("value"))
        draft = builder.define(
            node, "enum_member", builder.text(name), name_node=name, signature_end=end
        )
        draft.signature = draft.signature.removesuffix(",")
    return True


def access(builder: Builder) -> tuple[str, ...]:
    """The access specifier that holds here, if one was written; see `access_specifier` in C++."""
    owner = builder.owner
    if owner is None or builder.level is not Level.TYPE or not owner.section:
        return ()
    return (owner.section,)


def define_tagged(builder: Builder, outer: Node, record: Node) -> None:
    """A record that is named itself and declares more: opened when the walk reaches its body."""
    define_record(builder, outer, record, opens=False)
    builder.consumed.add(record.start_byte)


def _reopen(builder: Builder, node: Node, name: Node) -> None:
    while name.type == "qualified_identifier" and name.child_by_field_name("name") is not None:
        name = name.child_by_field_name("name") or name
    for draft in reversed(builder.drafts):
        if draft.name_offset == name.start_byte:
            builder.extend(draft, node)
            return


def misread_block(builder: Builder, outer: Node, body: Node) -> None:
    """Read the head of a block that the grammar took for a function's."""
    start = max(outer.start_byte, body.start_byte - _BLOCK_HEAD_LIMIT)
    head = _BLOCK_HEAD.search(builder.source, start, body.start_byte)
    if head is None:
        return
    word = head["word"].decode()
    *scope, name = head["name"].decode().split("::")
    draft = builder.define(
        outer,
        word,
        name,
        body=body,
        level=Level.MODULE if word == "namespace" else Level.TYPE,
        owner=scope,
        modifiers=access(builder),
    )
    draft.name_offset = head.start("name")
    builder.defined.update((head.start("word"), head.start("name")))


def ends_there(builder: Builder, node: Node) -> bool:
    """Whether a `;` follows: `struct name;` declares, `struct name *x;` uses."""
    return builder.source[node.end_byte : node.end_byte + 40].lstrip()[:1] == b";"


def name_attributes(builder: Builder, draft: Draft, lists: list[Node]) -> Draft:
    """Every attribute of `[[a, b]]` by name, where the engine names a list by its first."""
    if lists:
        inner = [part for one in lists for part in children_of(one, "attribute")]
        draft.decorators[:] = decorator_names(builder.source, inner)
    return draft
