"""Names of PHP: what `use` and `include` bring in, which variables a function binds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Level
from asterism.analysis.syntax.language import Rule
from asterism.analysis.syntax.rules import child_of, children_of, marks, silent
from asterism.languages.shared import NAME_LIMIT, callback_name, spans_lines
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node


# A chain of calls broken over lines reads as if it had been written on one.
_BROKEN_CHAIN = re.compile(r"(?<!\s)\s++(\??->|::)")

CLOSURES = frozenset({"anonymous_function", "arrow_function"})


def closure(builder: Builder, node: Node) -> bool:
    """A closure of several lines given to a call is a symbol named by that call."""
    body = node.child_by_field_name("body")
    if node.start_byte in builder.consumed or body is None or not spans_lines(body):
        return True
    argument = node.parent
    if argument is None or argument.type != "argument" or argument.parent is None:
        return True
    modifiers, _ = marks(builder, node)
    name = _callback_name(builder, argument.parent)
    builder.define(node, "function", name, body=body, modifiers=modifiers)
    return True


def _callback_name(builder: Builder, arguments: Node) -> str:
    """`$app->get("/path") callback`: the call it is passed to, and the string before it."""
    call = arguments.parent
    first = arguments.named_children[0]
    value = first.named_children[-1] if first.named_child_count else first
    is_title = value.type in ("string", "encapsed_string")
    title = f'"{builder.text(value)[1:-1]}"' if is_title else ""
    if call is None:
        return callback_name("", "", title)
    if call.type == "object_creation_expression":
        return callback_name("", builder.text(call.named_children[0]), title)
    name = call.child_by_field_name("function") or call.child_by_field_name("name")
    if name is None:
        return callback_name("", "", title)
    head = builder.source[call.start_byte : name.end_byte].decode("utf-8", "replace")
    head = _BROKEN_CHAIN.sub(r"\1", head)
    if len(head) > NAME_LIMIT and name.start_byte > call.start_byte:
        head = f"…->{builder.text(name)}"
    return callback_name("", head, title)


INCLUDES = frozenset(
    {
        *("include_expression", "include_once_expression", "require_expression"),
        "require_once_expression",
    }
)

# Variables that are in every scope, so never locals of one.
_SUPERGLOBALS = frozenset(
    {
        *("$GLOBALS", "$_SERVER", "$_GET", "$_POST", "$_FILES", "$_COOKIE", "$_SESSION"),
        *("$_REQUEST", "$_ENV"),
    }
)

# Inside a pattern that assigns, everything but these holds names that are bound.
_VALUES = frozenset({"subscript_expression", "member_access_expression", "compound_statement"})


def use(builder: Builder, node: Node) -> bool:
    """`use A\\B as C, D\\E;` and `use A\\{B, C};`: one import per namespace and name."""
    prefix_node = child_of("namespace_name")(node)
    prefix = builder.text(prefix_node) if prefix_node is not None else ""
    group = node.child_by_field_name("body")
    names = [_clause(builder, clause, prefix) for clause in children_of(group or node, _CLAUSE)]
    label = prefix or ", ".join(f"{module}\\{name.name}".strip("\\") for module, name in names)
    if builder.at_statement:
        builder.root_item(node, "import", f"import:{label}")
    if group is not None and all(module == prefix for module, _ in names):
        builder.add_import(node, prefix, [name for _, name in names])
    else:
        for module, name in names:
            builder.add_import(node, module, [name])
    return False


_CLAUSE = "namespace_use_clause"


def _clause(builder: Builder, clause: Node, prefix: str) -> tuple[str, ImportedName]:
    alias = clause.child_by_field_name("alias")
    path = next(children_of(clause, "qualified_name", "name", "namespace_name"), clause)
    module, _, name = builder.text(path).strip("\\").rpartition("\\")
    module = "\\".join(part for part in (prefix, module) if part)
    # What has no namespace is in the global one, which PHP writes as a lone backslash.
    return module or "\\", ImportedName(name, None if alias is None else builder.text(alias))


def trait_alias(builder: Builder, node: Node) -> bool:
    """`A::b as c` in a trait use: `c` is a new name."""
    if node.named_child_count and node.named_children[-1].type == "name":
        builder.defined.add(node.named_children[-1].start_byte)
    return True


def include(builder: Builder, node: Node) -> bool:
    """`require 'x.php'` and its kin; a path that is computed is kept as it is written."""
    module = included_path(builder, node)
    if module:
        builder.add_import(node, module)
    return True


def included_path(builder: Builder, node: Node) -> str:
    """What a `require` or `include` names."""
    if not node.named_child_count:
        return ""
    path = node.named_children[0]
    if path.type == "parenthesized_expression" and path.named_child_count:
        path = path.named_children[0]
    text = builder.text(path)
    return text[1:-1] if path.type in ("string", "encapsed_string") else text


def qualified(builder: Builder, node: Node) -> bool:
    """`A\\B\\c`: the last part is a member of what stands before it."""
    prefix = node.child_by_field_name("prefix")
    if prefix is not None and node.named_child_count > 1 and prefix.is_named:
        builder.member(prefix, node.named_children[-1])
    return True


def constant_access(builder: Builder, node: Node) -> bool:
    """`A::B`, whose parts the grammar gives no names."""
    if node.named_child_count > 1:
        builder.member(node.named_children[0], node.named_children[-1])
    return True


def computed_member(builder: Builder, node: Node) -> bool:
    """`$a->$name` and `$a->{f()}()`: what computes a member's name is no member itself."""
    name = node.child_by_field_name("name")
    if name is not None and name.type != "name":
        builder.receivers.pop(name.start_byte, None)
    return True


def bind(builder: Builder, node: Node | None) -> None:
    """Take every variable in a pattern as a local, with its `$`, as it is written in use."""
    owner = builder.owner
    if node is None:
        return
    for variable in _variables(node):
        builder.defined.add(variable.start_byte)
        if owner is not None:
            owner.bind(builder.text(variable))


def binds_variables(*fields: str) -> Rule:
    """A node whose fields bind variables; without fields, all of its children do."""

    def rule(builder: Builder, node: Node) -> bool:
        if not fields:
            bind(builder, node)
        for name in fields:
            bind(builder, node.child_by_field_name(name))
        return True

    return rule


_SILENT_LABEL = silent("name")


def argument(builder: Builder, node: Node) -> bool:
    """`preg_match($a, $b, $found)`: a call may bring a variable it is given into being."""
    _SILENT_LABEL(builder, node)
    if node.named_child_count:
        filled(builder, node.named_children[-1])
    return True


def filled(builder: Builder, node: Node) -> None:
    """`$list[] = 1` and its kin: the variable is a local of its function, and used."""
    while node.type == "subscript_expression" and node.named_child_count:
        node = node.named_children[0]
    owner = builder.owner
    if node.type == "variable_name" and builder.level is Level.FUNCTION and owner is not None:
        name = builder.text(node)
        if name not in _SUPERGLOBALS:
            owner.bind(name)


def from_outside(builder: Builder, node: Node) -> bool:
    """`global $x;`: the file's variable, never a local, whatever is assigned to it."""
    owner = builder.owner
    if owner is not None and builder.level is Level.FUNCTION:
        owner.outer = owner.outer | {builder.text(variable) for variable in _variables(node)}
    return True


def foreach(builder: Builder, node: Node) -> bool:
    """`foreach (… as $key => $value)`."""
    bound = False
    for child in node.children:
        if bound and child.is_named:
            bind(builder, child)
            break
        bound = bound or child.type == "as"
    return True


def _variables(node: Node) -> Iterator[Node]:
    pending = [node]
    while pending:
        here = pending.pop()
        if here.type == "variable_name":
            yield here
        elif here.type not in _VALUES:
            pending.extend(here.named_children)
