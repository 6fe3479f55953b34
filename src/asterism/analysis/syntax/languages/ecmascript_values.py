"""Functions and classes as values: declarators, fields, object methods, assignments, callbacks."""

from tree_sitter import Node

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.languages.ecmascript_modules import (
    FUNCTIONS,
    require_declaration,
    string_value,
)
from asterism.analysis.syntax.rules import marks, value_cut
from asterism.analysis.syntax.signatures import fold

# React's own wrappers: the component is the function inside.
_COMPONENT_WRAPPERS = frozenset({"forwardRef", "memo", "React.forwardRef", "React.memo"})

# A callback's name quotes the call it is passed to; a long title says no more than its start.
_CALLBACK_NAME_LIMIT = 60

# Syntax around a value that does not change what it is.
_AROUND = frozenset(
    {"parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression"}
)


def declaration(builder: Builder, node: Node) -> bool:
    """`const`, `let`, `var`: each declarator is read when the walk reaches it."""
    declarators = [child for child in node.named_children if child.type == "variable_declarator"]
    if len(declarators) == 1 and require_declaration(builder, node, declarators[0]):
        return False
    keyword = node.children[0].type if node.children else "var"
    builder.wrap(node, (keyword,) if keyword == "const" else (), widens=len(declarators) == 1)
    return True


def declarator(builder: Builder, node: Node) -> bool:
    """One variable: a function, class or symbol; inside functions a local unless it is code."""
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None:
        return True
    callable_ = callable_value(builder, value)
    if callable_ is not None and name.type == "identifier":
        _define_value(builder, node, name, callable_, class_kind="class", function_kind="function")
        return True
    if builder.level is Level.FUNCTION:
        builder.bind(name)
        return True
    if name.type != "identifier":
        _define_pattern(builder, node, name)
        return True
    draft = builder.define(
        node,
        "const",
        builder.text(name),
        name_node=name,
        level=Level.FUNCTION,
        signature_end=value_cut(node, value),
    )
    if "const" not in draft.modifiers:
        draft.kind = "variable"
    return True


def callable_value(builder: Builder, value: Node | None) -> Node | None:
    """The function or class a value is, looking through parentheses, casts and React's wrappers."""
    while value is not None:
        if value.type in FUNCTIONS or value.type == "class":
            return value
        if value.type in _AROUND and value.named_children:
            value = value.named_children[0]
        elif (
            value.type == "call_expression"
            and builder.field_text(value, "function") in _COMPONENT_WRAPPERS
        ):
            arguments = value.child_by_field_name("arguments")
            value = arguments.named_children[0] if arguments and arguments.named_children else None
        else:
            return None
    return None


def field_definition(builder: Builder, node: Node) -> bool:
    """A class field; one that holds a function is a method."""
    name = node.child_by_field_name("name") or node.child_by_field_name("property")
    if name is None or not builder.is_member:
        return True
    value = node.child_by_field_name("value")
    callable_ = callable_value(builder, value)
    if callable_ is not None:
        _define_value(builder, node, name, callable_, class_kind="property", function_kind="method")
        return True
    modifiers, decorators = marks(builder, node)
    builder.define(
        node,
        "property",
        builder.text(name),
        name_node=name,
        modifiers=modifiers,
        decorators=decorators,
        signature_end=value_cut(node, value),
    )
    return True


def pair(builder: Builder, node: Node) -> bool:
    """`key: value` in an object: a method where the value is a function with a block of its own."""
    key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
    if key is None:
        return True
    builder.defined.add(key.start_byte)
    if value is not None and value.type in FUNCTIONS and _is_block(value):
        _define_value(builder, node, key, value, class_kind="class", function_kind="method")
    return True


def method_definition(builder: Builder, node: Node) -> bool:
    """A method of a class or an object literal."""
    name = node.child_by_field_name("name")
    if name is None:
        return True
    text = _property_name(builder, name)
    modifiers, decorators = marks(builder, node)
    if any(child.type == "*" for child in node.children):
        modifiers.append("generator")
    builder.define(
        node,
        "constructor" if text == "constructor" and builder.is_member else "method",
        text,
        name_node=name,
        body=node.child_by_field_name("body"),
        modifiers=modifiers,
        decorators=decorators,
    )
    return True


def assignment(builder: Builder, node: Node) -> bool:
    """`exports.x = …`, `A.prototype.b = function`, `module.exports = …`; others define nothing."""
    if not builder.at_statement and builder.level is Level.FUNCTION:
        return True
    inner = node.named_children[0] if node.named_child_count else None
    if inner is None or inner.type != "assignment_expression":
        return True
    left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
    if left is None or right is None or left.type != "member_expression":
        return True
    target = fold(builder.text(left), _CALLBACK_NAME_LIMIT)
    if target == "module.exports":
        return _assign_module(builder, node, right)
    *owner, name = target.split(".")
    name_node = left.child_by_field_name("property")
    exported = owner in (["exports"], ["module", "exports"])
    callable_ = callable_value(builder, right)
    if exported and right.type == "identifier":
        builder.root_item(node, "export")
        builder.add_export(name, builder.text(right), node)
        return True
    if name_node is None or (callable_ is None and not exported):
        return True
    if callable_ is None:
        draft = builder.define(
            node, "variable", name, name_node=name_node, signature_end=value_cut(node, right)
        )
    else:
        kind = "method" if "prototype" in owner else "function"
        draft = _define_value(
            builder, node, name_node, callable_, class_kind="class", function_kind=kind
        )
    if exported:
        draft.modifiers.insert(0, "exported")
        builder.add_export(name, name, node)
    else:
        draft.path = (*draft.path[:-1], *(part for part in owner if part != "prototype"), name)
    return True


def callback(builder: Builder, node: Node) -> bool:
    """A function or class expression: a symbol if it has a name or is a block given to a call."""
    if node.start_byte in builder.consumed:
        return True
    name_node = node.child_by_field_name("name")
    parent = node.parent
    if parent is not None and parent.type == "export_statement":
        name = builder.text(name_node) if name_node is not None else "default"
    elif name_node is not None:
        name = builder.text(name_node)
    elif parent is not None and parent.type == "arguments" and _is_block(node):
        name = _callback_name(builder, parent)
    else:
        return True
    modifiers, decorators = marks(builder, node)
    body = node.child_by_field_name("body")
    if node.type == "generator_function":
        modifiers.append("generator")
    builder.define(
        node,
        "class" if node.type == "class" else "function",
        name,
        name_node=name_node,
        body=body,
        level=Level.TYPE if node.type == "class" else Level.FUNCTION,
        modifiers=modifiers,
        decorators=decorators,
    )
    return True


def _define_value(
    builder: Builder,
    node: Node,
    name: Node,
    value: Node,
    *,
    class_kind: str,
    function_kind: str,
) -> Draft:
    """A declaration whose value is code: the value's body is the symbol's body."""
    builder.consumed.add(value.start_byte)
    modifiers, decorators = marks(builder, node)
    inner, _ = marks(builder, value)
    is_class = value.type == "class"
    if value.type == "generator_function":
        inner.append("generator")
    return builder.define(
        node,
        class_kind if is_class else function_kind,
        _property_name(builder, name),
        name_node=name,
        body=value.child_by_field_name("body"),
        level=Level.TYPE if is_class else Level.FUNCTION,
        modifiers=[*modifiers, *inner],
        decorators=decorators,
    )


def _define_pattern(builder: Builder, node: Node, pattern: Node) -> None:
    """`const { a, b: c } = …`: one symbol per bound name."""
    before = set(builder.defined)
    builder.bind(pattern)
    starts = sorted(builder.defined - before)
    for start in starts:
        leaf = pattern.descendant_for_byte_range(start, start + 1)
        if leaf is not None:
            draft = builder.define(
                node, "const", builder.text(leaf), name_node=leaf, opens=start == starts[-1]
            )
            if "const" not in draft.modifiers:
                draft.kind = "variable"


def _assign_module(builder: Builder, node: Node, right: Node) -> bool:
    """`module.exports = …`: of a function or class a symbol, of anything else a root item."""
    callable_ = callable_value(builder, right)
    if callable_ is not None:
        name = callable_.child_by_field_name("name")
        builder.consumed.add(callable_.start_byte)
        is_class = callable_.type == "class"
        inner, _ = marks(builder, callable_)
        draft = builder.define(
            node,
            "class" if is_class else "function",
            builder.text(name) if name is not None else "module.exports",
            name_node=name,
            body=callable_.child_by_field_name("body"),
            level=Level.TYPE if is_class else Level.FUNCTION,
            modifiers=["exported", "default", *inner],
        )
        builder.add_export("=", draft.name, node)
        return True
    builder.root_item(node, "export")
    if right.type == "identifier":
        builder.add_export("=", builder.text(right), node)
    elif right.type == "object":
        for part in right.named_children:
            if part.type == "shorthand_property_identifier":
                builder.add_export(builder.text(part), builder.text(part), part)
            elif part.type in ("pair", "method_definition"):
                key = part.child_by_field_name("key") or part.child_by_field_name("name")
                value = part.child_by_field_name("value")
                name = _property_name(builder, key) if key is not None else ""
                named = value is not None and value.type == "identifier"
                local = builder.text(value) if named and value is not None else name
                builder.add_export(name, local, part)
    return True


def _callback_name(builder: Builder, arguments: Node) -> str:
    """`describe("parser") callback`: the call it is passed to, and the string before it."""
    call = arguments.parent
    callee = call.child_by_field_name("function") if call is not None else None
    if callee is None and call is not None:
        callee = call.child_by_field_name("constructor")
    head = fold(builder.text(callee), _CALLBACK_NAME_LIMIT) if callee is not None else ""
    first = arguments.named_children[0]
    title = f'"{string_value(builder, first)}"' if first.type == "string" else ""
    return f"{head}({fold(title, _CALLBACK_NAME_LIMIT)}) callback"


def _property_name(builder: Builder, name: Node) -> str:
    return string_value(builder, name) if name.type == "string" else builder.text(name)


def _is_block(function: Node) -> bool:
    """Whether a function has statements on lines of their own."""
    body = function.child_by_field_name("body")
    return (
        body is not None
        and body.type == "statement_block"
        and body.end_point[0] > body.start_point[0]
    )
