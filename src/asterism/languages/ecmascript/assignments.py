"""Assignments that define: CommonJS exports, prototypes, methods put on an object, `using`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Level
from asterism.analysis.syntax.rules import marks, value_cut
from asterism.analysis.syntax.text import first_child, first_named
from asterism.languages.ecmascript.modules import required_module
from asterism.languages.ecmascript.names import (
    PATHLESS,
    callable_value,
    is_block,
    property_name,
    unwrapped,
)
from asterism.languages.ecmascript.values import define_code
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node

# Names of the module's exports as a whole.
_WHOLE = frozenset({"module.exports", "exports"})


def statement(builder: Builder, node: Node) -> bool:
    """An expression statement: sometimes a namespace, `using`, or an assignment that defines."""
    inner = first_named(node)
    kind = inner.type if inner is not None else ""
    if inner is None or kind == "call_expression":
        _bare_require(builder, node, inner)
    elif kind == "internal_module":
        builder.wrap(node)
    elif kind == "assignment_expression":
        _assignment(builder, node, inner)
    elif kind == "await_expression" and inner.named_child_count == 1:
        awaited = inner.named_children[0]
        if awaited.type == "assignment_expression":
            _using(builder, node, awaited, ("await", "using"))
    return True


def exported_variable(builder: Builder, node: Node) -> bool:
    """`var app = module.exports = …`: a variable that is the module's export as well."""
    name = node.child_by_field_name("name")
    targets, _ = _chain(builder, node)
    if name is not None and _WHOLE.intersection(targets):
        builder.add_export("=", builder.text(name), node)
    return True


def _bare_require(builder: Builder, node: Node, call: Node | None) -> None:
    """`require('x');` by itself is an import for its effects."""
    if call is None or not builder.at_statement:
        return
    if builder.source.startswith(b"require(", call.start_byte):
        module = required_module(builder, call)
        if module is not None:
            builder.root_item(node, "import", f"import:{module}")


def _assignment(builder: Builder, node: Node, inner: Node) -> None:
    first = first_child(inner)
    if first is not None and first.type == "using":
        _using(builder, node, inner, ("using",))
        return
    left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
    if left is None or right is None:
        return
    if builder.level is Level.FUNCTION:
        if left.type == "member_expression":
            _local_method(builder, node, left, right)
        return
    targets, value = _chain(builder, inner)
    if _WHOLE.intersection(targets):
        _assign_module(builder, node, value)
    elif left.type == "member_expression":
        _assign_member(builder, node, left, targets, value)


def _chain(builder: Builder, node: Node) -> tuple[list[str], Node]:
    """The targets of `a = b = … = value`, and the value."""
    targets = []
    value = node
    while value.type == "assignment_expression" or value is node:
        left, right = value.child_by_field_name("left"), value.child_by_field_name("right")
        right = right or value.child_by_field_name("value")
        if right is None:
            break
        if left is not None and left.type in ("member_expression", "identifier"):
            targets.append("".join(builder.text(left).split()))
        value = unwrapped(right)
    return targets, value


def _assign_member(
    builder: Builder, node: Node, left: Node, targets: list[str], value: Node
) -> None:
    """`exports.x = …`, `A.prototype.b = function`, `app.use = function`."""
    *owner, name = targets[0].split(".")
    name_node = left.child_by_field_name("property")
    exports = [target.split(".")[-1] for target in targets if _is_export(target)]
    code = callable_value(builder, value)
    if name_node is None or (code is None and not exports):
        return
    if exports and code is None and _export_only(builder, node, exports, value):
        return
    path = [word for word in owner if word not in PATHLESS]
    if code is None:
        draft = builder.define(
            node, "variable", name, name_node=name_node, signature_end=value_cut(node, value)
        )
    else:
        kind = "method" if "prototype" in owner else "function"
        draft = define_code(builder, node, name_node, code, kinds=(kind, "class"), owner=path)
    if exports:
        draft.modifiers.insert(0, "exported")
    for exported in exports:
        builder.add_export(exported, name, node)


def _is_export(target: str) -> bool:
    head, _, name = target.rpartition(".")
    return head in _WHOLE and bool(name)


def _export_only(builder: Builder, node: Node, names: list[str], value: Node) -> bool:
    """Exports that define nothing here: of a name, of another module, of nothing yet."""
    if value.type == "unary_expression":
        # `exports.a = void 0` is how compilers declare what they assign further down.
        return True
    module = required_module(builder, value)
    if module is not None:
        _reexport(builder, node, module, value, names)
        return True
    if value.type != "identifier":
        return False
    if builder.at_statement:
        builder.root_item(node, "export")
    for name in names:
        builder.add_export(name, builder.text(value), node)
    return True


def _reexport(builder: Builder, node: Node, module: str, call: Node, names: list[str]) -> None:
    """`exports.x = require('y')`, `module.exports = require('y')`."""
    builder.consumed.add(call.start_byte)
    if builder.at_statement:
        builder.root_item(node, "re-export", f"re-export:{module}")
    for name in names:
        builder.add_export(name, "*", node, module)
    aliases = [ImportedName("*", None if name == "=" else name) for name in names]
    builder.add_import(node, module, aliases, reexport=True)


def _assign_module(builder: Builder, node: Node, value: Node) -> None:
    """`module.exports = …`: of a function or class a symbol, of anything else a root item."""
    code = callable_value(builder, value)
    if code is not None:
        _export_code(builder, node, code)
        return
    module = required_module(builder, value)
    if module is not None:
        _reexport(builder, node, module, value, ["="])
        return
    if builder.at_statement:
        builder.root_item(node, "export")
    if value.type == "object":
        _export_object(builder, value)
    else:
        local = builder.text(value) if value.type == "identifier" else "module.exports"
        builder.add_export("=", local, node)


def _export_code(builder: Builder, node: Node, code: Node) -> None:
    name = code.child_by_field_name("name")
    builder.consumed.add(code.start_byte)
    is_class = code.type == "class"
    modifiers, _ = marks(builder, code)
    if code.type == "generator_function":
        modifiers.append("generator")
    draft = builder.define(
        node,
        "class" if is_class else "function",
        builder.text(name) if name is not None else "module.exports",
        name_node=name,
        body=code.child_by_field_name("body"),
        level=Level.TYPE if is_class else Level.FUNCTION,
        modifiers=["exported", *modifiers],
    )
    builder.add_export("=", draft.name, node)


def _export_object(builder: Builder, value: Node) -> None:
    """The names in `module.exports = { a, b: c, d() {} }`."""
    for part in value.named_children:
        if part.type == "shorthand_property_identifier":
            builder.add_export(builder.text(part), builder.text(part), part)
        elif part.type in ("pair", "method_definition"):
            key = part.child_by_field_name("key") or part.child_by_field_name("name")
            inner = part.child_by_field_name("value")
            if key is None or key.type == "computed_property_name":
                continue
            name = property_name(builder, key)
            named = inner is not None and inner.type == "identifier"
            builder.add_export(name, builder.text(inner) if named and inner else name, part)


def _local_method(builder: Builder, node: Node, left: Node, right: Node) -> None:
    """`this.open = function () { … }` inside a function: code put on an object."""
    code = callable_value(builder, right)
    name = left.child_by_field_name("property")
    if code is None or name is None or code.type == "class" or not is_block(builder, code):
        return
    *owner, _ = "".join(builder.text(left).split()).split(".")
    if not all(word.isidentifier() for word in owner):
        return
    on_self = bool({"this", "self", "prototype"} & set(owner))
    path = [word for word in owner if word not in PATHLESS]
    kinds = ("method" if on_self else "function", "class")
    define_code(builder, node, name, code, kinds=kinds, owner=path)


def _using(builder: Builder, node: Node, inner: Node, words: tuple[str, ...]) -> None:
    """`using x = …`, which the TypeScript grammar takes for an assignment."""
    first, name = first_child(inner), inner.child_by_field_name("left")
    if first is None or first.type != "using" or name is None:
        return
    if not builder.at_statement:
        builder.bind(name)
        return
    value = inner.child_by_field_name("right")
    builder.define(
        node,
        "const",
        builder.text(name),
        name_node=name,
        modifiers=words,
        signature_end=value_cut(node, value),
    )
