"""Dart: libraries, types and their members, functions with header and body as siblings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import RECEIVER_LIMIT, Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import (
    binds,
    binds_children,
    child_of,
    children_of,
    definition,
    marks,
    silence,
    skip,
    transparent,
)
from asterism.analysis.syntax.text import Conventions, decorator_names, fold
from asterism.languages.dart.variables import (
    LISTS,
    fields,
    head,
    top_level,
    top_level_name,
    type_name,
    widened,
    without_keywords,
)
from asterism.languages.shared import callback_name, declare_exports, is_local, spans_lines
from asterism.types.outline import ImportedName, Span

if TYPE_CHECKING:
    from tree_sitter import Node

_BODIES = frozenset({"class_body", "extension_body", "enum_body"})
_CONSTRUCTORS = frozenset(
    {
        *("constructor_signature", "constant_constructor_signature"),
        *("factory_constructor_signature", "redirecting_factory_constructor_signature"),
    }
)
_AROUND = frozenset({"method_signature", "declaration", "lambda_expression"})
_SIGNATURES = ("function_signature", "getter_signature", "setter_signature", "operator_signature")

# The function whose body may follow.
_OPEN = "function before its body"

# What a selector follows: names, calls and indexes joined by dots.
_PRIMARY = re.compile(r"[\w$]+(?:\??\.[\w$]+|!|\([^()\n]*\)|\[[^\[\]\n]*\])*$")


def _import(builder: Builder, node: Node) -> bool:
    """`import 'x' as y show Z`, `export 'x'`, `part 'x'`, `part of 'x'`."""
    module = _module(builder, node)
    if not module:
        return True
    is_export = node.type == "library_export"
    builder.root_item(node, "re-export" if is_export else "import", fold(f"import:{module}"))
    specification = child_of("import_specification")(node) or node
    names = [
        ImportedName(builder.text(name))
        for combinator in children_of(specification, "combinator")
        if combinator.children[0].type == "show"
        for name in children_of(combinator, "identifier")
    ]
    alias = child_of("identifier")(specification)
    if is_export:
        for name in names or [ImportedName("*")]:
            builder.add_export(name.name, name.name, node, module)
        builder.add_import(node, module, names, reexport=True, binds=False)
    elif alias is not None:
        builder.add_import(node, module, [ImportedName("*", builder.text(alias))])
    else:
        builder.add_import(node, module, names or [ImportedName("*")])
    return False


def _module(builder: Builder, node: Node) -> str:
    """The address in quotes, or the name of a library."""
    pending = [node]
    while pending:
        here = pending.pop(0)
        if here.type in ("uri", "dotted_identifier_list"):
            return builder.text(here).strip("rR'\"")
        pending.extend(here.named_children)
    return ""


def _library(builder: Builder, node: Node) -> bool:
    if builder.at_statement:
        builder.root_item(node, "package", fold(f"package:{_module(builder, node)}"))
        silence(builder, node)
    return False


def _annotation(builder: Builder, node: Node) -> bool:
    """`@override` before a member or a function; a class has its own inside."""
    parent = builder.parent
    if parent is None or parent.type in _BODIES:
        builder.prefix(node, decorator_names(builder.source, [node]))
    return True


def _signature(builder: Builder, node: Node) -> bool:
    """A function at the top; in types and in code the node around it is the symbol."""
    parent = builder.parent
    if parent is not None and parent.type in _AROUND:
        return True
    start = widened(builder, node.start_byte)
    if start < node.start_byte:
        # `external` is a sibling of the header: the range is one of the level around both.
        builder.depth -= 1
        builder.wrap(node, ("external",), span=Span(start, node.end_byte))
        builder.depth += 1
    _function(builder, node, node, "function")
    return True


def _member(builder: Builder, node: Node) -> bool:
    """A method, an accessor, a constructor or fields in a type."""
    if builder.level is not Level.TYPE:
        return True
    names = child_of(*LISTS)(node)
    if names is not None:
        return fields(builder, node, names)
    header = child_of(*_SIGNATURES, *_CONSTRUCTORS)(node)
    if header is not None:
        kind = "constructor" if header.type in _CONSTRUCTORS else "method"
        _function(builder, node, header, kind)
    return True


def _function(builder: Builder, node: Node, header: Node, kind: str) -> Draft | None:
    parts = [child for child in header.named_children if child.type == "identifier"]
    if header.type == "operator_signature":
        name = child_of("binary_operator")(header) or _operator(header)
    elif header.type in _CONSTRUCTORS:
        name = parts[-1] if parts else None
        for part in parts:
            builder.defined.add(part.start_byte)
    else:
        name = header.child_by_field_name("name")
    if name is None or name.is_missing:
        return None
    modifiers, decorators = marks(builder, node)
    if header is not node:
        modifiers += marks(builder, header)[0]
    word = builder.text(name)
    draft = builder.define(
        node,
        kind,
        f"operator {word}" if header.type == "operator_signature" else word,
        name_node=name,
        modifiers=modifiers,
        decorators=decorators,
        signature_end=header.end_byte,
    )
    builder.notes[_OPEN] = str(draft.index)
    return draft


def _operator(header: Node) -> Node | None:
    """`[]`, `[]=` and `~` have no node with a name."""
    words = [child.type for child in header.children]
    at = words.index("operator") + 1 if "operator" in words else len(words)
    return header.children[at] if at < len(words) else None


def _body(builder: Builder, node: Node) -> bool:
    """The body of a function, a sibling of its header."""
    parent = builder.parent
    if parent is not None and parent.type == "lambda_expression":
        return True
    index = builder.notes.pop(_OPEN, None)
    draft = builder.drafts[int(index)] if index is not None else None
    if draft is None or builder.source[draft.end : node.start_byte].strip():
        return True
    builder.extend(draft, node)
    draft.body = Span(node.start_byte, node.end_byte)
    first = node.children[0].type if node.child_count else ""
    if first.startswith(("async", "sync")):
        draft.modifiers.append(first)
    return True


def _local_function(builder: Builder, node: Node) -> bool:
    """`int f(int a) => a;` inside a function."""
    header, body = node.child_by_field_name("parameters"), node.child_by_field_name("body")
    name = header.child_by_field_name("name") if header is not None else None
    if header is not None and name is not None and not name.is_missing:
        end = header.end_byte
        text = builder.text(name)
        builder.define(node, "function", text, name_node=name, body=body, signature_end=end)
    return True


def _callback(builder: Builder, node: Node) -> bool:
    """A function given to a call, where it has lines of its own."""
    around = builder.ancestors[-3:]
    body = node.child_by_field_name("body")
    kinds = [each.type for each in around]
    is_named = kinds[1:2] == ["arguments"] and kinds[2] == "argument"
    if body is None or not is_named or not spans_lines(body):
        return True
    arguments = around[1]
    callee = _before(builder, arguments.start_byte)
    title = ""
    first = arguments.named_children[0]
    if first.named_child_count and first.named_children[0].type == "string_literal":
        title = '"' + builder.text(first.named_children[0]).strip("'\"") + '"'
    parameters = node.child_by_field_name("parameters")
    if callee and callee != "…":
        receiver, _, word = callee.rpartition(".")
        builder.define(
            node,
            "function",
            callback_name(receiver, word, title),
            body=body,
            signature_end=parameters.end_byte if parameters is not None else None,
        )
    return True


def _before(builder: Builder, end: int) -> str:
    """The names and calls that end at an offset, `…` where they are long or something else."""
    start = max(0, end - RECEIVER_LIMIT)
    text = builder.slice(start, end).rstrip()
    found = _PRIMARY.search(text)
    if found is None or (found.start() == 0 and start > 0):
        return "…"
    return found.group().replace("?.", ".").rstrip("!")


def _selector(builder: Builder, node: Node) -> bool:
    """`.name` behind something."""
    name = child_of("identifier")(node)
    if name is not None:
        builder.receivers[name.start_byte] = _before(builder, node.start_byte)
    return True


def _cascade(builder: Builder, node: Node) -> bool:
    """`..name`: on the object that the expression began with."""
    name = child_of("identifier")(node)
    if name is not None:
        builder.receivers[name.start_byte] = "…"
    return True


def _parameter(builder: Builder, node: Node) -> bool:
    builder.bind(node.child_by_field_name("name") or child_of("identifier")(node))
    return True


def _pattern(builder: Builder, node: Node) -> bool:
    """`var (a, b) = …` and the variables of a loop."""
    name = node.child_by_field_name("name")
    if name is not None:
        builder.bind(name)
    for part in children_of(node, "record_pattern", "list_pattern", "object_pattern"):
        for constant in children_of(part, "constant_pattern"):
            builder.bind(child_of("identifier")(constant))
    return True


def _typedef(builder: Builder, node: Node) -> bool:
    names = list(children_of(node, "type_identifier"))
    if not names:
        return True
    # `typedef int F(…)` names the type behind what it returns.
    old = child_of("formal_parameter_list")(node) is not None
    name = names[-1] if old else names[0]
    builder.define(node, "type", builder.text(name), name_node=name)
    return True


_class = definition(
    "class",
    name=lambda node: node.child_by_field_name("name") or _alias_name(node),
    level=Level.TYPE,
)


def _alias_name(node: Node) -> Node | None:
    """`class A = B with C;`."""
    applied = child_of("mixin_application_class")(node)
    return child_of("identifier")(applied) if applied is not None else None


def _extended(node: Node) -> Node | None:
    """The name of an extension, or else of the type that it extends."""
    return node.child_by_field_name("name") or node.child_by_field_name("class")


def _exported(draft: Draft, builder: Builder) -> bool:
    hidden = any(part.startswith("_") for part in draft.path)
    return not hidden and not is_local(builder, draft) and not draft.name.endswith(" callback")


CONVENTIONS = Conventions(
    identifiers=frozenset({"identifier", "type_identifier", "identifier_dollar_escaped"}),
    comments=frozenset({"comment", "documentation_comment"}),
    statements={"script_tag": "directive"},
    modifiers=frozenset(
        {
            *("abstract", "base", "sealed", "interface", "mixin", "augment", "static", "external"),
            *("late", "covariant", "factory", "get", "set", "const_builtin", "final_builtin"),
        }
    ),
    decorators=frozenset({"annotation"}),
    doc_prefixes=("///", "/**"),
    terminators=(";", "="),
)

_HEADS = (
    *("const_builtin", "final_builtin", "inferred_type", "type_arguments", "nullable_type"),
    *("function_type", "record_type", "void_type"),
)

RULES: dict[str, Rule] = {
    "import_or_export": transparent,
    "library_import": _import,
    "library_export": _import,
    "part_directive": _import,
    "part_of_directive": _import,
    "library_name": _library,
    "annotation": _annotation,
    "class_definition": _class,
    "mixin_declaration": definition(
        "trait", name=child_of("identifier"), body=child_of("class_body"), level=Level.TYPE
    ),
    "extension_declaration": definition("extension", name=_extended, level=Level.TYPE),
    "extension_type_declaration": definition("class", level=Level.TYPE),
    "enum_declaration": definition("enum", level=Level.TYPE),
    "enum_constant": definition("enum_member"),
    "type_alias": _typedef,
    "method_signature": _member,
    "declaration": _member,
    **dict.fromkeys(_SIGNATURES, _signature),
    "function_body": _body,
    "lambda_expression": _local_function,
    "function_expression": _callback,
    **dict.fromkeys(LISTS, top_level),
    "initialized_identifier": top_level_name,
    "static_final_declaration": top_level_name,
    **dict.fromkeys(_HEADS, head),
    "type_identifier": type_name,
    "unconditional_assignable_selector": _selector,
    "conditional_assignable_selector": _selector,
    "cascade_selector": _cascade,
    "formal_parameter": _parameter,
    "type_parameter": binds_children,
    "initialized_variable_definition": binds("name"),
    "pattern_variable_declaration": _pattern,
    "for_loop_parts": _pattern,
    "variable_pattern": binds_children,
    "catch_parameters": binds_children,
    # They name arguments and places, not values.
    "label": skip,
    "break_statement": skip,
    "continue_statement": skip,
}

DART = Language(
    "dart",
    ("tree_sitter_dart", "language"),
    CONVENTIONS,
    RULES,
    _exported,
    declare_exports(_exported),
    without_keywords,
)
