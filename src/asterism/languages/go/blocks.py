"""Go's declaration blocks and imports: who owns the lines `const (` and `)`, what a path binds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node

SPECS = ("const_spec", "var_spec", "type_spec", "type_alias", "import_spec")
SPEC_LISTS = ("var_spec_list", "import_spec_list")

_MAJOR_VERSION = re.compile(r"v\d+$")
_NOT_IDENTIFIER = re.compile(r"\W")


def package(builder: Builder, node: Node) -> bool:
    """`package name`, which uses no name."""
    builder.root_item(node, "package")
    return False


def import_spec(builder: Builder, node: Node) -> bool:
    """One imported package, under the name its path implies or the one given."""
    path = builder.field_text(node, "path") or '""'
    module = path[1:-1]
    if builder.level is Level.MODULE:
        draft = builder.root_item(node, "import", f"import:{module}")
        cover(builder, node, draft)
    alias = builder.field_text(node, "name")
    names = {
        "_": [],
        ".": [ImportedName("*")],
        None: [ImportedName("*", _package_name(module))],
    }.get(alias, [ImportedName("*", alias)])
    builder.add_import(node, module, names, side_effect=alias == "_")
    # A line of a block is no statement by itself.
    builder.imports[-1] = builder.imports[-1]._replace(text=f"import {builder.text(node)}")
    return False


def _package_name(path: str) -> str:
    """What an import path binds, by the rule of goimports: the files themselves are not read."""
    *parents, base = path.split("/")
    if parents and _MAJOR_VERSION.match(base):
        base = parents[-1]
    return _NOT_IDENTIFIER.split(base.removeprefix("go-"))[0] or base


def cover(builder: Builder, node: Node, draft: Draft) -> None:
    """Give the lines `const (` and `)` to the first and last of the block, not to nobody."""
    block = node.parent
    if block is None or draft.depth:
        return
    declaration = block.parent if block.type in SPEC_LISTS else block
    opener = next((child for child in block.children if child.type == "("), None)
    closer = block.children[-1]
    if declaration is None or opener is None or closer.type != ")":
        return
    source = builder.source
    if not source[opener.end_byte : draft.start].strip():
        draft.start, draft.first_row = declaration.start_byte, declaration.start_point[0]
        _cover_comment(builder, draft)
    last_line_end = source.find(b"\n", draft.end)
    rest = source[last_line_end if last_line_end >= 0 else draft.end : closer.start_byte]
    specs = [child for child in block.named_children if child.type in SPECS]
    if node == specs[-1] and not rest.strip():
        draft.end, draft.end_row = closer.end_byte, closer.end_point[0]


def _cover_comment(builder: Builder, draft: Draft) -> None:
    """A comment above the block goes where the block's first line goes; it documents the group."""
    floor = builder.frames[0].last_end
    for comment in reversed(builder.comments):
        if comment.start < floor or comment.end_row < draft.first_row - 1:
            return
        if draft.kind == "import":
            return
        draft.start, draft.first_row = comment.start, comment.start_row
