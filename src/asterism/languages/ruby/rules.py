"""Ruby: modules, classes, methods and what makes them, constants, requires, blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import binds, binds_children, child_of, value_cut
from asterism.analysis.syntax.text import Conventions, fold
from asterism.languages.ruby.calls import DEFINERS, body_marks, define_method, literal, marked
from asterism.languages.shared import callback_name, declare_exports, spans_lines

if TYPE_CHECKING:
    from tree_sitter import Node

# Calls whose block is the value itself rather than an argument.
_VALUE_BLOCKS = frozenset({"lambda", "proc"})

# First arguments that say what a block is about: `describe "x"`, `task :x`, `describe X`.
_TITLES = frozenset({"string", "simple_symbol", "constant", "scope_resolution"})

# The kind of a constant whose value is one of these; contents of the block belong to it.
_MADE = dict.fromkeys(("Struct.new", "Data.define"), "struct")
_MADE |= {"Class.new": "class", "Module.new": "module"}


def _class(kind: str) -> Rule:
    """`class A < B`, `class A::B`, `module A`: compact names are read as if nested."""

    def rule(builder: Builder, node: Node) -> bool:
        name = node.child_by_field_name("name")
        if name is None or name.is_missing:
            return True
        *owner, last = builder.text(name).removeprefix("::").split("::")
        place = name.child_by_field_name("name") or name
        head = node.child_by_field_name("superclass") or name
        body = node.child_by_field_name("body")
        builder.define(
            node,
            kind,
            last,
            name_node=place,
            body=body,
            level=Level.TYPE,
            owner=owner,
            modifiers=marked(builder, node),
            signature_end=head.end_byte,
        )
        if body is not None:
            body_marks(builder, body)
        return True

    return rule


def _singleton_class(builder: Builder, node: Node) -> bool:
    """`class << self`: its methods are the class's own."""
    body = node.child_by_field_name("body")
    value = node.child_by_field_name("value")
    if builder.level is Level.TYPE and value is not None and value.type == "self":
        builder.transparent()
        if body is not None:
            body_marks(builder, body, ("self",))
    return True


def _method(builder: Builder, node: Node) -> bool:
    """`def x`, `def self.x`, `def other.x`, with a body or `= value`."""
    if node.start_byte not in builder.consumed:
        define_method(builder, node, node)
    return True


def _alias(builder: Builder, node: Node) -> bool:
    """`alias new old`: the new name is a method, the old one is used."""
    name = node.child_by_field_name("name")
    if name is not None and builder.level is not Level.FUNCTION:
        text = builder.text(name).removeprefix(":")
        builder.define(node, "method", text, name_node=name, modifiers=marked(builder, node))
    return True


def _assignment(builder: Builder, node: Node) -> bool:
    """Constants and top-level variables are symbols; inside methods a plain name is a local."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or left.is_missing:
        return True
    if left.type == "left_assignment_list" and builder.level is not Level.FUNCTION:
        targets = [child for child in left.named_children if child.type == "constant"]
        for target in targets:
            _define_value(builder, node, target, right, opens=target == targets[-1])
        if targets:
            return True
    made = _made_kind(builder, right) if left.type == "constant" else None
    if made is not None and right is not None:
        _define_made(builder, node, left, right, made)
    elif _is_symbol(builder, left):
        _define_value(builder, node, left, right)
    else:
        _bind_targets(builder, left)
    return True


def _is_symbol(builder: Builder, target: Node) -> bool:
    """Constants outside methods, variables at the top, class variables in their class."""
    if target.type in ("constant", "scope_resolution"):
        return builder.level is not Level.FUNCTION
    if target.type in ("identifier", "global_variable"):
        return builder.level is Level.MODULE
    return target.type == "class_variable" and builder.is_member


def _define_value(
    builder: Builder, node: Node, target: Node, value: Node | None, opens: bool = True
) -> None:
    """`X = 1`, `A::X = 1`, `x = 1` at the top, `$x = 1`, `@@x = 1`."""
    *owner, name = builder.text(target).split("::")
    place = target.child_by_field_name("name") or target
    builder.define(
        node,
        "const" if place.type == "constant" else "variable",
        name,
        name_node=place,
        owner=[part for part in owner if part],
        modifiers=marked(builder, node),
        signature_end=value_cut(node, value),
        opens=opens,
    )


def _made_kind(builder: Builder, value: Node | None) -> str | None:
    if value is None or value.type != "call":
        return None
    receiver = builder.field_text(value, "receiver")
    return _MADE.get(f"{receiver}.{builder.field_text(value, 'method')}")


def _define_made(builder: Builder, node: Node, target: Node, value: Node, kind: str) -> None:
    """`Point = Struct.new(:x, :y) do … end`: a type, with the block as its body."""
    block = value.child_by_field_name("block")
    body = block.child_by_field_name("body") if block is not None else None
    if block is not None:
        builder.consumed.add(block.start_byte)
    builder.define(
        node,
        kind,
        builder.text(target),
        name_node=target,
        body=body,
        level=Level.TYPE,
        modifiers=marked(builder, node),
        signature_end=block.start_byte if block is not None else None,
    )
    if body is not None:
        body_marks(builder, body)
    arguments = value.child_by_field_name("arguments") if kind == "struct" else None
    for argument in arguments.named_children if arguments is not None else ():
        if argument.type == "simple_symbol":
            builder.define(
                argument, "property", literal(builder, argument), name_node=argument, opens=False
            )


def _bind_targets(builder: Builder, left: Node) -> None:
    """The plain names of `a, (b, *c), @d = …`; attributes and indexes bind nothing.

    A constant in a block is bound like a variable there: the function that takes the block decides
    whether other code will see it.
    """
    pending = [left]
    while pending:
        here = pending.pop()
        if here.type in ("identifier", "constant"):
            builder.bind(here)
        elif here.type in (
            "left_assignment_list",
            "destructured_left_assignment",
            "rest_assignment",
        ):
            pending.extend(here.named_children)


def _operator_assignment(builder: Builder, node: Node) -> bool:
    """`X ||= 1` defines where nothing is yet; `x += 1` only uses."""
    operator = node.child_by_field_name("operator")
    if operator is None or operator.type != "||=":
        return True
    left = node.child_by_field_name("left")
    if left is not None and left.type == "constant" and builder.level is not Level.FUNCTION:
        _define_value(builder, node, left, node.child_by_field_name("right"))
    elif left is not None and left.type == "identifier":
        builder.bind(left)
    return True


def _call(builder: Builder, node: Node) -> bool:
    """A call that defines, imports or hides something; every other one is only a use."""
    if node.child_by_field_name("receiver") is not None:
        return True
    method = node.child_by_field_name("method")
    if method is not None:
        # With arguments or a block this is a call, whatever local has the same name.
        builder.free.add(method.start_byte)
    definer = DEFINERS.get(builder.text(method)) if method is not None else None
    if definer is not None:
        definer(builder, node)
        return True
    _decorated_method(builder, node)
    return True


def _decorated_method(builder: Builder, node: Node) -> None:
    """`memoize def x`: a method given to a call that wraps it."""
    arguments = node.child_by_field_name("arguments")
    if arguments is None or arguments.named_child_count != 1:
        return
    inner = arguments.named_children[0]
    if inner.type in ("method", "singleton_method"):
        draft = define_method(builder, node, inner)
        if draft is not None:
            draft.decorators.append(builder.field_text(node, "method") or "")


def _block(builder: Builder, node: Node) -> bool:
    """A block given to a call, where it has lines of its own."""
    if node.start_byte in builder.consumed or not spans_lines(node):
        return True
    call = node.parent
    method = call.child_by_field_name("method") if call is not None else None
    if call is None or method is None or builder.text(method) in _VALUE_BLOCKS:
        return True
    _define_callback(builder, node, call)
    return True


def _lambda(builder: Builder, node: Node) -> bool:
    """`-> { … }` given to a call, where it has lines of its own."""
    body = node.child_by_field_name("body")
    if body is not None:
        builder.consumed.add(body.start_byte)
    arguments = node.parent if spans_lines(node) else None
    if arguments is not None and arguments.type == "argument_list" and arguments.parent is not None:
        _define_callback(builder, node, arguments.parent)
    return True


def _define_callback(builder: Builder, node: Node, call: Node) -> None:
    arguments = call.child_by_field_name("arguments")
    first = arguments.named_children[0] if arguments and arguments.named_child_count else None
    title = ""
    if first is not None and first.type in _TITLES:
        title = f'"{literal(builder, first)}"' if first.type == "string" else builder.text(first)
    body = node.child_by_field_name("body")
    if node.type == "lambda" and body is not None:
        body = body.child_by_field_name("body")
    draft = builder.define(
        node,
        "function",
        callback_name(
            builder.field_text(call, "receiver") or "",
            builder.field_text(call, "method") or "",
            title,
        ),
        body=body,
    )
    # The call says what the block is; the block's own head is only its parameters.
    draft.signature = fold(
        builder.source[call.start_byte : node.start_byte].decode(errors="replace")
    )


def _heredoc(builder: Builder, node: Node) -> bool:
    """A heredoc's text follows its statement: a constant reaches to the end of it."""
    owner = builder.owner
    siblings = owner.children if owner is not None else None
    if siblings is None:
        last = next((draft for draft in reversed(builder.drafts) if draft.parent is None), None)
    else:
        last = builder.drafts[siblings[-1]] if siblings else None
    if (
        last is not None
        and last.kind in ("const", "variable")
        and last.end_row == node.start_point[0]
    ):
        builder.extend(last, node)
    return True


def _rescue(builder: Builder, node: Node) -> bool:
    variable = child_of("exception_variable")(node)
    builder.bind(variable)
    return True


def _pattern(builder: Builder, node: Node) -> bool:
    """`in [a, {b:, **rest}]`: plain names in a pattern bind; constants are tested."""
    pending = [node.child_by_field_name("pattern")]
    while pending:
        here = pending.pop()
        if here is None:
            continue
        if here.type == "identifier":
            builder.bind(here)
        elif here.type == "as_pattern":
            builder.bind(here.child_by_field_name("name"))
            pending.append(here.child_by_field_name("value"))
        elif here.type == "keyword_pattern" and here.named_child_count == 1:
            # `{ name: }` binds a local of that name; the key is no identifier node.
            if builder.owner is not None:
                builder.owner.bind(builder.text(here.named_children[0]))
        elif here.type not in ("variable_reference_pattern", "expression_reference_pattern"):
            pending.extend(here.named_children)
    return True


def _exported(draft: Draft, builder: Builder) -> bool:
    """Unless private, or out of reach: blocks, locals, what is in a method or a private type."""
    if draft.kind in ("function", "variable") and not draft.name.startswith("$"):
        return False
    if "private" in draft.modifiers or "protected" in draft.modifiers:
        return False
    while draft.parent is not None:
        draft = builder.drafts[draft.parent]
        if draft.level is Level.FUNCTION or "private" in draft.modifiers:
            return False
    return True


CONVENTIONS = Conventions(
    identifiers=frozenset(
        {"identifier", "constant", "global_variable", "class_variable", "instance_variable"}
    ),
    comments=frozenset({"comment"}),
    skipped=frozenset({"heredoc_beginning", "heredoc_end", "undef"}),
    members={"call": ("receiver", "method"), "scope_resolution": ("scope", "name")},
    statements={
        "if": "control",
        "unless": "control",
        "if_modifier": "control",
        "unless_modifier": "control",
        "while": "control",
        "until": "control",
        "for": "control",
        "case": "control",
        "case_match": "control",
        "begin": "control",
        "uninterpreted": "text",
    },
    doc_prefixes=("#", "=begin"),
    line_comment="#",
    terminators=(";", "="),
)

RULES: dict[str, Rule] = {
    "class": _class("class"),
    "module": _class("module"),
    "singleton_class": _singleton_class,
    "method": _method,
    "singleton_method": _method,
    "alias": _alias,
    "assignment": _assignment,
    "operator_assignment": _operator_assignment,
    "call": _call,
    "do_block": _block,
    "block": _block,
    "lambda": _lambda,
    "heredoc_body": _heredoc,
    "method_parameters": binds_children,
    "block_parameters": binds_children,
    "lambda_parameters": binds_children,
    "destructured_parameter": binds_children,
    "optional_parameter": binds("name"),
    "splat_parameter": binds("name"),
    "keyword_parameter": binds("name"),
    "hash_splat_parameter": binds("name"),
    "block_parameter": binds("name"),
    "rescue": _rescue,
    "for": binds("pattern"),
    "in_clause": _pattern,
}

RUBY = Language(
    "ruby",
    ("tree_sitter_ruby", "language"),
    CONVENTIONS,
    RULES,
    _exported,
    declare_exports(_exported),
)
