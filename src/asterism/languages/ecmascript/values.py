"""Functions and classes as values: declarators, fields, object methods, callbacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.rules import marks, value_cut
from asterism.analysis.syntax.text import first_child, first_named
from asterism.languages.ecmascript.modules import require_declaration
from asterism.languages.ecmascript.names import (
    FUNCTIONS,
    callable_value,
    is_block,
    keys_above,
    name_of_callback,
    pattern_leaves,
    property_name,
)

if TYPE_CHECKING:
    from tree_sitter import Node

# Nodes that a parameter list contains without a parameter node around them.
_PATTERNS = frozenset(
    {"identifier", "object_pattern", "array_pattern", "assignment_pattern", "rest_pattern"}
)

# The modifiers that a declaration's first word means; `let` and `var` mean no modifier.
_KEYWORDS = {"const": ("const",), "using": ("using",), "await": ("await", "using")}


def declaration(builder: Builder, node: Node) -> bool:
    """`const`, `let`, `var`, `using`: each declarator is read when the walk reaches it."""
    children = node.children
    declarators = [child for child in children if child.type == "variable_declarator"]
    loads = builder.source.find(b"require", node.start_byte, node.end_byte) >= 0
    if loads and require_declaration(builder, node, declarators):
        return True
    word = children[0].type if children else "var"
    if word == "const" and not builder.source.startswith(b"const", node.start_byte):
        # `using x: T = …` is read as `const` (see `repairs`).
        word = "using" if builder.source.startswith(b"using", node.start_byte) else "await"
    builder.wrap(node, _KEYWORDS.get(word, ()), widens=len(declarators) == 1)
    return True


def declarator(builder: Builder, node: Node) -> bool:
    """One variable: a function, class or symbol; inside functions a local unless it is code."""
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None or node.start_byte in builder.consumed:
        return True
    plain = name.type == "identifier"
    code = callable_value(builder, value) if plain else None
    level = builder.frames[-1].level
    if level is Level.FUNCTION:
        if code is None:
            builder.bind(name)
            return True
    elif code is None and _is_block_local(builder):
        builder.bind(name)
        return True
    else:
        _start_at_statement(builder, node)
    if code is not None:
        define_code(builder, node, name, code, kinds=("function", "class"))
        return True
    leaves = [name] if plain else list(pattern_leaves(name))
    for position, leaf in enumerate(leaves, 1):
        draft = builder.define(
            node,
            "const",
            builder.text(leaf),
            name_node=leaf,
            signature_end=value_cut(node, value),
            opens=position == len(leaves),
        )
        if "const" not in draft.modifiers and "using" not in draft.modifiers:
            draft.kind = "variable"
    return True


def _is_block_local(builder: Builder) -> bool:
    """Whether a variable at module level is shut in a block: `let` in an `if`, a loop's counter."""
    owner = builder.frames[-1].draft
    if owner is None or not owner.is_root:
        return False
    statement, *outer = reversed(builder.ancestors[-2:])
    if statement.type != "variable_declaration":
        return True
    return bool(outer) and outer[0].type == "for_statement"


def _start_at_statement(builder: Builder, node: Node) -> None:
    """Let the first of several declarators begin where their statement does."""
    # In a broken file a declarator may stand at the top, without a statement.
    if not builder.ancestors or builder.ancestors[-1].named_child_count < 2:
        return
    statement, *outer = reversed(builder.ancestors[-2:])
    if first_named(statement) != node:
        return
    is_export = bool(outer) and outer[0].type in ("export_statement", "ambient_declaration")
    builder.prefix(outer[0] if is_export else statement)


def field_definition(builder: Builder, node: Node) -> bool:
    """A class field; one that holds a function is a method."""
    name = node.child_by_field_name("name") or node.child_by_field_name("property")
    if name is None or builder.level is not Level.TYPE:
        return True
    value = node.child_by_field_name("value")
    code = callable_value(builder, value)
    if code is not None:
        define_code(builder, node, name, code, kinds=("method", "property"))
        return True
    modifiers, decorators = marks(builder, node)
    builder.define(
        node,
        "property",
        property_name(builder, name),
        name_node=name,
        modifiers=modifiers,
        decorators=decorators,
        signature_end=value_cut(node, value),
    )
    return True


def pair(builder: Builder, node: Node) -> bool:
    """`key: value` in an object: a method where the value is a function with a block of its own."""
    key = first_child(node)
    if key is None:
        return True
    builder.defined.add(key.start_byte)
    value = node.child_by_field_name("value")
    if value is not None and value.type in FUNCTIONS and is_block(builder, value):
        keys = keys_above(builder)
        define_code(builder, node, key, value, kinds=("method", "class"), owner=keys)
    return True


def method_definition(builder: Builder, node: Node) -> bool:
    """A method of a class or an object literal."""
    name = node.child_by_field_name("name")
    if name is None:
        return True
    text = property_name(builder, name)
    modifiers, decorators = marks(builder, node)
    if any(child.type == "*" for child in node.children):
        modifiers.append("generator")
    in_class = builder.level is Level.TYPE
    builder.define(
        node,
        "constructor" if text == "constructor" and in_class else "method",
        text,
        name_node=name,
        body=node.child_by_field_name("body"),
        owner=() if in_class else keys_above(builder),
        modifiers=modifiers,
        decorators=decorators,
    )
    return True


def parameter(builder: Builder, node: Node) -> bool:
    """A parameter; with a modifier a constructor's parameter is a property of its class as well."""
    pattern = node.child_by_field_name("pattern")
    if pattern is None:
        # A tuple's labels look like parameters and bind nothing.
        label = node.child_by_field_name("name")
        if label is not None:
            builder.defined.add(label.start_byte)
        return True
    builder.bind(pattern)
    owner = builder.frames[-1].draft
    if owner is not None and owner.kind == "constructor":
        modifiers, decorators = marks(builder, node)
        if modifiers:
            builder.define(
                node,
                "property",
                builder.text(pattern),
                name_node=pattern,
                modifiers=modifiers,
                decorators=decorators,
            )
    return True


def parameters(builder: Builder, node: Node) -> bool:
    """A parameter list; in JavaScript the patterns are its direct children."""
    for child in node.named_children:
        if child.type in _PATTERNS:
            builder.bind(child)
    return True


def arrow(builder: Builder, node: Node) -> bool:
    """An arrow function, whose single parameter may stand without parentheses."""
    _function(builder, node, None)
    builder.bind(node.child_by_field_name("parameter"))
    return True


def function(builder: Builder, node: Node) -> bool:
    """A function expression."""
    _function(builder, node, node.child_by_field_name("name"))
    return True


def _function(builder: Builder, node: Node, name_node: Node | None) -> None:
    """A symbol if it has a name or is a block given to a call; else only a scope."""
    if node.start_byte in builder.consumed:
        return
    if name_node is not None:
        name = builder.text(name_node)
    else:
        parent = builder.parent
        if parent is None or parent.type != "arguments" or not is_block(builder, node):
            scope(builder, node)
            return
        name = name_of_callback(builder, parent)
    modifiers, _ = marks(builder, node)
    if node.type == "generator_function":
        modifiers.append("generator")
    builder.define(
        node,
        "function",
        name,
        name_node=name_node,
        body=node.child_by_field_name("body"),
        owner=keys_above(builder),
        modifiers=modifiers,
    )


def class_expression(builder: Builder, node: Node) -> bool:
    """A class as a value: always a symbol, since its members need something to belong to."""
    if node.start_byte in builder.consumed:
        return True
    name = node.child_by_field_name("name")
    modifiers, decorators = marks(builder, node)
    builder.define(
        node,
        "class",
        builder.text(name) if name is not None else "anonymous class",
        name_node=name,
        body=node.child_by_field_name("body"),
        level=Level.TYPE,
        owner=keys_above(builder),
        modifiers=modifiers,
        decorators=decorators,
    )
    return True


def scope(builder: Builder, _node: Node) -> bool:
    """Code that is no symbol, but whose variables are local to it."""
    if builder.level is not Level.FUNCTION:
        builder.scope(Level.FUNCTION)
    return True


def define_code(
    builder: Builder,
    node: Node,
    name: Node,
    code: Node,
    *,
    kinds: tuple[str, str],
    owner: Sequence[str] = (),
) -> Draft:
    """A declaration whose value is code: the value's body is the symbol's body.

    `kinds` are what it is called when the code is a function, and when it is a class.
    """
    builder.consumed.add(code.start_byte)
    modifiers, decorators = marks(builder, node)
    inner, _ = marks(builder, code)
    is_class = code.type == "class"
    if code.type == "generator_function":
        inner.append("generator")
    own_name = code.child_by_field_name("name") if code.type != "arrow_function" else None
    if own_name is not None:
        builder.defined.add(own_name.start_byte)
    return builder.define(
        node,
        kinds[1] if is_class else kinds[0],
        property_name(builder, name),
        name_node=name,
        body=code.child_by_field_name("body"),
        level=Level.TYPE if is_class else Level.FUNCTION,
        owner=owner,
        modifiers=[*modifiers, *inner],
        decorators=decorators,
    )
