"""Lua: functions of tables and of files, locals, table methods, `require`, the returned module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import binds, binds_children, child_of, skip, value_cut
from asterism.analysis.syntax.text import Conventions, fold
from asterism.languages.shared import NAME_LIMIT, callback_name, spans_lines
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node

_INDEXES = frozenset(
    {"dot_index_expression", "method_index_expression", "bracket_index_expression"}
)

# Under which tables of this file are noted, so that their fields can be told from others'.
_OWN = "own table"


def _string(builder: Builder, node: Node) -> str:
    return builder.field_text(node, "content") or ""


def _key(builder: Builder, node: Node) -> str:
    """A table key as a name: the text of a string, or the key as written."""
    text = _string(builder, node) if node.type == "string" else builder.text(node)
    return fold(text, NAME_LIMIT)


def _target(builder: Builder, node: Node) -> tuple[tuple[str, ...], str, Node]:
    """The table, the name and the place of the name: `M.a.f`, `M:f`, `M["f"]`, `f`."""
    if node.type not in _INDEXES:
        return (), _key(builder, node), node
    table = node.child_by_field_name("table")
    field = node.child_by_field_name("field") or node.child_by_field_name("method") or node
    owner = fold(builder.text(table), NAME_LIMIT) if table is not None else ""
    name = _key(builder, field)
    if node.type == "bracket_index_expression" and field.type != "string":
        # The key is computed: its text is no name that could be asked for.
        name = f"[{name}]"
    return tuple(part for part in owner.replace(":", ".").split(".") if part), name, field


def _function(builder: Builder, node: Node) -> bool:
    """`function f()`, `local function f()`, `function M.f()`, `function M:f()`."""
    target = node.child_by_field_name("name")
    if target is None or target.is_missing:
        return True
    local = node.children[0].type == "local"
    _define_function(builder, node, target, node, ("local",) if local else ())
    return True


def _define_function(
    builder: Builder, node: Node, target: Node, function: Node, modifiers: tuple[str, ...] = ()
) -> None:
    """A function under a name, whether declared so or assigned."""
    owner, name, place = _target(builder, target)
    if not name:
        return
    is_method = target.type == "method_index_expression"
    parameters = function.child_by_field_name("parameters")
    builder.consumed.add(function.start_byte)
    draft = builder.define(
        node,
        "method" if is_method else "function",
        name,
        name_node=place,
        body=function.child_by_field_name("body"),
        owner=owner,
        modifiers=modifiers,
        signature_end=parameters.end_byte if parameters is not None else None,
    )
    if is_method:
        draft.bind("self")


def _declaration(builder: Builder, node: Node) -> bool:
    """`local a, b = …`: functions, imports, variables, or locals of the function around."""
    inner = child_of("assignment_statement")(node)
    names = child_of("variable_list")(inner or node)
    if names is None:
        return True
    if inner is not None:
        builder.consumed.add(inner.start_byte)
    targets = list(names.children_by_field_name("name"))
    return _assign(builder, node, targets, list(_values(inner)), local=True)


def _assignment(builder: Builder, node: Node) -> bool:
    """`M.f = function`, `M.x = 1`, `x = 1`; inside functions only functions count."""
    names = child_of("variable_list")(node)
    if names is None or node.start_byte in builder.consumed:
        return True
    targets = list(names.children_by_field_name("name"))
    return _assign(builder, node, targets, list(_values(node)), local=False)


def _values(node: Node | None) -> Iterator[Node]:
    values = child_of("expression_list")(node) if node is not None else None
    return iter(values.named_children if values is not None else ())


def _assign(
    builder: Builder, node: Node, targets: list[Node], values: list[Node], *, local: bool
) -> bool:
    value = values[0] if values else None
    if len(targets) == 1 and value is not None:
        if value.type == "function_definition":
            _define_function(builder, node, targets[0], value, ("local",) if local else ())
            return True
        if local and _import(builder, node, targets[0], value):
            return False
    if builder.level is Level.FUNCTION:
        for target in targets:
            if local:
                builder.bind(target)
        return True
    found = [
        target
        for target in targets
        if not target.is_missing and (local or _is_own(builder, target))
    ]
    is_table = value is not None and value.type == "table_constructor"
    for target in found:
        owner, name, place = _target(builder, target)
        if not name:
            continue
        if not owner:
            builder.notes[_OWN, name] = ""
        draft = builder.define(
            node,
            "property" if owner else "variable",
            name,
            name_node=place,
            level=Level.TYPE if is_table else Level.FUNCTION,
            owner=owner,
            modifiers=("local",) if local else (),
            signature_end=value_cut(node, value),
            opens=target == found[-1],
        )
        note = target.next_named_sibling
        if note is not None and note.type == "attribute" and "const" in builder.text(note):
            draft.kind = "const"
    return True


def _is_own(builder: Builder, target: Node) -> bool:
    """A global, or a field of a table this file defines; `vim.g.x = 1` defines nothing here."""
    if target.type == "identifier":
        return builder.at_statement
    if target.type != "dot_index_expression":
        return False
    owner, _, _ = _target(builder, target)
    return bool(owner) and (_OWN, owner[0]) in builder.notes


def _import(builder: Builder, node: Node, target: Node, value: Node) -> bool:
    """`local x = require "y"`, `local x = require("y").z`."""
    member = None
    if value.type == "dot_index_expression":
        member = builder.field_text(value, "field")
        value = value.child_by_field_name("table") or value
    module = _required(builder, value)
    if module is None:
        return False
    if builder.at_statement:
        builder.root_item(node, "import", fold(f"import:{module}"))
    local = _key(builder, target)
    name = ImportedName(member, local if local != member else None) if member else None
    builder.add_import(node, module, [name or ImportedName("*", local)])
    return True


def _required(builder: Builder, call: Node) -> str | None:
    """The module a `require` names, if its argument is a plain string."""
    if call.type != "function_call" or builder.field_text(call, "name") != "require":
        return None
    arguments = call.child_by_field_name("arguments")
    if arguments is None or arguments.named_child_count != 1:
        return None
    argument = arguments.named_children[0]
    return _string(builder, argument) if argument.type == "string" else None


def _call(builder: Builder, node: Node) -> bool:
    """`require "x"` anywhere, and `pcall(require, "x")`; every other call is left alone."""
    callee = node.child_by_field_name("name")
    if callee is None or callee.type != "identifier":
        return True
    if builder.text(callee) == "pcall":
        arguments = node.child_by_field_name("arguments")
        parts = arguments.named_children if arguments is not None else []
        if len(parts) == 2 and builder.text(parts[0]) == "require" and parts[1].type == "string":
            builder.add_import(node, _string(builder, parts[1]), dynamic=True)
        return True
    module = _required(builder, node)
    if module is not None:
        bare = builder.at_statement
        if bare:
            builder.root_item(node, "import", fold(f"import:{module}"))
        builder.defined.add(callee.start_byte)
        builder.add_import(node, module, side_effect=bare, dynamic=builder.level is Level.FUNCTION)
    return True


def _field(builder: Builder, node: Node) -> bool:
    """`key = value` in a table: a method where the value is a function."""
    key, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if key is None:
        return True
    if node.children[0].type != "[":
        builder.defined.add(key.start_byte)
    if value is None or value.type != "function_definition":
        return True
    if key.type not in ("identifier", "string") or not _key(builder, key):
        return True
    if builder.level is Level.FUNCTION and not spans_lines(value):
        return True
    builder.consumed.add(value.start_byte)
    parameters = value.child_by_field_name("parameters")
    builder.define(
        node,
        "method",
        _key(builder, key),
        name_node=key,
        body=value.child_by_field_name("body"),
        owner=_enclosing_keys(builder, node),
        signature_end=parameters.end_byte if parameters is not None else None,
    )
    return True


def _enclosing_keys(builder: Builder, node: Node) -> tuple[str, ...]:
    """The keys of the tables around a field, within the outermost one."""
    keys: list[str] = []
    table = node.parent
    outer = table.parent if table is not None else None
    while outer is not None and outer.type == "field":
        key = outer.child_by_field_name("name")
        if key is not None:
            keys.append(_key(builder, key))
        table = outer.parent
        outer = table.parent if table is not None else None
    return tuple(reversed(keys))


def _callback(builder: Builder, node: Node) -> bool:
    """A function given to a call, where it has lines of its own."""
    if node.start_byte in builder.consumed or not spans_lines(node):
        return True
    arguments = node.parent
    call = arguments.parent if arguments is not None and arguments.type == "arguments" else None
    callee = call.child_by_field_name("name") if call is not None else None
    if arguments is None or callee is None:
        return True
    first = arguments.named_children[0]
    title = f'"{_string(builder, first)}"' if first.type == "string" else ""
    parameters = node.child_by_field_name("parameters")
    builder.define(
        node,
        "function",
        callback_name("", builder.text(callee), title),
        body=node.child_by_field_name("body"),
        signature_end=parameters.end_byte if parameters is not None else None,
    )
    return True


def _return(builder: Builder, node: Node) -> bool:
    """`return M` at the end of a file: what a `require` of it yields."""
    if not builder.at_statement:
        return True
    builder.root_item(node, "export")
    value = next(_values(node), None)
    if value is not None and value.type == "identifier":
        builder.add_export(builder.text(value), builder.text(value), node)
    elif value is not None and value.type == "table_constructor":
        for part in value.named_children:
            key, local = part.child_by_field_name("name"), part.child_by_field_name("value")
            if key is not None and local is not None:
                name = _key(builder, key)
                named = local.type == "identifier"
                builder.add_export(name, builder.text(local) if named else name, part)
    return True


def _for_each(builder: Builder, node: Node) -> bool:
    builder.bind(child_of("variable_list")(node))
    return True


def _finish(builder: Builder) -> None:
    """Say what other files can use: globals, and what hangs on the returned table."""
    local = {draft.name for draft in builder.drafts if "local" in draft.modifiers}
    for draft in builder.drafts:
        if draft.is_root:
            continue
        parent = builder.drafts[draft.parent] if draft.parent is not None else None
        head = draft.path[0]
        if parent is not None and not parent.is_root:
            draft.exported = parent.exported and parent.level is Level.TYPE
        elif draft.name.endswith(" callback"):
            draft.exported = False
        elif parent is not None and parent.kind != "control":
            draft.exported = parent.kind == "export"
        else:
            draft.exported = head in builder.public or head not in local


def _exported(draft: Draft, _builder: Builder) -> bool:
    return draft.exported


CONVENTIONS = Conventions(
    identifiers=frozenset({"identifier"}),
    comments=frozenset({"comment"}),
    skipped=frozenset({"string", "number", "attribute"}),
    members={
        "dot_index_expression": ("table", "field"),
        "method_index_expression": ("table", "method"),
    },
    statements={
        "if_statement": "control",
        "for_statement": "control",
        "while_statement": "control",
        "repeat_statement": "control",
        "do_statement": "control",
        "goto_statement": "control",
        "label_statement": "control",
        "hash_bang_line": "directive",
    },
    doc_prefixes=("---",),
    line_comment="--",
    terminators=(";", "="),
)

RULES: dict[str, Rule] = {
    "function_declaration": _function,
    "function_definition": _callback,
    "variable_declaration": _declaration,
    "assignment_statement": _assignment,
    "function_call": _call,
    "field": _field,
    "return_statement": _return,
    "parameters": binds_children,
    "for_numeric_clause": binds("name"),
    "for_generic_clause": _for_each,
    # They name places, not values.
    "goto_statement": skip,
    "label_statement": skip,
}

LUA = Language("lua", ("tree_sitter_lua", "language"), CONVENTIONS, RULES, _exported, _finish)
