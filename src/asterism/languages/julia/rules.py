"""Julia: modules, functions in both forms, types, macros, constants, imports."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import child_of, value_cut
from asterism.analysis.syntax.text import Conventions, clean_docstring
from asterism.languages.julia import imports
from asterism.languages.shared import callback_name, declare_exports, is_local, spans_lines
from asterism.types.outline import Span

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFINITIONS = frozenset(
    {
        *("function_definition", "struct_definition", "macro_definition", "abstract_definition"),
        *("assignment", "const_statement", "macrocall_expression"),
    }
)
_AROUND = ("where_expression", "typed_expression")


class _Head(NamedTuple):
    """The parts of `Base.show(io::IO)::Nothing where T`."""

    call: Node | None
    name: Node
    owner: tuple[str, ...]


def _head(builder: Builder, node: Node) -> _Head | None:
    """What a signature names; None where it names nothing."""
    call: Node | None = node
    while call is not None and call.type in ("signature", *_AROUND):
        call = call.named_children[0] if call.named_child_count else None
    if call is None:
        return None
    if call.type == "identifier":
        return _Head(None, call, ())
    if call.type != "call_expression" or not call.named_child_count:
        return None
    callee = call.named_children[0]
    if callee.type == "parametrized_type_expression" and callee.named_child_count:
        callee = callee.named_children[0]
    if callee.type == "field_expression":
        owner = builder.text(callee.named_children[0]).split(".")
        return _Head(call, callee.named_children[-1], tuple(owner))
    if callee.type == "parenthesized_expression":
        typed = child_of("typed_expression", "unary_typed_expression")(callee)
        last = typed.named_children[-1] if typed is not None and typed.named_child_count else None
        if last is not None and last.type == "parametrized_type_expression":
            last = last.named_children[0]
        return _Head(call, last, ()) if last is not None and last.type == "identifier" else None
    return _Head(call, callee, ()) if callee.type in ("identifier", "operator") else None


def _parameters(builder: Builder, call: Node | None) -> None:
    arguments = child_of("argument_list", "tuple_expression")(call) if call is not None else None
    for part in arguments.named_children if arguments is not None else ():
        _bind(builder, part)


def _bind(builder: Builder, node: Node) -> None:
    """`x`, `x::T`, `x = 1`, `x...`: the first name."""
    while node.type != "identifier":
        if node.type == "tuple_expression":
            for part in node.named_children:
                _bind(builder, part)
            return
        if not node.named_child_count or node.type in ("unary_typed_expression", "string_literal"):
            return
        node = node.named_children[0]
    builder.bind(node)


def _define(builder: Builder, node: Node, signature: Node, kind: str, body: bool) -> bool:
    head = _head(builder, signature)
    if head is None or head.name.is_missing:
        return True
    name = builder.text(head.name)
    owner = builder.owner
    is_made = builder.level is Level.TYPE and owner is not None and owner.name == name
    draft = builder.define(
        node,
        "constructor" if is_made else kind,
        name,
        name_node=head.name,
        owner=head.owner,
        signature_end=signature.end_byte,
    )
    if body:
        draft.body = Span(signature.end_byte, node.end_byte)
    _parameters(builder, head.call)
    return True


def _function(builder: Builder, node: Node) -> bool:
    """`function f(x) … end` and `macro m(x) … end`."""
    signature = child_of("signature")(node)
    if signature is None:
        return True
    kind = "macro" if node.type == "macro_definition" else "function"
    return _define(builder, node, signature, kind, spans_lines(node))


def _assignment(builder: Builder, node: Node) -> bool:
    """`f(x) = …` is a function, `x = …` a variable, a field with its default, or a local."""
    target = node.named_children[0] if node.named_child_count else None
    if target is None:
        return True
    if _is_call(target):
        return _define(builder, node, target, "function", spans_lines(node))
    if builder.level is Level.FUNCTION:
        if target.type in ("identifier", "typed_expression", "tuple_expression", "open_tuple"):
            _bind(builder, target)
        return True
    return _variable(builder, node, target)


def _is_call(target: Node) -> bool:
    while target.type in _AROUND and target.named_child_count:
        target = target.named_children[0]
    return target.type == "call_expression"


def _variable(builder: Builder, node: Node, target: Node) -> bool:
    name = target
    if name.type == "typed_expression":
        name = name.named_children[0]
    if name.type != "identifier" or node.start_byte in builder.consumed:
        return True
    is_field = builder.level is Level.TYPE
    if not is_field and not (builder.at_statement or builder.level is Level.MODULE):
        return True
    if builder.owner is not None and builder.owner.is_root:
        # In `if` at the top.
        return True
    around = builder.parent
    is_const = around is not None and around.type == "const_statement"
    value = node.named_children[-1]
    builder.define(
        node,
        "property" if is_field else "const" if is_const else "variable",
        builder.text(name),
        name_node=name,
        signature_end=value_cut(node, value),
    )
    return True


def _constant(builder: Builder, node: Node) -> bool:
    """`const X = 3`, `global x = 1`."""
    if builder.level is not Level.FUNCTION:
        builder.wrap(node, (node.children[0].type,))
    return True


def _struct(builder: Builder, node: Node) -> bool:
    head = child_of("type_head")(node)
    name = head
    while name is not None and name.type != "identifier":
        name = name.named_children[0] if name.named_child_count else None
    if head is None or name is None or name.is_missing:
        return True
    words = [child.type for child in node.children if child.type in ("mutable", "abstract")]
    builder.define(
        node,
        "struct" if node.type == "struct_definition" else "type",
        builder.text(name),
        name_node=name,
        level=Level.TYPE,
        modifiers=words,
        signature_end=head.end_byte,
    )
    return True


def _field(builder: Builder, node: Node) -> bool:
    """`x::Int` in a type."""
    around = builder.parent
    name = node.named_children[0] if node.named_child_count else None
    inside = around is not None and around.type == "struct_definition" and builder.is_member
    if inside and name is not None and name.type == "identifier":
        builder.define(node, "property", builder.text(name), name_node=name)
    return True


def _module(builder: Builder, node: Node) -> bool:
    name = node.child_by_field_name("name")
    if name is not None and not name.is_missing:
        draft = builder.define(
            node,
            "module",
            builder.text(name),
            name_node=name,
            level=Level.MODULE,
            signature_end=name.end_byte,
        )
        draft.body = Span(name.end_byte, node.end_byte)
    return True


def _macro_call(builder: Builder, node: Node) -> bool:
    """`@enum`, `@testset`, and macros before a definition, which are its decorators."""
    arguments = child_of("macro_argument_list")(node)
    name = child_of("macro_identifier")(node)
    parts = arguments.named_children if arguments is not None else []
    if name is None or not parts:
        return True
    word = builder.text(name)
    if word == "@enum" and builder.level is not Level.FUNCTION:
        return _enum(builder, node, parts)
    if parts[-1].type == "compound_statement" and parts[0].type == "string_literal":
        if spans_lines(parts[-1]):
            label = callback_name("", word, builder.text(parts[0]))
            builder.define(node, "function", label, body=parts[-1])
    elif parts[-1].type in _DEFINITIONS and builder.level is not Level.FUNCTION:
        builder.wrap(node, (), [name])
    return True


def _macro_arguments(builder: Builder, node: Node) -> bool:
    last = node.named_children[-1] if node.named_child_count else None
    if last is not None and last.type in _DEFINITIONS and builder.level is not Level.FUNCTION:
        claimed = builder.claimed
        builder.wrap(node)
        builder.claimed = claimed
    return True


def _enum(builder: Builder, node: Node, parts: list[Node]) -> bool:
    """`@enum Color red green=2`."""
    first = parts[0].named_children[0] if parts[0].type == "typed_expression" else parts[0]
    builder.define(node, "enum", builder.text(first), name_node=first, level=Level.TYPE)
    values = parts[1:]
    if values and values[0].type == "compound_statement":
        values = values[0].named_children
    for part in values:
        name = part.named_children[0] if part.type == "assignment" else part
        builder.consumed.add(part.start_byte)
        if name.type == "identifier":
            builder.define(part, "enum_member", builder.text(name), name_node=name, opens=False)
    return True


def _doc(builder: Builder, node: Node) -> bool:
    """A string before a definition documents it."""
    around = builder.parent
    if around is None or around.type in ("module_definition", "struct_definition"):
        behind = node.end_byte
        rest = builder.source[behind : behind + 200].lstrip(b" \t")
        if rest.startswith(b"\n") and not rest[1:].lstrip(b" \t").startswith(b"\n"):
            builder.prefix(node, doc=clean_docstring(builder.text(node)))
    return True


def _do(builder: Builder, node: Node) -> bool:
    """`map(list) do x … end`, where it has lines of its own."""
    call = builder.parent
    if call is not None and call.named_child_count and spans_lines(node):
        callee = builder.text(call.named_children[0])
        receiver, _, name = callee.rpartition(".")
        first = child_of("argument_list")(call)
        words = first.named_children[:1] if first is not None else []
        title = builder.text(words[0]) if words and words[0].type == "string_literal" else ""
        own = child_of("argument_list")(node)
        end = own.end_byte if own is not None else node.start_byte + len("do")
        draft = builder.define(
            node, "function", callback_name(receiver, name, title), signature_end=end
        )
        draft.body = Span(end, node.end_byte)
    _parameters(builder, node)
    return True


def _binding(builder: Builder, node: Node) -> bool:
    if node.named_child_count:
        _bind(builder, node.named_children[0])
    return True


def _keyword(builder: Builder, node: Node) -> bool:
    """The name of an argument in a call is no use of anything."""
    if node.named_child_count:
        builder.defined.add(node.named_children[0].start_byte)
    return True


def _member(builder: Builder, node: Node) -> bool:
    if node.named_child_count > 1:
        builder.member(node.named_children[0], node.named_children[-1])
    return True


def _exported(draft: Draft, builder: Builder) -> bool:
    if draft.name.startswith("_") or draft.name.endswith(" callback"):
        return False
    return not is_local(builder, draft)


CONVENTIONS = Conventions(
    identifiers=frozenset({"identifier"}),
    comments=frozenset({"line_comment", "block_comment"}),
    skipped=frozenset({"content", "integer_literal", "float_literal", "character_literal"}),
    statements={
        "if_statement": "control",
        "for_statement": "control",
        "while_statement": "control",
        "try_statement": "control",
        "let_statement": "control",
        "compound_statement": "control",
    },
    doc_prefixes=("",),
    line_comment="#",
    terminators=("=", ";"),
)

RULES: dict[str, Rule] = {
    "module_definition": _module,
    "using_statement": imports.import_statement,
    "import_statement": imports.import_statement,
    "export_statement": imports.export_statement,
    "public_statement": imports.export_statement,
    "function_definition": _function,
    "macro_definition": _function,
    "struct_definition": _struct,
    "abstract_definition": _struct,
    "primitive_definition": _struct,
    "assignment": _assignment,
    "const_statement": _constant,
    "global_statement": _constant,
    "typed_expression": _field,
    "call_expression": imports.call,
    "macrocall_expression": _macro_call,
    "macro_argument_list": _macro_arguments,
    "string_literal": _doc,
    "do_clause": _do,
    "for_binding": _binding,
    "let_binding": _binding,
    "arrow_function_expression": _binding,
    "catch_clause": _binding,
    "named_argument": _keyword,
    "field_expression": _member,
}

JULIA = Language(
    "julia",
    ("tree_sitter_julia", "language"),
    CONVENTIONS,
    RULES,
    _exported,
    declare_exports(_exported),
)
