"""Go's literals: functions as values, named where they can be, and the keys of composite ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.languages.shared import callback_name, spans_lines
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
    """Give the lines `const (` and `)` to the first and last constant of the block."""
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


STRINGS = ("interpreted_string_literal", "raw_string_literal")

# Types whose literals have fields for keys; a named one may be a map, which the file cannot say.
_KEYED_TYPES = frozenset({"type_identifier", "qualified_type", "generic_type", "struct_type"})

# Where the type of what a literal holds is written; its elements may leave their own out.
_ELEMENT_FIELDS = {
    "slice_type": "element",
    "array_type": "element",
    "implicit_length_array_type": "element",
    "map_type": "value",
}

# How many nested literals without a type are looked through; real code nests fewer.
_ELISION_LIMIT = 4


def parameters_in_body(_builder: Builder, node: Node, draft: Draft) -> None:
    """Parameters count in the body alone: in `func f(url *url.URL)` the type is the package's.

    Type parameters count in the signature too, so a generic function's locals begin with it.
    """
    body = node.child_by_field_name("body")
    if body is not None and node.child_by_field_name("type_parameters") is None:
        draft.bound_from = body.start_byte


def keyed_element(builder: Builder, node: Node) -> bool:
    """`Field: value` of a literal: the field belongs to the literal's type."""
    key, value = (child.named_children[:1] for child in (*node.named_children, node, node)[:2])
    if not key or key[0].type != "identifier":
        return True
    shape = _literal_type(builder)
    if shape is not None and shape.type in _KEYED_TYPES:
        builder.member(shape, key[0])
    if value and value[0].type == "func_literal" and is_block(value[0]):
        define_function(builder, node, key[0], value[0])
    return True


def _literal_type(builder: Builder) -> Node | None:
    """The type of the literal around a key, which `[]T{{Key: value}}` writes further out."""
    shape, levels = None, 0
    for around in reversed(builder.ancestors):
        if around.type == "composite_literal":
            shape = around.child_by_field_name("type")
            break
        levels += around.type == "literal_value"
        if levels > _ELISION_LIMIT:
            break
    while shape is not None and levels > 1:
        levels -= 1
        shape = shape.child_by_field_name(_ELEMENT_FIELDS.get(shape.type, ""))
        if shape is not None and shape.type == "pointer_type":
            shape = shape.named_children[0] if shape.named_children else None
    return shape


def function_literal(builder: Builder, node: Node) -> bool:
    """A function given to a call is a symbol where it has lines of its own."""
    arguments = builder.parent
    if node.start_byte in builder.consumed or arguments is None:
        return True
    if arguments.type != "argument_list" or not is_block(node):
        return True
    callee = builder.ancestors[-2].child_by_field_name("function")
    first = arguments.named_children[0]
    title = f'"{builder.text(first)[1:-1]}"' if first.type in STRINGS else ""
    body = node.child_by_field_name("body")
    draft = builder.define(node, "function", _callback_name(builder, callee, title), body=body)
    parameters_in_body(builder, node, draft)
    return True


def _callback_name(builder: Builder, callee: Node | None, title: str) -> str:
    if callee is None:
        return callback_name("", "", title)
    name = callee.child_by_field_name("field")
    receiver = builder.field_text(callee, "operand") if name is not None else None
    return callback_name(receiver or "", builder.text(name or callee), title)


def only_function(values: Node | None) -> Node | None:
    """The function literal that is all there is on the right of an assignment."""
    if values is None or values.named_child_count != 1:
        return None
    value = values.named_children[0]
    return value if value.type == "func_literal" else None


def body_of(builder: Builder, function: Node | None) -> Node | None:
    """The body of a function that a name takes as its value; it is no callback any more."""
    if function is None:
        return None
    builder.consumed.add(function.start_byte)
    return function.child_by_field_name("body")


def is_block(function: Node) -> bool:
    """Whether a function literal has lines of its own."""
    body = function.child_by_field_name("body")
    return body is not None and spans_lines(body)


def define_function(builder: Builder, node: Node, name: Node, function: Node) -> None:
    """A function literal under the name it is given."""
    draft = builder.define(
        node, "function", builder.text(name), name_node=name, body=body_of(builder, function)
    )
    parameters_in_body(builder, function, draft)
