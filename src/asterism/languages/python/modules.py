"""How Python modules meet: imports in every form, and what `__all__` lists."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.rules import children_of
from asterism.analysis.syntax.text import first_named
from asterism.types.outline import Export, Import, ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node


_LITERAL = re.compile(r"([a-zA-Z]*)(\"\"\"|'''|\"|')(.*)\2", re.DOTALL)
_ESCAPE = re.compile(
    r"""\\(?:(?P<octal>[0-7]{1,3})|x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})"""
    r"""|U(?P<U>[0-9a-fA-F]{8})|N\{(?P<name>[^{}]+)\}|(?P<letter>[abfnrtv\\'"\n]))"""
)
_LETTERS = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "\n": "",
}  # fmt: skip


def lone_string(statement: Node | None) -> Node | None:
    """The string literal an expression statement consists of, or None."""
    if statement is None or statement.type != "expression_statement" or statement.child_count != 1:
        return None
    inner = first_named(statement)
    while inner is not None and inner.type == "parenthesized_expression":
        inner = first_named(inner)
    if inner is None or inner.type not in ("string", "concatenated_string"):
        return None
    return inner


def docstring(body: Node) -> str | None:
    """The text of the string a function or class body begins with, as `ast.get_docstring`."""
    first = first_named(body)
    if first is not None and first.type == "comment":
        first = next((child for child in body.named_children if child.type != "comment"), None)
    literal = lone_string(first)
    return None if literal is None else documentation(literal)


def documentation(literal: Node) -> str | None:
    """A string's value with the indentation of its later lines removed; None if it says nothing."""
    value = string_value(literal)
    if value is None:
        return None
    if "\n" not in value:
        return value.strip() or None
    lines = value.expandtabs().split("\n")
    margins = [len(line) - len(line.lstrip()) for line in lines[1:] if line and not line.isspace()]
    margin = min(margins, default=0)
    text = "\n".join([lines[0].lstrip(), *(line[margin:] for line in lines[1:])])
    return text.strip() or None


def string_value(literal: Node) -> str | None:
    """What a literal evaluates to; None for bytes and formatted strings, which are no text."""
    if literal.type == "concatenated_string":
        parts = [string_value(part) for part in literal.named_children if part.type == "string"]
        return None if None in parts else "".join(part for part in parts if part is not None)
    found = _LITERAL.fullmatch((literal.text or b"").decode("utf-8", "replace"))
    if found is None:
        return None
    prefix, text = found[1].lower(), found[3]
    if prefix not in ("", "r", "u"):
        return None
    return text if prefix == "r" or "\\" not in text else _ESCAPE.sub(_unescape, text)


def _unescape(found: re.Match[str]) -> str:
    if found["letter"] is not None:
        return _LETTERS[found["letter"]]
    if found["octal"] is not None:
        return chr(int(found["octal"], 8))
    try:
        if found["name"] is not None:
            return unicodedata.lookup(found["name"])
        return chr(int(found["x"] or found["u"] or found["U"], 16))
    except (KeyError, ValueError):
        # No such character: the literal is broken, and stays as it was written.
        return found[0]


_TYPE_CHECKING = re.compile(r"(?:\w+\.)?TYPE_CHECKING")
_LISTS = frozenset({"list", "tuple", "set", "binary_operator", "parenthesized_expression"})
_STRINGS = frozenset({"string", "concatenated_string"})
_IMPORTERS = (b"importlib.import_module(", b"import_module(", b"__import__(")


def import_statement(builder: Builder, node: Node) -> bool:
    """`import a.b as c, d`: one import per module."""
    kinds = ("dotted_name", "aliased_import")
    pairs = [_name_and_alias(builder, child) for child in children_of(node, *kinds)]
    found = [pair for pair in pairs if pair[0]]
    type_only = _is_type_only(builder, node)
    if builder.at_statement:
        builder.root_item(node, "import", f"import:{', '.join(module for module, _ in found)}")
    for module, alias in found:
        # `import a.b` binds `a`; `import a.b as c` binds the module itself.
        names = [ImportedName("*", alias or module.split(".")[0])]
        builder.add_import(node, module, names, type_only=type_only)
    return False


def from_import(builder: Builder, node: Node) -> bool:
    """`from a import b as c`, in any form."""
    module_node = node.child_by_field_name("module_name")
    module = _dotted(builder, module_node) if module_node is not None else "__future__"
    pairs = [_name_and_alias(builder, child) for child in node.children_by_field_name("name")]
    # In damaged code a name may be missing; a star has no field.
    names = [ImportedName(*pair) for pair in pairs if pair[0]]
    type_only = _is_type_only(builder, node)
    if builder.at_statement:
        builder.root_item(node, "import", f"import:{module}")
    if module:
        builder.add_import(
            node, module, names if pairs else [ImportedName("*")], type_only=type_only
        )
    return False


def call(builder: Builder, node: Node) -> bool:
    """`importlib.import_module("a.b")` with the name written out is an import as well."""
    if builder.source.startswith(_IMPORTERS, node.start_byte):
        arguments = node.child_by_field_name("arguments")
        first = first_named(arguments) if arguments is not None else None
        if first is not None and first.type == "string":
            module = string_value(first)
            if module:
                builder.add_import(node, module, dynamic=True)
    return True


def read_all(builder: Builder, statement: Node, inner: Node) -> None:
    """The strings of `__all__`, assigned, added or appended, wherever the module does it."""
    if not builder.source.startswith(b"__all__", statement.start_byte):
        return
    if builder.level is not Level.MODULE:
        return
    if inner.type == "call":
        function = builder.field_text(inner, "function")
        arguments = inner.child_by_field_name("arguments")
        if function in ("__all__.append", "__all__.extend") and arguments is not None:
            _list_exports(builder, arguments.named_children)
    elif builder.field_text(inner, "left") == "__all__":
        value = inner.child_by_field_name("right")
        _list_exports(builder, [] if value is None else [value])


def _list_exports(builder: Builder, values: list[Node]) -> None:
    """Only names that are written out count: a computed part of the list names nothing."""
    pending = values[::-1]
    while pending:
        value = pending.pop()
        if value.type in _LISTS:
            builder.has_public_list = True
            pending.extend(value.named_children[::-1])
        elif value.type in _STRINGS:
            builder.has_public_list = True
            name = string_value(value)
            if name:
                builder.add_export(name, name, value)


def exported(draft: Draft, builder: Builder) -> bool:
    """In `__all__` where there is one, else a module-level name without leading underscore."""
    if len(draft.path) != 1:
        return False
    if builder.has_public_list:
        return draft.name in builder.public
    return not draft.name.startswith("_")


def finish(builder: Builder) -> None:
    """Say where listed names come from; without a list, the public definitions are the exports."""
    own = {draft.name for draft in builder.drafts if not draft.is_root and len(draft.path) == 1}
    if builder.has_public_list:
        origins = _origins(builder)
        builder.exports[:] = [
            export if export.name in own else _from_origin(export, origins)
            for export in builder.exports
        ]
        return
    seen = set()
    for draft in builder.drafts:
        if not draft.is_root and draft.name not in seen and exported(draft, builder):
            seen.add(draft.name)
            builder.declare_export(draft.name, draft)
    # `from a import x as x` is how a typed package says that it passes the name on.
    builder.exports.extend(
        Export(name.local, name.name, found.start_line, found.module, found.type_only)
        for found in builder.imports
        for name in found.names
        if name.alias == name.name and _is_top(builder, found)
    )


def _origins(builder: Builder) -> dict[str, tuple[str, str]]:
    """The module and original name behind each name the file imports."""
    return {
        name.local: (name.name, found.module)
        for found in builder.imports
        if _is_top(builder, found)
        for name in found.names
    }


def _is_top(builder: Builder, found: Import) -> bool:
    """Whether an import binds names of the module, rather than of a function or class."""
    return found.enclosing is None or builder.drafts[found.enclosing].is_root


def _from_origin(export: Export, origins: dict[str, tuple[str, str]]) -> Export:
    origin = origins.get(export.name)
    return export if origin is None else export._replace(local=origin[0], module=origin[1])


def _is_type_only(builder: Builder, node: Node) -> bool:
    """Whether the import stands under `if TYPE_CHECKING:`, so that it never runs."""
    if builder.at_statement or b"TYPE_CHECKING" not in builder.source:
        return False
    here, parent = node, node.parent
    while parent is not None:
        if parent.type == "if_statement":
            condition = builder.field_text(parent, "condition") or ""
            if _TYPE_CHECKING.fullmatch(condition):
                return parent.child_by_field_name("consequence") == here
        here, parent = parent, parent.parent
    return False


def _name_and_alias(builder: Builder, node: Node) -> tuple[str, str | None]:
    if node.type != "aliased_import":
        return _dotted(builder, node), None
    name = node.child_by_field_name("name")
    alias = builder.field_text(node, "alias")
    return (_dotted(builder, name) if name is not None else "", alias or None)


def _dotted(builder: Builder, node: Node) -> str:
    """A module's name; the grammar allows blanks around its dots."""
    return "".join(builder.text(node).split())
