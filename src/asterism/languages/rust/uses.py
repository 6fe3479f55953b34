"""Rust's `use` trees: which names come from which module, which are passed on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.rules import child_of
from asterism.analysis.syntax.text import fold
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node

COMMENTS = ("line_comment", "block_comment")

# A `use` of several crates at once is named by all of them, up to a readable length.
_NAME_LIMIT = 60


def use(builder: Builder, node: Node) -> bool:
    """`use`, in all its forms: one import per module its tree reaches into."""
    argument = node.child_by_field_name("argument")
    if argument is None:
        return False
    public = child_of("visibility_modifier")(node) is not None
    word = "re-export" if public else "import"
    at_top = builder.at_statement
    if at_top:
        builder.root_item(node, word, f"{word}:{_head(builder, argument)}")
    modules: dict[str, list[ImportedName]] = {}
    for module, name in _leaves(builder, argument, ""):
        modules.setdefault(module, []).append(name)
    for module, names in modules.items():
        builder.add_import(node, module, names, reexport=public)
        if public and at_top:
            for name in names:
                local = module.rpartition("::")[2] if name.name == "self" else name.name
                builder.add_export(name.local, local, node, module)
    return False


def _head(builder: Builder, argument: Node) -> str:
    """The path before the braces, the star or the alias."""
    path = argument.child_by_field_name("path")
    if argument.type in ("scoped_use_list", "use_as_clause") and path is not None:
        return builder.text(path)
    if argument.type == "use_wildcard":
        return builder.text(argument).removesuffix("*").removesuffix("::")
    if argument.type == "use_list":
        return fold(", ".join(_head(builder, part) for part in _parts(argument)), _NAME_LIMIT)
    return builder.text(argument)


def _leaves(builder: Builder, node: Node, base: str) -> Iterator[tuple[str, ImportedName]]:
    """Each name a `use` tree brings in, with the module it comes from."""
    kind = node.type
    path = node.child_by_field_name("path")
    if kind == "scoped_use_list":
        inner = _join(base, builder.text(path)) if path is not None else base
        for part in _parts(node.child_by_field_name("list")):
            yield from _leaves(builder, part, inner)
    elif kind == "use_list":
        for part in _parts(node):
            yield from _leaves(builder, part, base)
    elif kind == "use_wildcard":
        text = builder.text(node).removesuffix("*").removesuffix("::")
        yield _join(base, text), ImportedName("*")
    else:
        alias = builder.field_text(node, "alias") if kind == "use_as_clause" else None
        leaf = path if kind == "use_as_clause" and path is not None else node
        module, _, name = _join(base, builder.text(leaf)).rpartition("::")
        if name == "self" and module:
            yield module, ImportedName("self", alias or module.rpartition("::")[2])
        elif module:
            yield module, ImportedName(name, alias)
        else:
            yield name, ImportedName("*", alias or name)


def _parts(node: Node | None) -> list[Node]:
    children = node.named_children if node is not None else []
    return [child for child in children if child.type not in COMMENTS]


def _join(base: str, path: str) -> str:
    return f"{base}::{path}" if base and path else base or path


def extern_crate(builder: Builder, node: Node) -> bool:
    """`extern crate name as alias;`."""
    name = builder.field_text(node, "name") or ""
    if builder.at_statement:
        builder.root_item(node, "import", f"import:{name}")
    alias = builder.field_text(node, "alias")
    builder.add_import(node, name, [ImportedName("*", alias or name)])
    return False
