"""Imports of Julia: `using`, `import`, `export` and `include`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.rules import child_of
from asterism.analysis.syntax.text import fold
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node

_MODULES = ("identifier", "scoped_identifier", "import_path")


def import_statement(builder: Builder, node: Node) -> bool:
    """`using A, B`, `using A: x, y as z`, `import A as B`."""
    modules: list[str] = []
    for part in node.named_children:
        if part.type == "selected_import":
            module = builder.text(part.named_children[0])
            names = [_name(builder, each) for each in part.named_children[1:]]
            builder.add_import(node, module.lstrip("."), names)
        elif part.type == "import_alias":
            module = builder.text(part.named_children[0])
            alias = builder.text(part.named_children[-1])
            builder.add_import(node, module.lstrip("."), [ImportedName("*", alias)])
        elif part.type in _MODULES:
            module = builder.text(part)
            names = [ImportedName("*", module.rpartition(".")[2])]
            if node.type == "using_statement":
                names.append(ImportedName("*"))
            builder.add_import(node, module.lstrip("."), names)
        else:
            continue
        modules.append(module)
    if builder.at_statement:
        builder.root_item(node, "import", fold(f"import:{', '.join(modules)}"))
    return False


def _name(builder: Builder, node: Node) -> ImportedName:
    if node.type == "import_alias":
        first, last = node.named_children[0], node.named_children[-1]
        return ImportedName(builder.text(first), builder.text(last))
    return ImportedName(builder.text(node).lstrip("@"))


def export_statement(builder: Builder, node: Node) -> bool:
    """`export f` names what `using` brings; it uses nothing here."""
    if builder.at_statement:
        builder.root_item(node, "export")
    for name in node.named_children:
        builder.defined.add(name.start_byte)
    builder.claimed = True
    return False


def call(builder: Builder, node: Node) -> bool:
    """`include("x.jl")` is an import."""
    first = node.named_children[0] if node.named_child_count else None
    arguments = child_of("argument_list")(node)
    if first is None or arguments is None or arguments.named_child_count != 1:
        return True
    argument = arguments.named_children[0]
    if builder.text(first) != "include" or argument.type != "string_literal":
        return True
    module = builder.text(argument).strip('"')
    if builder.at_statement:
        builder.root_item(node, "import", fold(f"import:{module}"))
    builder.defined.add(first.start_byte)
    builder.add_import(node, module, [ImportedName("*")])
    return False
