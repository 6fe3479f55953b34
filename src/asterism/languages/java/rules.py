"""Java: types of every kind and their members, anonymous classes, lambdas, packages, modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import (
    binds,
    child_of,
    children_of,
    definition,
    marks,
    silence,
    silent,
    skip,
    value_cut,
)
from asterism.analysis.syntax.text import Conventions, fold
from asterism.languages.shared import (
    callback_name,
    declare_exports,
    declare_parameter,
    is_local,
    owner_kind,
    spans_lines,
)
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node

_ANNOTATIONS = frozenset({"marker_annotation", "annotation"})
_NAMES = ("identifier", "scoped_identifier")

CONVENTIONS = Conventions(
    identifiers=frozenset({"identifier", "type_identifier"}),
    comments=frozenset({"line_comment", "block_comment"}),
    skipped=frozenset(
        {
            *("string_fragment", "multiline_string_fragment", "character_literal"),
            *("decimal_integer_literal", "hex_integer_literal", "decimal_floating_point_literal"),
        }
    ),
    members={
        "field_access": ("object", "field"),
        "method_invocation": ("object", "name"),
        "scoped_identifier": ("scope", "name"),
    },
    statements=dict.fromkeys(
        (
            *("if_statement", "for_statement", "enhanced_for_statement", "while_statement"),
            *("do_statement", "try_statement", "try_with_resources_statement"),
            *("switch_expression", "synchronized_statement", "return_statement"),
            *("throw_statement", "labeled_statement", "block"),
        ),
        "control",
    ),
    modifiers=frozenset(
        {
            *("public", "protected", "private", "abstract", "static", "final", "strictfp"),
            *("default", "synchronized", "native", "transient", "volatile", "sealed"),
            *("non-sealed", "open"),
        }
    ),
    modifier_groups=frozenset({"modifiers"}),
    decorators=_ANNOTATIONS,
    doc_gap=1,
    terminators=(";", "="),
)


def _package(builder: Builder, node: Node) -> bool:
    """`package a.b;`: only its annotations are uses of anything."""
    name = child_of(*_NAMES)(node)
    if name is None:
        return True
    if builder.at_statement:
        builder.root_item(node, "package")
    silence(builder, name)
    return True


def _import(builder: Builder, node: Node) -> bool:
    """`import a.b.C;`, `import static a.B.c;`, `import a.b.*;`."""
    path = child_of(*_NAMES)(node)
    # An unfinished import takes in words of the next line, which are not its own.
    module, broken, _ = builder.text(path).partition("\n") if path is not None else ("", "", "")
    name = "" if broken else "*"
    if child_of("asterisk")(node) is None and not broken:
        module, _, name = module.rpartition(".")
    module = module.rstrip(". \t")
    if builder.at_statement:
        builder.root_item(node, "import", f"import:{module}")
    builder.add_import(node, module, [ImportedName(name)] if name else [])
    return False


def _module(builder: Builder, node: Node) -> bool:
    """`open module a.b { … }`."""
    name = node.child_by_field_name("name")
    if name is None:
        return True
    modifiers, decorators = marks(builder, node)
    builder.define(
        node,
        "module",
        builder.text(name),
        name_node=name,
        body=node.child_by_field_name("body"),
        level=Level.MODULE,
        modifiers=modifiers,
        decorators=decorators,
    )
    silence(builder, name)
    return True


def _requires(builder: Builder, node: Node) -> bool:
    """`requires transitive java.sql;` in a module declaration."""
    builder.add_import(node, builder.field_text(node, "module") or "")
    return False


def _exports(builder: Builder, node: Node) -> bool:
    """`exports a.b to c;` in a module declaration."""
    package = builder.field_text(node, "package") or ""
    builder.add_export(package, package, node)
    return False


def _field(builder: Builder, node: Node) -> bool:
    """A declaration of variables: a symbol, or one for each of several declarators."""
    _no_type(builder, node)
    if builder.level is not Level.TYPE and not builder.at_statement:
        return True
    modifiers, decorators = marks(builder, node)
    declarators = node.children_by_field_name("declarator")
    if len(declarators) != 1:
        builder.wrap(node, modifiers, decorators, widens=False)
        return True
    name = declarators[0].child_by_field_name("name")
    if name is not None:
        builder.define(
            node,
            "property" if builder.level is Level.TYPE else "variable",
            builder.text(name),
            name_node=name,
            modifiers=modifiers,
            decorators=decorators,
            signature_end=value_cut(node, declarators[0].child_by_field_name("value")),
        )
    return True


def _declarator(builder: Builder, node: Node) -> bool:
    """One variable: a local in code; of several in one declaration, a symbol of its own."""
    name = node.child_by_field_name("name")
    if name is None or name.start_byte in builder.defined:
        return True
    frame = builder.frames[-1]
    at_top = frame.statements and builder.depth == frame.depth + 2
    if builder.level is not Level.TYPE and not at_top:
        builder.bind(name)
        return True
    draft = builder.define(
        node,
        "variable" if at_top else "property",
        builder.text(name),
        name_node=name,
        signature_end=value_cut(node, node.child_by_field_name("value")),
    )
    statement = node.parent
    if statement is not None:
        draft.signature = f"{_field_head(builder, statement)} {draft.signature}"
    return True


def _field_head(builder: Builder, statement: Node) -> str:
    """Modifiers and type, which all declarators of a statement share."""
    kind = statement.child_by_field_name("type")
    end = kind.end_byte if kind is not None else statement.start_byte
    _, decorators = marks(builder, statement)
    return builder.signature(statement, statement.start_byte, end, decorators)


def _parameter(builder: Builder, node: Node) -> bool:
    """A parameter binds a local; a record's component is a property of the record."""
    declarator = child_of("variable_declarator")(node) or node
    name = declarator.child_by_field_name("name")
    return declare_parameter(builder, node, name, is_property=builder.level is Level.TYPE)


def _initializer(builder: Builder, node: Node) -> bool:
    """`static { … }` and `{ … }` in a type: code that constructs it."""
    if builder.level is not Level.TYPE:
        return True
    if node.type == "static_initializer":
        body = child_of("block")(node)
        builder.define(node, "constructor", "static", body=body, modifiers=("static",))
    else:
        builder.define(node, "constructor", "init", body=node).signature = "{ … }"
    return True


def _creation(builder: Builder, node: Node) -> bool:
    """`new Runnable() { … }`: an anonymous class, where it has members."""
    body, kind = child_of("class_body")(node), node.child_by_field_name("type")
    if body is not None and kind is not None and body.named_child_count:
        head = builder.text(kind).partition("<")[0]
        builder.define(node, "class", f"new {fold(head)}", body=body, level=Level.TYPE)
    return True


def _lambda(builder: Builder, node: Node) -> bool:
    """A function value: a symbol where it is a block given to a call."""
    parameters, body = node.child_by_field_name("parameters"), node.child_by_field_name("body")
    if body is not None and body.type == "block" and spans_lines(body):
        around = node.parent
        if around is not None and around.type == "argument_list" and around.parent is not None:
            name = _lambda_name(builder, around.parent, around.named_children[0])
            builder.define(node, "function", name, body=body)
    if parameters is not None and parameters.type in ("identifier", "inferred_parameters"):
        builder.bind(parameters)
    return True


def _lambda_name(builder: Builder, call: Node, first: Node) -> str:
    receiver = builder.field_text(call, "object") or ""
    fields = (builder.field_text(call, name) for name in ("name", "type", "constructor"))
    callee = next((text for text in fields if text), "")
    title = builder.text(first) if first.type == "string_literal" else ""
    return callback_name(receiver, callee, title)


def _scoped(builder: Builder, node: Node) -> bool:
    """`Outer.Inner` and `Type::method`: the last name is looked up on what comes before."""
    if node.named_child_count > 1:
        builder.member(node.named_children[0], node.named_children[-1])
    return True


def _binds_last(builder: Builder, node: Node) -> bool:
    """A pattern `Type name`: the last identifier is bound."""
    _no_type(builder, node)
    names = list(children_of(node, "identifier"))
    if names:
        builder.bind(names[-1])
    return True


def _no_type(builder: Builder, node: Node) -> bool:
    """`var` replaces a type and is not one."""
    kind = child_of("type_identifier")(node)
    if kind is not None and kind.text == b"var":
        builder.defined.add(kind.start_byte)
    return True


def _loop(builder: Builder, node: Node) -> bool:
    """`for (T item : items)`, `try (T handle = open())`."""
    _no_type(builder, node)
    builder.bind(node.child_by_field_name("name"))
    return True


def _element(_builder: Builder, _node: Node, draft: Draft) -> None:
    """In an annotation `default` introduces a value; it is no modifier."""
    draft.modifiers = [word for word in draft.modifiers if word != "default"]


def _type_parameter(builder: Builder, node: Node) -> bool:
    builder.bind(child_of("type_identifier", "identifier")(node))
    return True


def _label(builder: Builder, node: Node) -> bool:
    """`outer:`, `break outer;`: labels are not names of anything."""
    label = child_of("identifier")(node)
    if label is not None:
        builder.defined.add(label.start_byte)
    return True


def _exported(draft: Draft, builder: Builder) -> bool:
    """Public by keyword or, in interfaces, annotations, enums and records, by default."""
    if is_local(builder, draft):
        return False
    if "public" in draft.modifiers or draft.kind in ("enum_member", "module"):
        return True
    owner = owner_kind(builder, draft)
    if owner == "record":
        # Of a record's properties only the components are not static.
        return draft.kind == "property" and "static" not in draft.modifiers
    return owner in ("interface", "annotation") and "private" not in draft.modifiers


RULES: dict[str, Rule] = {
    "package_declaration": _package,
    "import_declaration": _import,
    "module_declaration": _module,
    "requires_module_directive": _requires,
    "exports_module_directive": _exports,
    "opens_module_directive": skip,
    "class_declaration": definition("class", level=Level.TYPE),
    "interface_declaration": definition("interface", level=Level.TYPE),
    "enum_declaration": definition("enum", level=Level.TYPE),
    "record_declaration": definition("record", level=Level.TYPE),
    "annotation_type_declaration": definition("annotation", level=Level.TYPE),
    "enum_constant": definition("enum_member", level=Level.TYPE),
    "method_declaration": definition("method"),
    "annotation_type_element_declaration": definition("method", after=_element),
    "constructor_declaration": definition("constructor"),
    "compact_constructor_declaration": definition("constructor"),
    "field_declaration": _field,
    "constant_declaration": _field,
    "local_variable_declaration": _field,
    "variable_declarator": _declarator,
    "static_initializer": _initializer,
    "block": _initializer,
    "object_creation_expression": _creation,
    "lambda_expression": _lambda,
    "formal_parameter": _parameter,
    "spread_parameter": _parameter,
    "catch_formal_parameter": binds("name"),
    "enhanced_for_statement": _loop,
    "resource": _loop,
    "instanceof_expression": binds("name"),
    "type_pattern": _binds_last,
    "record_pattern_component": _binds_last,
    "type_parameter": _type_parameter,
    "scoped_type_identifier": _scoped,
    "method_reference": _scoped,
    "element_value_pair": silent("key"),
    "labeled_statement": _label,
    "break_statement": _label,
    "continue_statement": _label,
}

JAVA = Language(
    "java",
    ("tree_sitter_java", "language"),
    CONVENTIONS,
    RULES,
    _exported,
    declare_exports(_exported),
)
