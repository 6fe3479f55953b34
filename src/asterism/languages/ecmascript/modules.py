"""Imports and exports of JavaScript and TypeScript: ES modules, CommonJS, TypeScript's own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Level
from asterism.analysis.syntax.rules import child_of, children_of, definition, marks
from asterism.analysis.syntax.text import first_child, first_named, fold
from asterism.languages.ecmascript.names import (
    callable_value,
    pattern_leaves,
    string_value,
    unwrapped,
)
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node


def import_statement(builder: Builder, node: Node) -> bool:
    """`import …`, in all its forms."""
    source = node.child_by_field_name("source")
    names: list[ImportedName] = []
    type_only, bare = False, True
    for child in node.children:
        kind = child.type
        if kind == "import_clause":
            names, bare = list(_clause_names(builder, child)), False
        elif kind == "import_require_clause":
            source = child.child_by_field_name("source")
            names, bare = [ImportedName("*", builder.text(child.named_children[0]))], False
        elif kind in ("type", "typeof"):
            type_only = True
    module = string_value(builder, source)
    if builder.at_statement:
        builder.root_item(node, "import", f"import:{module}")
    builder.add_import(node, module, names, type_only=type_only, side_effect=bare)
    return False


def import_alias(builder: Builder, node: Node) -> bool:
    """`import Short = Some.Namespace`."""
    if node.start_byte not in builder.consumed:
        _alias(builder, node, node)
    return True


def _alias(builder: Builder, statement: Node, node: Node) -> str:
    alias, target = node.named_children[0], node.named_children[-1]
    module = builder.text(target)
    if builder.at_statement:
        builder.root_item(statement, "import", f"import:{module}")
    name = builder.text(alias)
    builder.add_import(statement, module, [ImportedName("*", name)])
    builder.defined.add(alias.start_byte)
    builder.consumed.add(node.start_byte)
    return name


def export_statement(builder: Builder, node: Node) -> bool:
    """`export …`: a modifier of what it declares, or a statement of its own."""
    declared = node.child_by_field_name("declaration")
    if declared is not None and declared.type == "import_alias":
        name = _alias(builder, node, declared)
        builder.add_export(name, name, node)
        builder.claimed = True
        return True
    words = {child.type for child in node.children}
    default = "default" in words
    modifiers = ["exported", "default"] if default else ["exported"]
    if declared is not None:
        if "decorator" in words:
            return _decorated_class(builder, node, declared, modifiers)
        builder.wrap(node, modifiers)
        return True
    value = node.child_by_field_name("value")
    if value is not None:
        return _export_value(builder, node, value)
    source = node.child_by_field_name("source")
    type_only = _has_type_keyword(builder, node)
    if source is not None:
        return _reexport(builder, node, source, type_only)
    # What a namespace or an ambient module exports is not what the file exports.
    is_inner = builder.owner is not None
    if builder.at_statement:
        builder.root_item(node, "export")
    clause = child_of("export_clause")(node)
    if is_inner:
        return True
    if clause is not None:
        for name, local, place in _specifiers(builder, clause):
            builder.add_export(name, local, place, type_only=type_only)
    elif "=" in words and node.named_children:
        builder.add_export("=", builder.text(node.named_children[0]), node)
    elif "namespace" in words:
        # `export as namespace X` names a global; no module of the project imports it.
        builder.defined.add(node.named_children[-1].start_byte)
    return True


def _decorated_class(builder: Builder, node: Node, declared: Node, modifiers: list[str]) -> bool:
    """`@D() export class X`: defined here, so that what its decorators use is the class's use."""
    name = declared.child_by_field_name("name")
    own, decorators = marks(builder, declared)
    builder.consumed.add(declared.start_byte)
    builder.define(
        node,
        "class",
        builder.text(name) if name is not None else "default",
        name_node=name,
        body=declared.child_by_field_name("body"),
        level=Level.TYPE,
        modifiers=[*modifiers, *own],
        decorators=[*children_of(node, "decorator"), *decorators],
    )
    return True


def _export_value(builder: Builder, node: Node, value: Node) -> bool:
    """`export default …`: of code a symbol, of anything else a root item."""
    code = callable_value(builder, value)
    if code is None:
        if builder.owner is None:
            local = builder.text(value) if value.type == "identifier" else "default"
            builder.add_export("default", local, node)
        if builder.at_statement:
            builder.root_item(node, "export")
        return True
    builder.consumed.add(code.start_byte)
    name = code.child_by_field_name("name")
    is_class = code.type == "class"
    modifiers, decorators = marks(builder, code)
    builder.define(
        node,
        "class" if is_class else "function",
        builder.text(name) if name is not None else "default",
        name_node=name,
        body=code.child_by_field_name("body"),
        level=Level.TYPE if is_class else Level.FUNCTION,
        modifiers=[
            "exported",
            "default",
            *modifiers,
            *(["generator"] if code.type == "generator_function" else []),
        ],
        decorators=[*children_of(node, "decorator"), *decorators],
    )
    return True


def function_signature(builder: Builder, node: Node) -> bool:
    """A function without a body; one without a name is read as one with a name (see `repairs`)."""
    name = node.child_by_field_name("name")
    if name is None or not builder.source.startswith(b"default", node.start_byte):
        return _SIGNATURE(builder, node)
    builder.defined.add(name.start_byte)
    builder.define(node, "function", "default", modifiers=("default",))
    return True


_SIGNATURE = definition("function")


def _reexport(builder: Builder, node: Node, source: Node, type_only: bool) -> bool:
    module = string_value(builder, source)
    if builder.at_statement:
        builder.root_item(node, "re-export", f"re-export:{module}")
    names = []
    clause = child_of("export_clause")(node)
    namespace = child_of("namespace_export")(node)
    if clause is not None:
        for name, local, place in _specifiers(builder, clause):
            builder.add_export(name, local, place, module, type_only)
            names.append(ImportedName(local, name if name != local else None))
    else:
        alias = builder.text(namespace.named_children[0]) if namespace is not None else None
        builder.add_export(alias or "*", "*", node, module, type_only)
        names.append(ImportedName("*", alias))
    builder.add_import(node, module, names, type_only=type_only, reexport=True, binds=False)
    return False


def call_expression(builder: Builder, node: Node) -> bool:
    """`import('x')` and `require('x')`; every other call is left alone."""
    function = first_child(node)
    if function is None:
        return True
    kind = function.type
    if kind == "identifier":
        start = function.start_byte
        if function.end_byte - start != 7 or builder.source[start : start + 7] != b"require":
            return True
    elif kind != "import":
        return True
    module = required_module(builder, node)
    if module is not None and node.start_byte not in builder.consumed:
        parent = node.parent
        alone = parent is not None and parent.type == "expression_statement"
        builder.add_import(
            node,
            module,
            dynamic=kind == "import",
            side_effect=kind != "import" and alone,
            type_only=parent is not None and _in_type(parent),
        )
    if kind != "import":
        builder.defined.add(function.start_byte)
    return True


def _in_type(parent: Node) -> bool:
    """Whether `import('x')` is a type: `typeof import('x')`, `a: import('x').Y`."""
    while parent.type == "member_expression" and parent.parent is not None:
        parent = parent.parent
    return parent.type in ("type_query", "type_annotation", "type_alias_declaration")


def import_type(builder: Builder, node: Node) -> bool:
    """`import('x').Y` where the grammar only knows names; it reads a name (see `repairs`)."""
    first = first_named(node)
    if first is None or first.type != "identifier" or builder.text(first) != "import":
        return True
    name = node.named_children[-1]
    if name != first:
        receiver = builder.slice(first.start_byte, name.start_byte).rstrip(" .\n\t")
        builder.receivers[name.start_byte] = fold(receiver)
    builder.defined.add(first.start_byte)
    call = _IMPORT_CALL.match(builder.source, first.start_byte)
    if call is not None:
        builder.add_import(node, call[1].decode("utf-8", "replace"), dynamic=True, type_only=True)
    return True


_IMPORT_CALL = re.compile(rb"""import\s*\(\s*["']([^"'\n]+)["']""")


def required_module(builder: Builder, value: Node) -> str | None:
    """The module a `require('x')` or `import('x')` call names, if it names one outright."""
    if value.type != "call_expression":
        return None
    function = value.child_by_field_name("function")
    arguments = value.child_by_field_name("arguments")
    if function is None or arguments is None or not arguments.named_children:
        return None
    if function.type != "import" and builder.text(function) != "require":
        return None
    argument = arguments.named_children[0]
    return string_value(builder, argument) if argument.type == "string" else None


def require_declaration(builder: Builder, statement: Node, declarators: list[Node]) -> bool:
    """`const x = require('y')`: an import, whatever keyword it is written with.

    Declarators that load modules beside others that do not are imports and symbols both.
    """
    loads = [(declarator, _load(builder, declarator)) for declarator in declarators]
    found = [(declarator, load) for declarator, load in loads if load is not None]
    whole = bool(found) and len(found) == len(declarators)
    if whole and builder.at_statement:
        label = ", ".join(module for _, (module, _, _) in found)
        builder.root_item(statement, "import", f"import:{label}")
    for declarator, (module, member, call) in found:
        builder.consumed.add(call.start_byte)
        name = declarator.child_by_field_name("name")
        if name is None:
            continue
        builder.add_import(statement, module, _pattern_names(builder, name, member))
        if whole:
            builder.consumed.add(declarator.start_byte)
            builder.defined.update(leaf.start_byte for leaf in pattern_leaves(name))
    return whole


def _load(builder: Builder, declarator: Node) -> tuple[str, str | None, Node] | None:
    """The module a declarator loads, the one member it takes of it, and the call."""
    value = declarator.child_by_field_name("value")
    member = None
    if value is not None:
        value = unwrapped(value)
    if value is not None and value.type == "member_expression":
        member = builder.field_text(value, "property")
        value = value.child_by_field_name("object")
    if value is None or value.type != "call_expression" or _is_import(value):
        return None
    module = required_module(builder, value)
    return None if module is None else (module, member, value)


def _is_import(call: Node) -> bool:
    function = first_child(call)
    return function is not None and function.type == "import"


def _pattern_names(builder: Builder, name: Node, member: str | None) -> Iterator[ImportedName]:
    if name.type == "identifier":
        local = builder.text(name)
        yield ImportedName(member or "*", None if local == member else local)
        return
    for part in name.named_children:
        if part.type == "pair_pattern":
            key, value = part.child_by_field_name("key"), part.child_by_field_name("value")
            if key is not None and value is not None:
                yield from _nested_names(builder, builder.text(key), value)
        elif part.type == "object_assignment_pattern":
            yield ImportedName(builder.text(part.named_children[0]))
        elif part.type != "comment":
            yield ImportedName(builder.text(part).removeprefix("..."))


def _nested_names(builder: Builder, key: str, value: Node) -> Iterable[ImportedName]:
    """`{ key: value }`, where the value may have a default or be a pattern itself."""
    if value.type == "assignment_pattern":
        value = value.named_children[0]
    if value.type == "identifier":
        return [ImportedName(key, builder.text(value))]
    return _pattern_names(builder, value, None)


def _clause_names(builder: Builder, clause: Node) -> Iterator[ImportedName]:
    for part in clause.named_children:
        if part.type == "identifier":
            yield ImportedName("default", builder.text(part))
        elif part.type == "namespace_import":
            yield ImportedName("*", builder.text(part.named_children[-1]))
        elif part.type == "named_imports":
            for specifier in part.named_children:
                if specifier.type == "import_specifier":
                    name = builder.field_text(specifier, "name") or ""
                    yield ImportedName(name.strip("\"'"), builder.field_text(specifier, "alias"))


def _specifiers(builder: Builder, clause: Node) -> Iterator[tuple[str, str, Node]]:
    """Exported name, local name and place of each `a as b`."""
    for specifier in children_of(clause, "export_specifier"):
        local = (builder.field_text(specifier, "name") or builder.text(specifier)).strip("\"'")
        alias = builder.field_text(specifier, "alias")
        yield (alias or local).strip("\"'"), local, specifier


_EXPORT_TYPE = re.compile(rb"export\s+type\s*\*")


def _has_type_keyword(builder: Builder, node: Node) -> bool:
    """Whether `type` follows; in `export type *` the grammar does not see it (see `repairs`)."""
    if any(child.type == "type" for child in node.children):
        return True
    return _EXPORT_TYPE.match(builder.source, node.start_byte) is not None
