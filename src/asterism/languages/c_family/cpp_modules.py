"""What a C++ file takes from elsewhere: `using`, namespace aliases, modules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Level
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node

# C++20's module lines, which the grammar reads as odd declarations.
_MODULE_LINE = re.compile(
    r"(?:export\s+)?(?P<word>import|module)\s*(?P<name>[<\"]?[\w.:/]*[>\"]?)\s*;?\s*$"
)


def using(builder: Builder, node: Node) -> bool:
    """`using namespace a;` and `using a::b;`; in a class it names a base's members instead."""
    if builder.level is Level.TYPE or not node.named_child_count:
        return True
    target = builder.text(node.named_children[-1]).replace(" ", "")
    whole = any(child.type in ("namespace", "enum") for child in node.children)
    scope, _, name = target.rpartition("::")
    module = target if whole else scope
    if builder.at_statement:
        builder.root_item(node, "import", f"import:{target}")
    builder.add_import(node, module, [ImportedName("*" if whole else name)])
    return False


def namespace_alias(builder: Builder, node: Node) -> bool:
    """`namespace fs = std::filesystem;`."""
    name = node.child_by_field_name("name")
    if name is None:
        return True
    module = builder.text(node.named_children[-1]).replace(" ", "")
    if builder.at_statement:
        builder.root_item(node, "import", f"import:{module}")
    builder.add_import(node, module, [ImportedName("*", builder.text(name))])
    return False


def module_line(builder: Builder, node: Node) -> bool:
    """`import x;` and `export module y;`; returns whether the node is one of these."""
    if not builder.at_statement or node.end_byte - node.start_byte > 200:
        return False
    found = _MODULE_LINE.match(builder.text(node))
    if found is None:
        return False
    name = found["name"].strip('<>"')
    if found["word"] == "module":
        builder.root_item(node, "package")
    elif name:
        builder.root_item(node, "import", f"import:{name}")
        builder.add_import(node, name)
    else:
        return False
    builder.defined.update(child.start_byte for child in _leaves(node))
    return True


def _leaves(node: Node) -> list[Node]:
    pending, leaves = [node], []
    while pending:
        here = pending.pop()
        if here.named_child_count:
            pending.extend(here.named_children)
        else:
            leaves.append(here)
    return leaves
