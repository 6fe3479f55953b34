"""C++: what C has, and namespaces, classes, templates, lambdas, aliases, concepts."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import binds, binds_children, children_of
from asterism.languages.c_family import c, damage, declarations, declarators
from asterism.languages.shared import callback_name, declare_exports, spans_lines
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node


# C++20's module lines, which the grammar reads as odd declarations.
_MODULE_LINE = re.compile(
    r"(?:export\s+)?(?P<word>import|module)\s*(?P<name>[<\"]?[\w.:/]*[>\"]?)\s*;?\s*$"
)


def using(builder: Builder, node: Node) -> bool:
    """`using namespace a;` and `using a::b;`; in a class it names a base's members instead."""
    if builder.level is Level.TYPE or not node.named_child_count:
        return True
    target = builder.text(node.named_children[-1]).replace(" ", "")
    whole = any(child.type in ("namespace", "enum") for child in node.children)
    scope, _, name = target.rpartition("::")
    module = target if whole else scope
    if builder.at_statement:
        builder.root_item(node, "import", f"import:{target}")
    builder.add_import(node, module, [ImportedName("*" if whole else name)])
    return False


def namespace_alias(builder: Builder, node: Node) -> bool:
    """`namespace fs = std::filesystem;`."""
    name = node.child_by_field_name("name")
    if name is None:
        return True
    module = builder.text(node.named_children[-1]).replace(" ", "")
    if builder.at_statement:
        builder.root_item(node, "import", f"import:{module}")
    builder.add_import(node, module, [ImportedName("*", builder.text(name))])
    return False


def module_line(builder: Builder, node: Node) -> bool:
    """`import x;` and `export module y;`; returns whether the node is one of these."""
    if not builder.at_statement or node.end_byte - node.start_byte > 200:
        return False
    found = _MODULE_LINE.match(builder.text(node))
    if found is None:
        return False
    name = found["name"].strip('<>"')
    if found["word"] == "module":
        builder.root_item(node, "package")
    elif name:
        builder.root_item(node, "import", f"import:{name}")
        builder.add_import(node, name)
    else:
        return False
    builder.defined.update(child.start_byte for child in _leaves(node))
    return True


def _leaves(node: Node) -> list[Node]:
    pending, leaves = [node], []
    while pending:
        here = pending.pop()
        if here.named_child_count:
            pending.extend(here.named_children)
        else:
            leaves.append(here)
    return leaves


# Keywords the grammar reads like calls of templates.
_CASTS = frozenset({"static_cast", "dynamic_cast", "const_cast", "reinterpret_cast"})

CONVENTIONS = replace(
    c.CONVENTIONS,
    identifiers=c.IDENTIFIERS | {"namespace_identifier"},
    skipped=c.SKIPPED | {"raw_string_literal"},
    members={"field_expression": ("argument", "field"), "qualified_identifier": ("scope", "name")},
    statements={
        **c.STATEMENTS,
        "for_range_loop": "control",
        "try_statement": "control",
        "throw_statement": "control",
    },
)


def _namespace(builder: Builder, node: Node) -> bool:
    """`namespace a::b { … }`; a nameless one hides what it holds."""
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    parts = [] if name is None else builder.text(name).replace(" ", "").split("::")
    *scope, label = [part.removeprefix("inline") for part in parts] or [
        declarators.ANONYMOUS.format("namespace")
    ]
    if name is not None:
        builder.defined.update(part.start_byte for part in name.named_children)
    inline = any(child.type == "inline" for child in node.children)
    builder.define(
        node,
        "namespace",
        label,
        name_node=name,
        body=body,
        level=Level.MODULE,
        owner=scope,
        modifiers=("inline",) if inline else (),
    )
    return True


def _template(builder: Builder, node: Node) -> bool:
    """`template <…>`: part of what it declares, so that its parameters are bound inside."""
    if node.start_byte in builder.consumed:
        return True
    inner = node
    while inner.type == "template_declaration" and inner.named_child_count:
        inner = inner.named_children[-1]
    if inner.type == "friend_declaration":
        return True
    before = len(builder.drafts)
    if inner.type == "function_definition":
        declarations.define_function(builder, node, inner)
    elif inner.type in ("declaration", "field_declaration"):
        declarations.define_declaration(builder, node, inner)
    elif inner.type in declarators.RECORDS:
        declarators.define_record(builder, node, inner)
    elif inner.type in ("alias_declaration", "concept_definition"):
        _define_type(builder, node, inner)
    if len(builder.drafts) > before:
        builder.consumed.add(inner.start_byte)
    return True


def _type(builder: Builder, node: Node) -> bool:
    """`using Name = …;` and `concept Name = …;`."""
    if node.start_byte not in builder.consumed:
        _define_type(builder, node, node)
    return True


def _define_type(builder: Builder, outer: Node, node: Node) -> None:
    name = node.child_by_field_name("name")
    if name is None:
        return
    if builder.level is Level.FUNCTION:
        builder.bind(name)
    else:
        builder.define(
            outer, "type", builder.text(name), name_node=name, modifiers=declarators.access(builder)
        )


def _friend(builder: Builder, node: Node) -> bool:
    """A friend with a body is a function; one without declares what stands elsewhere."""
    if next(children_of(node, "function_definition", "template_declaration"), None) is not None:
        builder.wrap(node, ("friend",))
    else:
        builder.consumed.update(part.start_byte for part in children_of(node, "declaration"))
    return True


def _access_specifier(builder: Builder, node: Node) -> bool:
    """`public:` holds for what follows; kept on the class, for its members to read."""
    owner = builder.owner
    # In damaged code the word may be missing.
    word = builder.text(node).strip().partition(" ")[0]
    # In a list of bases the same node says how a base is inherited, and no colon follows.
    is_section = builder.source[node.end_byte : node.end_byte + 40].lstrip()[:1] == b":"
    if owner is not None and builder.level is Level.TYPE and is_section:
        owner.section = word
    return True


def _template_call(builder: Builder, node: Node) -> bool:
    """`static_cast<T>(x)` looks like a use of something called so."""
    name = node.child_by_field_name("name")
    if name is not None and builder.text(name) in _CASTS:
        builder.defined.add(name.start_byte)
    return True


def _instantiation(builder: Builder, node: Node) -> bool:
    """`template class Foo<int>;` uses a template, it declares nothing."""
    builder.consumed.update(part.start_byte for part in node.named_children)
    # The grammar wants a declarator and makes up an empty one.
    builder.defined.update(part.start_byte for part in node.named_children if part.is_missing)
    return True


def _declaration(builder: Builder, node: Node) -> bool:
    """A declaration, unless it is `import` or `module`, which the grammar does not know."""
    return module_line(builder, node) or declarations.declaration(builder, node)


def _statement(builder: Builder, node: Node) -> bool:
    """A statement; in a class the grammar misread, constructors look like calls."""
    owner = builder.owner
    if builder.level is Level.TYPE and owner is not None and node.named_child_count:
        call = node.named_children[0]
        callee = call.child_by_field_name("function")
        if callee is not None and builder.text(callee) == owner.name:
            modifiers = declarators.access(builder)
            builder.define(node, "constructor", owner.name, name_node=callee, modifiers=modifiers)
            return True
    return module_line(builder, node) or c.statement(builder, node)


def _lambda(builder: Builder, node: Node) -> bool:
    """A lambda of several lines given to a call is a symbol named by that call."""
    body = node.child_by_field_name("body")
    if node.start_byte in builder.consumed or body is None:
        return True
    if not spans_lines(body):
        return True
    arguments = node.parent
    if arguments is None or arguments.type != "argument_list":
        return True
    builder.define(node, "function", _callback_name(builder, arguments), body=body)
    return True


def _callback_name(builder: Builder, arguments: Node) -> str:
    """`visit("title") callback`: the call it is passed to, and the string before it."""
    call = arguments.parent
    callee = None
    if call is not None:
        callee = (
            call.child_by_field_name("function")
            or call.child_by_field_name("type")
            or call.child_by_field_name("declarator")
        )
    first = arguments.named_children[0]
    title = builder.text(first) if first.type == "string_literal" else ""
    return callback_name("", "" if callee is None else builder.text(callee), title)


def _exported(draft: Draft, builder: Builder) -> bool:
    """Visible elsewhere: not private, not `static` outside classes, not in a nameless scope."""
    nameless = declarators.ANONYMOUS.format("namespace")
    if draft.name.startswith(declarators.NAMELESS):
        return False
    while True:
        above = None if draft.parent is None else builder.drafts[draft.parent]
        in_class = above is not None and above.level is Level.TYPE
        if draft.name == nameless or ("static" in draft.modifiers and not in_class):
            return False
        if above is None:
            return True
        if above.level is Level.FUNCTION or (in_class and _is_private(draft, above)):
            return False
        draft = above


def _is_private(draft: Draft, owner: Draft) -> bool:
    """A class hides what a struct shows, unless a section says otherwise; a friend is no member."""
    written = any(word in declarators.ACCESS for word in draft.modifiers)
    if "friend" in draft.modifiers:
        return False
    return "private" in draft.modifiers or (owner.kind == "class" and not written)


def _is_offered(draft: Draft, builder: Builder) -> bool:
    """Exported and usable by its own name; members defined outside their class are not."""
    is_member = draft.kind in ("method", "constructor", "property")
    return not is_member and _exported(draft, builder)


RULES: dict[str, Rule] = {
    **c.RULES,
    "declaration": _declaration,
    "expression_statement": _statement,
    "reference_declarator": damage.function_head,
    "class_specifier": declarators.record,
    "namespace_definition": _namespace,
    "namespace_alias_definition": namespace_alias,
    "using_declaration": using,
    "template_declaration": _template,
    "template_instantiation": _instantiation,
    "template_function": _template_call,
    "alias_declaration": _type,
    "concept_definition": _type,
    "friend_declaration": _friend,
    "access_specifier": _access_specifier,
    "lambda_expression": _lambda,
    "lambda_capture_initializer": binds("left"),
    "optional_parameter_declaration": declarations.parameter,
    "variadic_parameter_declaration": declarations.parameter,
    "type_parameter_declaration": binds_children,
    "variadic_type_parameter_declaration": binds_children,
    "optional_type_parameter_declaration": binds("name"),
    "structured_binding_declarator": binds_children,
    "for_range_loop": declarations.parameter,
}

CPP = Language(
    "cpp",
    ("tree_sitter_cpp", "language"),
    CONVENTIONS,
    RULES,
    _exported,
    declare_exports(_is_offered),
)
