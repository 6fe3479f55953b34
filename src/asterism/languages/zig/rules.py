"""Zig: functions, containers as values of constants, fields, tests, `@import`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import (
    binds,
    binds_children,
    child_of,
    children_of,
    definition,
    marks,
    value_cut,
)
from asterism.analysis.syntax.text import Conventions
from asterism.types.outline import ImportedName, Span

if TYPE_CHECKING:
    from tree_sitter import Node

# An opaque type has no kind of its own; an error set is an enum of errors.
_CONTAINERS = {
    "struct_declaration": "struct",
    "enum_declaration": "enum",
    "union_declaration": "union",
    "opaque_declaration": "type",
    "error_set_declaration": "enum",
}

# What stands before a member without an object, as in `.dense`: the type is for Zig to infer.
_INFERRED = "."

# In `?*const std.mem.Allocator` the grammar counts what stands before the type to its first name.
_PREFIX = re.compile(
    r"^(?:[\w.]*!|error\s*\{[^}]*\}!|[?*&-]|\[[^\]]*\]|(?:const|volatile|allowzero|try|comptime)\s+"
    r"|align\([^)]*\)\s*)+"
)


def _function_kind(builder: Builder, _node: Node) -> str:
    return "method" if builder.level is Level.TYPE else "function"


def _variable(builder: Builder, node: Node) -> bool:
    """`const` and `var`: an import, a container, a symbol, a local; else it is an assignment."""
    names = list(_declared(node))
    if not names:
        target = node.named_children[0] if node.named_children else node
        if target.type == "identifier" and target.text == b"_":
            builder.defined.add(target.start_byte)
        return True
    value = _value(node)
    if len(names) == 1 and value is not None and _import(builder, node, names[0], value):
        return False
    container = value if value is not None and value.type in _CONTAINERS else None
    if container is not None:
        _define_container(builder, node, names[0], container)
        return True
    for name in names:
        if builder.level is Level.FUNCTION:
            builder.bind(name)
            continue
        modifiers, _ = marks(builder, node)
        builder.define(
            node,
            "const" if "const" in modifiers else "variable",
            builder.text(name),
            name_node=name,
            modifiers=modifiers,
            signature_end=value_cut(node, value),
            opens=name == names[-1],
        )
    return True


def _declared(node: Node) -> Iterator[Node]:
    """The names after `const` and `var`; `const a, const b = …` has several."""
    for keyword, name in pairwise(node.children):
        if keyword.type in ("const", "var") and name.type == "identifier" and not name.is_missing:
            yield name


def _value(node: Node) -> Node | None:
    """The node after the equals sign."""
    for sign, value in pairwise(node.children):
        if sign.type == "=":
            return value
    return None


def _define_container(builder: Builder, node: Node, name: Node, container: Node) -> None:
    """`const Name = struct { … }` is the struct itself."""
    modifiers, _ = marks(builder, node)
    opener = next((child for child in container.children if child.type == "{"), container)
    builder.consumed.add(container.start_byte)
    draft = builder.define(
        node,
        _CONTAINERS[container.type],
        builder.text(name),
        name_node=name,
        level=Level.TYPE,
        modifiers=modifiers,
        signature_end=opener.start_byte,
    )
    draft.body = Span(opener.start_byte, container.end_byte)


def _container(builder: Builder, node: Node) -> bool:
    """A container without a name: what a function returns, or a field's own type, belongs to it."""
    if node.start_byte in builder.consumed:
        return True
    parent = node.parent
    if parent is not None and parent.type in ("return_expression", "container_field"):
        builder.scope(Level.TYPE)
    return True


def _error_set(builder: Builder, node: Node) -> bool:
    """`error{ A, B }`: the names are errors, members where the set is declared under a name."""
    for name in children_of(node, "identifier"):
        if node.start_byte in builder.consumed:
            builder.define(name, "enum_member", builder.text(name), name_node=name, opens=False)
        builder.defined.add(name.start_byte)
    return True


def _field(builder: Builder, node: Node) -> bool:
    """A field of a struct or union, or of the file itself, or a value of an enum."""
    name, around = node.child_by_field_name("name"), builder.parent
    if name is None or name.type != "identifier" or name.is_missing:
        return True
    within = around.type if around is not None else ""
    if within == "struct_declaration" and node.child_by_field_name("type") is None:
        # `struct { A, B }` is a tuple: its parts are types and have no names.
        return True
    builder.defined.add(name.start_byte)
    # A lone `_` says that an enum has more values than it names.
    if builder.level is Level.FUNCTION or builder.text(name) in ("", "_"):
        return True
    modifiers, _ = marks(builder, node)
    builder.define(
        node,
        "enum_member" if within == "enum_declaration" else "property",
        builder.text(name),
        name_node=name,
        modifiers=modifiers,
        signature_end=value_cut(node, _value(node)),
    )
    return True


def _test(builder: Builder, node: Node) -> bool:
    """`test "title" { … }`: a function named by its title, or by what it tests."""
    title = child_of("string", "identifier")(node)
    name = builder.text(title).strip('"') if title is not None else ""
    builder.define(node, "function", name or "test", body=child_of("block")(node))
    return True


def _import(builder: Builder, node: Node, name: Node, value: Node) -> bool:
    """`const x = @import("y")`, or a member of it."""
    call, members = value, []
    while call.type == "field_expression":
        members.append(builder.field_text(call, "member") or "")
        inner = call.child_by_field_name("object")
        if inner is None:
            return False
        call = inner
    module = _imported_module(builder, call)
    if module is None:
        return False
    public = any(child.type == "pub" for child in node.children)
    if builder.at_statement:
        word = "re-export" if public else "import"
        builder.root_item(node, word, f"{word}:{module}")
    elif builder.level is Level.FUNCTION:
        builder.bind(name)
    imported = ".".join(reversed(members)) or "*"
    local = builder.text(name)
    builder.add_import(
        node,
        module,
        [ImportedName(imported, None if imported == local else local)],
        reexport=public,
    )
    if public:
        builder.add_export(local, imported, node, module)
    return True


def _imported_module(builder: Builder, call: Node) -> str | None:
    """The file or package an `@import("…")` names."""
    if call.type != "builtin_function" or not builder.text(call).startswith("@import"):
        return None
    arguments = child_of("arguments")(call)
    argument = child_of("string")(arguments) if arguments is not None else None
    return builder.text(argument)[1:-1] if argument is not None else None


def _builtin(builder: Builder, node: Node) -> bool:
    """`@import` in the middle of an expression, where it binds no name."""
    module = _imported_module(builder, node)
    if module is not None:
        everything = node.parent is not None and node.parent.type == "using_namespace_declaration"
        builder.add_import(node, module, [ImportedName("*")] if everything else ())
    return True


def _comptime(builder: Builder, node: Node) -> bool:
    """`comptime { … }`: what it declares is local to the block."""
    if builder.at_statement:
        builder.root_item(node, "control")
        builder.frames[-1].level = Level.FUNCTION
    return True


def _using_namespace(builder: Builder, node: Node) -> bool:
    if builder.at_statement:
        inner = node.named_children[-1] if node.named_children else node
        module = _imported_module(builder, inner)
        if module is None:
            builder.root_item(node, "expression")
        else:
            builder.root_item(node, "import", f"import:{module}")
    return True


def _member(builder: Builder, node: Node) -> bool:
    """`.name` without an object is a member of a type that is not written."""
    name = node.child_by_field_name("member")
    if name is not None:
        receiver = builder.receivers.get(name.start_byte, _INFERRED)
        builder.receivers[name.start_byte] = _PREFIX.sub("", receiver)
    return True


def _error_value(builder: Builder, node: Node) -> bool:
    """`error.Name`."""
    for name in children_of(node, "identifier"):
        builder.receivers[name.start_byte] = "error"
    return True


def _exported(draft: Draft, builder: Builder) -> bool:
    """`pub` or `export`; fields and values are as public as what they belong to."""
    if draft.kind in ("property", "enum_member"):
        return draft.parent is None or _exported(builder.drafts[draft.parent], builder)
    return any(word in ("pub", "export") for word in draft.modifiers)


def _finish(builder: Builder) -> None:
    for draft in builder.drafts:
        is_name = draft.depth == 0 and not draft.is_root and draft.kind != "property"
        if is_name and _exported(draft, builder):
            builder.declare_export(draft.name, draft)
    builder.exports.sort(key=lambda export: export.line)


CONVENTIONS = Conventions(
    identifiers=frozenset({"identifier"}),
    comments=frozenset({"comment"}),
    skipped=frozenset({"string", "multiline_string", "character", "block_label", "break_label"}),
    members={"field_expression": ("object", "member")},
    modifiers=frozenset(
        {"pub", "export", "extern", "inline", "noinline", "threadlocal", "comptime", "const"}
    ),
    doc_prefixes=("///",),
    inner_doc_prefixes=("//!",),
    terminators=(";", ",", "="),
)

RULES: dict[str, Rule] = {
    "variable_declaration": _variable,
    "function_declaration": definition(_function_kind),
    "struct_declaration": _container,
    "enum_declaration": _container,
    "union_declaration": _container,
    "opaque_declaration": _container,
    "error_set_declaration": _error_set,
    "container_field": _field,
    "test_declaration": _test,
    "comptime_declaration": _comptime,
    "using_namespace_declaration": _using_namespace,
    "builtin_function": _builtin,
    "field_expression": _member,
    "error_type": _error_value,
    "parameter": binds("name"),
    "payload": binds_children,
}

ZIG = Language("zig", ("tree_sitter_zig", "language"), CONVENTIONS, RULES, _exported, _finish)
