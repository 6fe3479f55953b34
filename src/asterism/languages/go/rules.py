"""Go: functions, methods by receiver, types with their fields, declaration blocks, imports."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import (
    child_of,
    children_of,
    definition,
    never_local,
    share_comment,
    silent,
    transparent,
    value_cut,
)
from asterism.analysis.syntax.text import Conventions
from asterism.languages.go import literals
from asterism.languages.go import literals as blocks
from asterism.types.outline import Span

if TYPE_CHECKING:
    from tree_sitter import Node

# Instructions to tools share the comment above a declaration but do not document it; they are
# told from prose by the blank that is missing behind the slashes.
_DIRECTIVE = re.compile(r"^[ \t]*//((?: ?nolint\b|[a-z0-9]+:[a-z0-9]).*)", re.MULTILINE)


def _declaration(builder: Builder, node: Node) -> bool:
    """`const`, `var`, `type`, `import`: a lone spec takes the keyword, a block is transparent."""
    specs = list(children_of(node, *blocks.SPECS))
    if any(child.type == "(" or child.type in blocks.SPEC_LISTS for child in node.children):
        return transparent(builder, node)
    if len(specs) == 1 and (specs[0].type == "import_spec" or _names(specs[0])):
        builder.wrap(node)
    return True


def _names(node: Node) -> list[Node]:
    """The names a spec, field or parameter declares; `_` names nothing.

    The grammar counts the commas of `const a, b = 1, 2` among the names.
    """
    found = node.children_by_field_name("name")
    return [name for name in found if name.is_named and name.text != b"_"]


def _value_spec(kind: str) -> Rule:
    """A constant or variable: one symbol per name; inside functions a local."""

    def rule(builder: Builder, node: Node) -> bool:
        names, value = _names(node), node.child_by_field_name("value")
        function = literals.only_function(value) if len(names) == 1 else None
        if builder.level is Level.FUNCTION and function is None:
            _bind_names(builder, node)
            return True
        _hide_blanks(builder, node.children_by_field_name("name"))
        if not names and builder.at_statement:
            blocks.cover(builder, node, builder.root_item(node, "expression"))
        first: Draft | None = None
        for name in names:
            draft = builder.define(
                node,
                kind if function is None else "function",
                builder.text(name),
                name_node=name,
                body=literals.body_of(builder, function),
                signature_end=_value_start(value) if function is None else None,
                opens=name == names[-1],
            )
            if function is not None:
                literals.parameters_in_body(builder, function, draft)
            blocks.cover(builder, node, draft)
            first = share_comment(draft, first)
        return True

    return rule


def _value_start(value: Node | None) -> int | None:
    """Where a value of several lines begins: it may hold functions, and is read in the source."""
    if value is None or value.start_point[0] == value.end_point[0]:
        return None
    return value.start_byte


def _type_spec(builder: Builder, node: Node) -> bool:
    """A struct, an interface, or another type under a name."""
    name, value = node.child_by_field_name("name"), node.child_by_field_name("type")
    if name is None:
        return True
    shape = value.type if value is not None else ""
    kind = {"struct_type": "struct", "interface_type": "interface"}.get(shape, "type")
    draft = builder.define(
        node,
        kind,
        builder.text(name),
        name_node=name,
        level=Level.FUNCTION if kind == "type" else Level.TYPE,
        signature_end=_members_start(value) or value_cut(node, value),
    )
    _set_body(draft, value)
    blocks.cover(builder, node, draft)
    return True


def _members_start(shape: Node | None) -> int | None:
    """Where the braces of a struct or interface open."""
    if shape is None or shape.type not in ("struct_type", "interface_type"):
        return None
    fields = child_of("field_declaration_list")(shape)
    if fields is not None:
        return fields.start_byte
    return next((child.start_byte for child in shape.children if child.type == "{"), None)


def _set_body(draft: Draft, shape: Node | None) -> None:
    start = _members_start(shape)
    if start is not None and shape is not None:
        draft.body = Span(start, shape.end_byte)


def _field(builder: Builder, node: Node) -> bool:
    """Fields of a named struct, embedded ones under their type's name."""
    names, shape = _names(node), node.child_by_field_name("type")
    _hide_blanks(builder, node.children_by_field_name("name"))
    if builder.level is not Level.TYPE or shape is None:
        builder.defined.update(name.start_byte for name in node.children_by_field_name("name"))
        return True
    embedded = not node.children_by_field_name("name")
    first: Draft | None = None
    for name in [_base_type(shape) or shape] if embedded else names:
        draft = builder.define(
            node,
            "property",
            builder.text(name),
            # The name of an embedded field is also a use of the type.
            name_node=None if embedded else name,
            level=Level.FUNCTION if _members_start(shape) is None else Level.TYPE,
            signature_end=_members_start(shape),
            opens=embedded or name == names[-1],
        )
        draft.name_offset = name.start_byte
        first = share_comment(draft, first)
    return True


def _base_type(node: Node) -> Node | None:
    """The named type under pointers, package qualifiers and type arguments."""
    if node.type == "type_identifier":
        return node
    if node.type == "qualified_type":
        return node.child_by_field_name("name")
    return next((found for child in node.named_children if (found := _base_type(child))), None)


def _receiver_type(node: Node) -> Node | None:
    receiver = node.child_by_field_name("receiver")
    parameter = receiver.named_children[0] if receiver and receiver.named_children else None
    return parameter.child_by_field_name("type") if parameter is not None else None


def _receiver(builder: Builder, node: Node) -> Sequence[str]:
    """The type a method belongs to, which need not be in the same file."""
    shape = _receiver_type(node)
    base = _base_type(shape) if shape is not None else None
    return (builder.text(base),) if base is not None else ()


_METHOD_OF_TYPE = definition("method", where=lambda builder: builder.level is Level.TYPE)
_SILENT_NAME = silent("name")


def _interface_method(builder: Builder, node: Node) -> bool:
    """A method of a named interface; in `v.(interface{ Name() string })` it names nothing."""
    _SILENT_NAME(builder, node)
    return _METHOD_OF_TYPE(builder, node)


def _after_method(builder: Builder, node: Node, draft: Draft) -> None:
    """`func (p Pair[K, V])` names the type's parameters anew."""
    shape = _receiver_type(node)
    while shape is not None and shape.type != "generic_type":
        shape = shape.named_children[0] if shape.named_children else None
    if shape is None:
        literals.parameters_in_body(builder, node, draft)
    else:
        builder.bind(shape.child_by_field_name("type_arguments"))


def _short_variable(builder: Builder, node: Node) -> bool:
    """`name := …`: a function where the value is one, else a local."""
    left = node.child_by_field_name("left")
    function = literals.only_function(node.child_by_field_name("right"))
    if left is None:
        return True
    if function is None or left.named_child_count != 1:
        builder.bind(left)
        return True
    literals.define_function(builder, node, left.named_children[0], function)
    return True


def _bind_names(builder: Builder, node: Node) -> bool:
    """Parameters, type parameters and locals, several to a declaration."""
    for name in node.children_by_field_name("name"):
        builder.bind(name)
    return True


def _parameter(builder: Builder, node: Node) -> bool:
    """A parameter; those of a function type have no body in which they could be used."""
    around = builder.ancestors[-2:-1]
    if around and around[0].type in ("function_type", "method_elem"):
        names = node.children_by_field_name("name")
        builder.defined.update(name.start_byte for name in names)
        return True
    return _bind_names(builder, node)


def _hide_blanks(builder: Builder, nodes: Sequence[Node]) -> None:
    builder.defined.update(node.start_byte for node in nodes if node.text == b"_")


def _assignment(builder: Builder, node: Node) -> bool:
    """`left = right` binds nothing, and `_` is no name; a function given to a name is one."""
    left = node.child_by_field_name("left")
    if left is None:
        return True
    _hide_blanks(builder, left.named_children)
    function = literals.only_function(node.child_by_field_name("right"))
    if function is None or left.named_child_count != 1 or not literals.is_block(function):
        return True
    name = left.named_children[0]
    if name.type == "identifier" and name.text != b"_":
        literals.define_function(builder, node, name, function)
    return True


def _binds_if_new(name: str) -> Rule:
    """`for k, v := range m`, `case v := <-c`: bindings with `:=`, assignments with `=`."""

    def rule(builder: Builder, node: Node) -> bool:
        if any(child.type == ":=" for child in node.children):
            builder.bind(node.child_by_field_name(name))
        return _assignment(builder, node)

    return rule


def _exported(draft: Draft, builder: Builder) -> bool:
    """A capital initial, on a package-level name or a member of a type."""
    if not draft.name[:1].isupper():
        return False
    at = draft.parent
    while at is not None:
        outer = builder.drafts[at]
        if outer.level is not Level.TYPE:
            return False
        at = outer.parent
    return True


def _without_directives(doc: str, source: str) -> str | None:
    """A doc without the lines that are directives where it was written."""
    found = {text.strip() for text in _DIRECTIVE.findall(source)}
    if not found:
        return doc
    return "\n".join(line for line in doc.split("\n") if line.strip() not in found).strip() or None


def _finish(builder: Builder) -> None:
    for draft in builder.drafts:
        if draft.doc:
            draft.doc = _without_directives(
                draft.doc, builder.slice(draft.start, draft.name_offset)
            )
        if not draft.is_root and len(draft.path) == 1 and _exported(draft, builder):
            builder.declare_export(draft.name, draft)


CONVENTIONS = Conventions(
    identifiers=frozenset(
        {"identifier", "type_identifier", "field_identifier", "package_identifier"}
    ),
    comments=frozenset({"comment"}),
    skipped=frozenset({*literals.STRINGS, "rune_literal", "int_literal", "float_literal"}),
    members={"selector_expression": ("operand", "field"), "qualified_type": ("package", "name")},
    statements=dict.fromkeys(
        (
            *("if_statement", "for_statement", "expression_switch_statement"),
            *("type_switch_statement", "select_statement", "return_statement"),
            *("labeled_statement", "block"),
        ),
        "control",
    ),
    doc_prefixes=("",),
    terminators=(";", "="),
)

RULES: dict[str, Rule] = {
    "package_clause": blocks.package,
    "import_declaration": _declaration,
    "import_spec_list": transparent,
    "import_spec": blocks.import_spec,
    "const_declaration": _declaration,
    "const_spec": _value_spec("const"),
    "var_declaration": _declaration,
    "var_spec_list": transparent,
    "var_spec": _value_spec("variable"),
    "type_declaration": _declaration,
    "type_spec": _type_spec,
    "type_alias": _type_spec,
    "field_declaration": _field,
    "method_elem": _interface_method,
    "function_declaration": definition("function", after=literals.parameters_in_body),
    "method_declaration": definition("method", owner=_receiver, after=_after_method),
    "short_var_declaration": _short_variable,
    "func_literal": literals.function_literal,
    "keyed_element": literals.keyed_element,
    "composite_literal": never_local("type"),
    "assignment_statement": _assignment,
    "range_clause": _binds_if_new("left"),
    "receive_statement": _binds_if_new("left"),
    "type_switch_statement": _binds_if_new("alias"),
    "parameter_declaration": _parameter,
    "variadic_parameter_declaration": _parameter,
    "type_parameter_declaration": _bind_names,
}

GO = Language("go", ("tree_sitter_go", "language"), CONVENTIONS, RULES, _exported, _finish)
