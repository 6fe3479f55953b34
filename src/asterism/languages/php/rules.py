"""PHP: namespaces, classes and their kin, functions, closures, constants, mixed HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import child_of, children_of, definition, marks, root, value_cut
from asterism.analysis.syntax.text import Conventions, decorator_names
from asterism.languages.php import names
from asterism.languages.php.names import CLOSURES, closure
from asterism.languages.shared import declare_exports

if TYPE_CHECKING:
    from tree_sitter import Node

_MEMBERS = (
    *("member_access_expression", "nullsafe_member_access_expression", "member_call_expression"),
    "nullsafe_member_call_expression",
)

CONVENTIONS = Conventions(
    identifiers=frozenset({"name", "variable_name"}),
    comments=frozenset({"comment"}),
    skipped=frozenset({"string", "integer", "float", "string_content", "nowdoc", "text"}),
    members={
        **dict.fromkeys(_MEMBERS, ("object", "name")),
        "scoped_call_expression": ("scope", "name"),
        "scoped_property_access_expression": ("scope", "name"),
    },
    statements={
        **dict.fromkeys(
            (
                *("if_statement", "for_statement", "foreach_statement", "while_statement"),
                *("do_statement", "switch_statement", "try_statement", "return_statement"),
                *("exit_statement", "compound_statement", "goto_statement"),
                "named_label_statement",
            ),
            "control",
        ),
        "text_interpolation": "text",
        "text": "text",
        "declare_statement": "directive",
        "php_tag": "directive",
    },
    modifiers=frozenset(
        {
            *("final_modifier", "abstract_modifier", "readonly_modifier", "static_modifier"),
            "visibility_modifier",
        }
    ),
    decorators=frozenset({"attribute_list"}),
    terminators=(";", "=>", "="),
)


def _attributes(builder: Builder, node: Node, draft: Draft) -> None:
    """Every attribute by name, where the engine names a list by its first."""
    lists = list(children_of(node, "attribute_list"))
    if lists:
        groups = [group for one in lists for group in children_of(one, "attribute_group")]
        found = [part for group in groups for part in children_of(group, "attribute")]
        draft.decorators[:] = decorator_names(builder.source, found)


def _method(builder: Builder, node: Node) -> bool:
    """A method; parameters a constructor promotes are properties beside it."""
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None:
        return True
    modifiers, decorators = marks(builder, node)
    text = builder.text(name)
    draft = builder.define(
        node,
        "constructor" if text == "__construct" else "method",
        text,
        name_node=name,
        body=body,
        modifiers=modifiers,
        decorators=decorators,
        opens=False,
    )
    _attributes(builder, node, draft)
    draft.bind("$this")
    for parameter in _promoted(node):
        _define_property(builder, parameter, parameter)
    builder.extend(draft, node)
    return True


def _promoted(node: Node) -> list[Node]:
    parameters = node.child_by_field_name("parameters")
    if parameters is None:
        return []
    return list(children_of(parameters, "property_promotion_parameter"))


def _define_property(
    builder: Builder, node: Node, element: Node, body: Node | None = None
) -> Draft | None:
    """A property, named as it is accessed: without the `$`."""
    name = element.child_by_field_name("name")
    if name is None:
        return None
    modifiers, decorators = marks(builder, node)
    end = value_cut(node, element.child_by_field_name("default_value"))
    draft = builder.define(
        node,
        "property",
        builder.text(name).lstrip("&$"),
        name_node=name,
        body=body,
        modifiers=modifiers,
        decorators=decorators,
        signature_end=None if body else end,
        opens=False,
    )
    _attributes(builder, node, draft)
    return draft


def _property(builder: Builder, node: Node) -> bool:
    """`public int $a = 1, $b;`, with or without hooks."""
    elements = list(children_of(node, "property_element"))
    hooks = child_of("property_hook_list")(node)
    first: Draft | None = None
    for element in elements:
        draft = _define_property(builder, node, element, hooks)
        if draft is not None and len(elements) > 1:
            draft.signature = _spelled(builder, node, elements[0], element)
        first = first or draft
    if first is not None and len(elements) == 1:
        builder.extend(first, node)
    return True


def _constants(builder: Builder, node: Node) -> bool:
    """`const A = 1, B = 2;`, in a class or outside."""
    elements = list(children_of(node, "const_element"))
    for element in elements:
        name = child_of("name")(element)
        if name is None:
            continue
        modifiers, decorators = marks(builder, node)
        draft = builder.define(
            node,
            "const",
            builder.text(name),
            name_node=name,
            modifiers=modifiers,
            decorators=decorators,
            signature_end=value_cut(node, element.named_children[-1]),
            opens=len(elements) == 1,
        )
        if len(elements) > 1:
            draft.signature = _spelled(builder, node, elements[0], element)
        _attributes(builder, node, draft)
    return True


def _spelled(builder: Builder, node: Node, first: Node, element: Node) -> str:
    """A declaration of several as if it declared this one alone."""
    lead = builder.source[node.start_byte : first.start_byte].decode("utf-8", "replace")
    return " ".join(f"{lead} {builder.text(element)}".split())


def _namespace(builder: Builder, node: Node) -> bool:
    """`namespace A\\B;` holds for the file; with a block it is a symbol."""
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if body is None:
        if builder.at_statement:
            builder.root_item(node, "package")
        return False
    if name is not None:
        builder.defined.update(part.start_byte for part in name.named_children)
    label = "(global namespace)" if name is None else builder.text(name)
    builder.define(node, "namespace", label, name_node=name, body=body, level=Level.MODULE)
    return True


def _statement(builder: Builder, node: Node) -> bool:
    """Statements that define or import: `$x = …;`, `define('X', …);`, `require 'x.php';`."""
    inner = node.named_children[0] if node.named_child_count else None
    if inner is None:
        return True
    if inner.type in names.INCLUDES and builder.at_statement:
        builder.root_item(node, "import", f"import:{names.included_path(builder, inner)}")
    elif inner.type == "assignment_expression":
        _assigned(builder, node, inner)
    elif inner.type == "function_call_expression" and builder.level is Level.MODULE:
        _defined(builder, node, inner)
    return True


def _assigned(builder: Builder, node: Node, assignment: Node) -> None:
    """A variable of the file; a closure in a variable is a function wherever it stands."""
    left, right = assignment.child_by_field_name("left"), assignment.child_by_field_name("right")
    if left is None or right is None or left.type != "variable_name":
        return
    if right.type in CLOSURES:
        builder.consumed.add(right.start_byte)
        body = right.child_by_field_name("body")
        modifiers, _ = marks(builder, right)
        name = builder.text(left)
        builder.define(node, "function", name, name_node=left, body=body, modifiers=modifiers)
    elif builder.at_statement or (builder.level is Level.MODULE and _in_namespace(builder)):
        builder.define(
            node,
            "variable",
            builder.text(left),
            name_node=left,
            signature_end=_class_body(right) or value_cut(node, right),
        )


def _class_body(value: Node) -> int | None:
    """Where the body of `new class … {` begins; a signature stops before it."""
    inner = child_of("anonymous_class")(value)
    body = None if inner is None else child_of("declaration_list")(inner)
    return None if body is None else body.start_byte


def _in_namespace(builder: Builder) -> bool:
    """Whether the current node stands directly in a namespace's block."""
    frame = builder.frames[-1]
    is_block = frame.draft is not None and frame.draft.kind == "namespace"
    return is_block and builder.depth == frame.depth + 2


def _defined(builder: Builder, node: Node, call: Node) -> None:
    """`define('NAME', …)`."""
    arguments = call.child_by_field_name("arguments")
    if builder.field_text(call, "function") != "define" or arguments is None:
        return
    first = arguments.named_children[0] if arguments.named_child_count else None
    value = None if first is None or not first.named_child_count else first.named_children[0]
    if value is not None and value.type in ("string", "encapsed_string"):
        end = value_cut(node, arguments.named_children[-1])
        builder.define(node, "const", builder.text(value)[1:-1], signature_end=end)


def _anonymous_class(builder: Builder, node: Node) -> bool:
    """`new class { … }`, under the name PHP itself gives it."""
    body = child_of("declaration_list")(node)
    if body is not None:
        modifiers, decorators = marks(builder, node)
        draft = builder.define(
            node,
            "class",
            "class@anonymous",
            body=body,
            level=Level.TYPE,
            modifiers=modifiers,
            decorators=decorators,
        )
        _attributes(builder, node, draft)
    return True


def _assignment(builder: Builder, node: Node) -> bool:
    """Inside a function, what is assigned to is a local of it."""
    if builder.level is Level.FUNCTION:
        left = node.child_by_field_name("left")
        if left is not None and left.type in ("variable_name", "list_literal"):
            names.bind(builder, left)
        elif left is not None:
            names.filled(builder, left)
    return True


def _relative(builder: Builder, node: Node) -> bool:
    """`self`, `static` and `parent` are words of the language, not names."""
    name = child_of("name")(node)
    if name is not None and builder.text(name) in ("self", "static", "parent"):
        builder.defined.add(name.start_byte)
    return True


def _hook(builder: Builder, node: Node) -> bool:
    """`get` and `set` of a property are words, not names."""
    name = child_of("name")(node)
    if name is not None:
        builder.defined.add(name.start_byte)
    owner = builder.owner
    if owner is not None:
        owner.bind("$this")
        owner.bind("$value")
    return True


def _exported(draft: Draft, builder: Builder) -> bool:
    """Public or without visibility, and not inside a function or something hidden."""
    while True:
        if any(word.startswith(("private", "protected")) for word in draft.modifiers):
            return False
        if draft.parent is None:
            return True
        draft = builder.drafts[draft.parent]
        # A function inside an expression, such as a closure given to a call, has no name.
        if draft.level is Level.FUNCTION or draft.kind == "expression":
            return False


def _type(kind: str) -> Rule:
    return definition(kind, level=Level.TYPE, after=_attributes)


RULES: dict[str, Rule] = {
    "namespace_definition": _namespace,
    "namespace_use_declaration": names.use,
    **dict.fromkeys(names.INCLUDES, names.include),
    "class_declaration": _type("class"),
    "interface_declaration": _type("interface"),
    "trait_declaration": _type("trait"),
    "enum_declaration": _type("enum"),
    "enum_case": definition("enum_member", after=_attributes),
    "anonymous_class": _anonymous_class,
    "function_definition": definition("function", after=_attributes),
    "method_declaration": _method,
    "property_declaration": _property,
    "property_hook": _hook,
    "const_declaration": _constants,
    "expression_statement": _statement,
    "assignment_expression": _assignment,
    "reference_assignment_expression": _assignment,
    "anonymous_function": closure,
    "arrow_function": closure,
    "anonymous_function_use_clause": names.binds_variables(),
    "simple_parameter": names.binds_variables("name"),
    "variadic_parameter": names.binds_variables("name"),
    "property_promotion_parameter": names.binds_variables("name"),
    "catch_clause": names.binds_variables("name"),
    "static_variable_declaration": names.binds_variables("name"),
    "foreach_statement": names.foreach,
    "named_type": _relative,
    "object_creation_expression": _relative,
    "qualified_name": names.qualified,
    "class_constant_access_expression": names.constant_access,
    **dict.fromkeys((*_MEMBERS, "scoped_call_expression"), names.computed_member),
    "use_as_clause": names.trait_alias,
    "argument": names.argument,
    "global_declaration": names.from_outside,
    "php_tag": root("directive"),
}

PHP = Language(
    "php",
    ("tree_sitter_php", "language_php"),
    CONVENTIONS,
    RULES,
    _exported,
    declare_exports(_exported),
)
