"""Kotlin: classes, objects, functions and their receivers, properties, trailing lambdas."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import (
    child_of,
    children_of,
    definition,
    marks,
    silent,
    value_cut,
)
from asterism.analysis.syntax.text import Conventions, fold
from asterism.languages.kotlin.annotations import (
    annotated,
    assignment,
    function_value,
    infix,
    readable,
)
from asterism.languages.shared import declare_exports, declare_parameter, is_local
from asterism.types.outline import ImportedName, Span

if TYPE_CHECKING:
    from tree_sitter import Node

_TYPES = ("user_type", "nullable_type", "parenthesized_type", "non_nullable_type", "function_type")
_ACCESSORS = ("getter", "setter")

# The grammar takes these for names; no declaration in another file is meant by them.
_LITERALS = frozenset({"true", "false", "null"})

CONVENTIONS = Conventions(
    identifiers=frozenset({"identifier"}),
    comments=frozenset({"line_comment", "block_comment", "shebang"}),
    skipped=frozenset(
        {"string_content", "character_literal", "number_literal", "float_literal", "label"}
    ),
    statements=dict.fromkeys(
        (
            *("if_expression", "when_expression", "try_expression", "for_statement"),
            *("while_statement", "do_while_statement", "return_expression", "throw_expression"),
        ),
        "control",
    ),
    modifiers=frozenset(
        {
            *("class_modifier", "function_modifier", "inheritance_modifier", "member_modifier"),
            *("parameter_modifier", "platform_modifier", "property_modifier"),
            *("visibility_modifier", "companion"),
        }
    ),
    modifier_groups=frozenset({"modifiers"}),
    decorators=frozenset({"annotation"}),
    pattern_stops=frozenset({*_TYPES, "annotation"}),
    terminators=(";", "="),
)


def _import(builder: Builder, node: Node) -> bool:
    """`import a.b.C`, `import a.b.C as D`, `import a.b.*`."""
    path = child_of("qualified_identifier", "identifier")(node)
    module, name = builder.text(path) if path is not None else "", "*"
    if not any(child.type == "*" for child in node.children):
        module, _, name = module.rpartition(".")
    alias = next((child for child in children_of(node, "identifier") if child != path), None)
    if builder.at_statement:
        builder.root_item(node, "import", f"import:{module}")
    builder.add_import(
        node, module, [ImportedName(name, builder.text(alias) if alias is not None else None)]
    )
    return False


def _package(builder: Builder, node: Node) -> bool:
    if builder.at_statement:
        builder.root_item(node, "package")
    return False


def _file_annotation(builder: Builder, node: Node) -> bool:
    """`@file:JvmName("x")`: the comment above is about the file."""
    if builder.at_statement:
        builder.frames[-1].last_end = node.start_byte
        builder.root_item(node, "directive")
    return True


def _class_kind(_builder: Builder, node: Node) -> str:
    """`class`, `interface`, `enum class` or `annotation class`."""
    if any(child.type == "interface" for child in node.children):
        return "interface"
    group = child_of("modifiers")(node)
    words = [child.text for child in children_of(group, "class_modifier")] if group else []
    return "enum" if b"enum" in words else "annotation" if b"annotation" in words else "class"


def _companion(builder: Builder, node: Node) -> bool:
    """`companion object`, by name or not."""
    name = node.child_by_field_name("name")
    modifiers, decorators = marks(builder, node)
    builder.define(
        node,
        "object",
        builder.text(name) if name is not None else "Companion",
        name_node=name,
        body=child_of("class_body")(node),
        level=Level.TYPE,
        modifiers=modifiers,
        decorators=decorators,
    )
    return True


def _object_literal(builder: Builder, node: Node) -> bool:
    """`object : Listener { … }`: an object without a name, where it has members."""
    body = child_of("class_body")(node)
    if body is None or not body.named_child_count:
        return True
    name = "object"
    bases = child_of("delegation_specifiers")(node)
    if bases is not None and bases.named_child_count:
        base = builder.text(bases.named_children[0])
        name = f"object : {fold(base.partition('<')[0].partition('(')[0])}"
    builder.define(node, "object", name, body=body, level=Level.TYPE)
    return True


def _function_kind(builder: Builder, _node: Node) -> str:
    return "method" if builder.level is Level.TYPE else "function"


def _receiver(builder: Builder, node: Node) -> tuple[str, ...]:
    """The type an extension belongs to: the one that stands before the name."""
    for child in node.named_children:
        if child.type in _TYPES:
            text = builder.text(child).partition("<")[0].strip("()? ")
            return (fold(text),)
        if child.type in ("identifier", "variable_declaration", "multi_variable_declaration"):
            break
    return ()


def _property(builder: Builder, node: Node) -> bool:
    """`val` and `var`, with their accessors; inside functions a local."""
    variable = child_of("variable_declaration", "multi_variable_declaration")(node)
    in_block = builder.level is Level.MODULE and not builder.at_statement and _in_root(builder)
    if variable is None or builder.level is Level.FUNCTION or in_block:
        return True
    modifiers, decorators = marks(builder, node)
    accessors = list(children_of(node, *_ACCESSORS))
    value = variable.next_named_sibling
    end = accessors[0].start_byte if accessors else value_cut(node, value)
    names = _names(variable)
    for name in names:
        draft = builder.define(
            node,
            "const" if "const" in modifiers else "property",
            builder.text(name),
            name_node=name,
            owner=_receiver(builder, node),
            modifiers=modifiers,
            decorators=decorators,
            signature_end=end,
            opens=name == names[-1],
        )
        if accessors:
            draft.body = Span(accessors[0].start_byte, accessors[-1].end_byte)
            draft.bind("field")
    return True


def _names(variable: Node) -> list[Node]:
    """The names a declaration introduces: one, or those of `(a, b)`."""
    parts = [variable]
    if variable.type == "multi_variable_declaration":
        parts = list(children_of(variable, "variable_declaration"))
    names = (child_of("identifier")(part) for part in parts)
    return [name for name in names if name is not None]


def _in_root(builder: Builder) -> bool:
    """Whether the walk is inside a statement of a script, whose blocks have locals."""
    return builder.owner is not None and builder.owner.is_root


def _class_parameter(builder: Builder, node: Node) -> bool:
    """A constructor's parameter: with `val` or `var` a property, else a local of the class."""
    name = child_of("identifier")(node)
    marked = any(child.type in ("val", "var") for child in node.children)
    is_property = marked and builder.level is Level.TYPE
    return declare_parameter(builder, node, name, is_property=is_property)


def _constructor(builder: Builder, node: Node) -> bool:
    """`constructor(…) : this(…) { … }` and `init { … }`."""
    modifiers, decorators = marks(builder, node)
    builder.define(
        node,
        "constructor",
        "init" if node.type == "anonymous_initializer" else "constructor",
        body=child_of("block")(node),
        modifiers=modifiers,
        decorators=decorators,
    )
    return True


def _enum_entry(builder: Builder, node: Node) -> bool:
    name = child_of("identifier")(node)
    if name is not None:
        builder.define(
            node,
            "enum_member",
            builder.text(name),
            name_node=name,
            body=child_of("class_body")(node),
            level=Level.TYPE,
            decorators=marks(builder, node)[1],
        )
    return True


def _member(builder: Builder, node: Node) -> bool:
    """`a.b`, `a?.b`, `A::b`: the last name is looked up on what comes before."""
    last = node.named_children[-1] if node.named_child_count > 1 else None
    if last is not None and last.type == "identifier":
        builder.member(node.named_children[0], last)
        if last.text == b"class":
            builder.defined.add(last.start_byte)
    return True


def _user_type(builder: Builder, node: Node) -> bool:
    """`Map.Entry<K, V>`: each name is looked up on the one before."""
    names = list(children_of(node, "identifier"))
    for before, name in pairwise(names):
        builder.member(before, name)
    return True


def _argument(builder: Builder, node: Node) -> bool:
    """`name = value`: the name is the parameter's."""
    if len(node.children) > 1 and node.children[1].type == "=":
        builder.defined.add(node.children[0].start_byte)
    return True


def _binds_first(builder: Builder, node: Node) -> bool:
    """A parameter, loop variable or the like: the first name is bound, the rest is its type."""
    name = child_of("identifier")(node)
    if name is not None and name.start_byte not in builder.defined:
        builder.bind(name)
    return True


def _labelled(builder: Builder, node: Node) -> bool:
    """`break@outer`: what the grammar takes for a labelled name is a jump."""
    label = node.named_children[0] if node.named_child_count else None
    if label is not None and label.text in (b"break@", b"continue@"):
        builder.defined.add(node.named_children[-1].start_byte)
    return True


def _exported(draft: Draft, builder: Builder) -> bool:
    """Public unless the modifiers say otherwise or a function is around it."""
    hidden = "private" in draft.modifiers or "internal" in draft.modifiers
    return not hidden and draft.name != "init" and not is_local(builder, draft)


def _finish(builder: Builder) -> None:
    for draft in builder.drafts:
        if draft.parent is None:
            for word in _LITERALS:
                draft.bind(word)
    declare_exports(_exported)(builder)


_BODY = child_of("class_body", "enum_class_body")

RULES: dict[str, Rule] = {
    "import": _import,
    "package_header": _package,
    "file_annotation": _file_annotation,
    "class_declaration": definition(_class_kind, body=_BODY, level=Level.TYPE),
    "object_declaration": definition("object", body=_BODY, level=Level.TYPE),
    "infix_expression": infix,
    "annotated_expression": annotated,
    "assignment": assignment,
    "companion_object": _companion,
    "object_literal": _object_literal,
    "enum_entry": _enum_entry,
    "function_declaration": definition(
        _function_kind, body=child_of("function_body"), owner=_receiver
    ),
    "secondary_constructor": _constructor,
    "anonymous_initializer": _constructor,
    "property_declaration": _property,
    "type_alias": definition("type", name="type"),
    "class_parameter": _class_parameter,
    "lambda_literal": function_value,
    "anonymous_function": function_value,
    "parameter": _binds_first,
    "variable_declaration": _binds_first,
    "type_parameter": _binds_first,
    "catch_block": _binds_first,
    "setter": _binds_first,
    "navigation_expression": _member,
    "callable_reference": _member,
    "user_type": _user_type,
    "value_argument": _argument,
    "return_expression": silent("label"),
    "labeled_expression": _labelled,
}

KOTLIN = Language(
    "kotlin", ("tree_sitter_kotlin", "language"), CONVENTIONS, RULES, _exported, _finish, readable
)
