"""Elixir: modules, functions by name and arity, macros, structs, blocks given to macros."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import child_of, value_cut
from asterism.analysis.syntax.text import Conventions, fold
from asterism.languages.elixir.declarations import (
    IMPORTERS,
    Clause,
    arguments_of,
    attribute,
    bind_pattern,
    callee,
    clause_of,
    keyword_value,
    module_name,
    name_of,
    operator_of,
    take_waiting_doc,
)
from asterism.languages.shared import callback_name, declare_exports, spans_lines
from asterism.types.outline import Span

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = {
    "def": "function",
    "defp": "function",
    "defdelegate": "function",
    "defmacro": "macro",
    "defmacrop": "macro",
    "defguard": "macro",
    "defguardp": "macro",
}

_HIDDEN = frozenset({"defp", "defmacrop", "defguardp"})

_MODULES = {"defmodule": "module", "defprotocol": "protocol", "defimpl": "impl"}

_STRUCTS = frozenset({"defstruct", "defexception"})

# What `defstruct` defines is a function of this name in the module around it.
_STRUCT_NAME = "__struct__"

# Calls whose block is control flow of the language, not an argument of a function.
_FLOW = frozenset({"case", "cond", "for", "if", "quote", "receive", "try", "unless", "with"})

_WORDS = _FLOW | _STRUCTS | {"unquote", "unquote_splicing", *_FUNCTIONS, *_MODULES}

# How many lines of comment two clauses of one function may have between them, and how many
# statements of a module may stand before its `@moduledoc`.
_NEAR = 32

# ExUnit's macros take a pattern before their block.
_PATTERN_TAKERS = frozenset({"test", "setup", "setup_all", "property"})

# First arguments that say what a block is about: `describe "x"`, `pipeline :browser`.
_TITLES = frozenset({"string", "atom", "alias"})


def _call(builder: Builder, node: Node) -> bool:
    """Everything in Elixir is a call; the name called says whether it declares."""
    if node.start_byte in builder.consumed:
        return True
    name = callee(builder, node)
    if name in _WORDS:
        # The language's own words are calls only to the grammar.
        builder.defined.add(node.start_byte)
    if name in _FUNCTIONS:
        _function(builder, node, name)
    elif name in _MODULES:
        _module(builder, node, name)
    elif name in _STRUCTS and builder.level is Level.TYPE:
        _struct(builder, node)
    elif name in IMPORTERS:
        return IMPORTERS[name](builder, node)
    elif name in _FLOW:
        if builder.at_statement:
            builder.root_item(node, "control")
    else:
        _block(builder, node, name)
    return True


def _function(builder: Builder, node: Node, word: str) -> None:
    """`def f(a) do … end`; clauses of one name and arity that follow each other are one symbol."""
    clause = clause_of(builder, node)
    if clause is None:
        return
    earlier = _earlier(builder, node, clause)
    if earlier is not None:
        builder.extend(earlier, node)
        start = earlier.body.start if earlier.body is not None else node.start_byte
        earlier.body = Span(start, node.end_byte)
        builder.defined.add(clause.place.start_byte)
    else:
        waiting = take_waiting_doc(builder)
        draft = builder.define(
            node,
            _FUNCTIONS[word],
            clause.name,
            name_node=clause.place,
            body=_body(node),
            modifiers=("private",) if word in _HIDDEN else (),
        )
        draft.doc = draft.doc or waiting
    # The head looks like a call of the function itself.
    builder.consumed.add(clause.call.start_byte)
    for argument in clause.arguments:
        bind_pattern(builder, argument)


def _earlier(builder: Builder, node: Node, clause: Clause) -> Draft | None:
    """The symbol this clause continues: the definition directly before it, comments aside."""
    owner = builder.owner
    previous = node.prev_named_sibling
    for _ in range(_NEAR):
        if previous is None or previous.type != "comment":
            break
        previous = previous.prev_named_sibling
    if previous is None or previous.type != "call" or owner is None or not owner.children:
        return None
    if not clause.same_function(clause_of(builder, previous)):
        return None
    last = builder.drafts[owner.children[-1]]
    return last if last.name == clause.name and last.end == previous.end_byte else None


def _body(node: Node) -> Node | None:
    """The `do … end` or `do: …` of a call."""
    block = child_of("do_block")(node)
    if block is not None:
        return block
    for argument in arguments_of(node):
        for pair in argument.named_children if argument.type == "keywords" else ():
            key = pair.child_by_field_name("key")
            if key is not None and (key.text or b"").strip() == b"do:":
                return pair
    return None


def _module(builder: Builder, node: Node, word: str) -> None:
    """`defmodule A.B`, `defprotocol P`, `defimpl P, for: T`."""
    parts = arguments_of(node)
    if not parts:
        return
    name = name_of(builder, parts[0])
    if not name:
        return
    target = keyword_value(builder, node, "for") if word == "defimpl" else None
    if target is not None:
        name = f"{name} for {fold(builder.text(target).strip('[]'))}"
    builder.define(
        node,
        _MODULES[word],
        name,
        name_node=parts[0] if word != "defimpl" else None,
        body=_body(node),
        level=Level.TYPE,
    )


def _struct(builder: Builder, node: Node) -> None:
    """`defstruct [:a, b: 1]`: the fields that are written out are properties."""
    builder.define(node, "struct", _STRUCT_NAME, level=Level.TYPE)
    pending = arguments_of(node)
    while pending:
        part = pending.pop(0)
        if part.type in ("list", "keywords"):
            pending[:0] = part.named_children
        elif part.type == "atom":
            name = builder.text(part).removeprefix(":")
            builder.define(part, "property", name, name_node=part, opens=False)
        elif part.type == "pair":
            key = part.child_by_field_name("key")
            if key is not None:
                name = builder.text(key).strip().removesuffix(":")
                builder.define(part, "property", name, name_node=key, opens=False)


def _block(builder: Builder, node: Node, name: str | None) -> None:
    """`describe "x" do … end`: a block given to a macro, where it has lines of its own."""
    block = child_of("do_block")(node)
    if block is None or not spans_lines(block):
        return
    parts = arguments_of(node)
    title = builder.text(parts[0]) if parts and parts[0].type in _TITLES else ""
    builder.define(
        node,
        "function",
        callback_name("", builder.field_text(node, "target") or "", title),
        body=block,
    )
    if name in _PATTERN_TAKERS:
        for part in parts:
            bind_pattern(builder, part)


def _anonymous(builder: Builder, node: Node) -> bool:
    """`fn … end` given to a call, where it has lines of its own."""
    arguments = node.parent if spans_lines(node) else None
    if arguments is None or arguments.type != "arguments" or arguments.parent is None:
        return True
    call = arguments.parent
    first = arguments.named_children[0]
    title = builder.text(first) if first.type in _TITLES else ""
    clauses = [child for child in node.named_children if child.type == "stab_clause"]
    one = clauses[0] if len(clauses) == 1 else None
    head = one.child_by_field_name("left") if one is not None else None
    draft = builder.define(
        node,
        "function",
        callback_name("", builder.field_text(call, "target") or "", title),
        body=one.child_by_field_name("right") if one is not None else None,
        signature_end=head.end_byte if head is not None else node.start_byte + len("fn"),
    )
    if one is None and clauses:
        draft.body = Span(clauses[0].start_byte, clauses[-1].end_byte)
    return True


def _stab(builder: Builder, node: Node) -> bool:
    """`pattern -> body`."""
    bind_pattern(builder, node.child_by_field_name("left"))
    return True


def _match(builder: Builder, node: Node) -> bool:
    """`pattern = value` and `pattern <- value`; at the top of a script a name is a symbol."""
    operator = operator_of(node)
    if operator not in ("=", "<-"):
        return True
    left = node.child_by_field_name("left")
    if builder.at_statement and left is not None and left.type == "identifier":
        end = value_cut(node, node.child_by_field_name("right"))
        builder.define(node, "variable", builder.text(left), name_node=left, signature_end=end)
    else:
        bind_pattern(builder, left)
    return True


def _docstring(node: Node) -> Node | None:
    """The `@moduledoc` of a module."""
    target = node.child_by_field_name("target") if node.type == "call" else None
    if target is None or (target.text or b"").decode("utf-8", "replace") not in _MODULES:
        return None
    block = child_of("do_block")(node)
    for child in block.named_children[:_NEAR] if block is not None else ():
        operand = child.child_by_field_name("operand")
        inner = operand.child_by_field_name("target") if operand is not None else None
        if operand is not None and inner is not None and inner.text == b"moduledoc":
            values = arguments_of(operand)
            return values[0] if values and values[0].type in ("string", "sigil") else None
    return None


def _exported(draft: Draft, builder: Builder) -> bool:
    """Unless private, an attribute, a block, or inside a function."""
    if draft.kind in ("const", "variable") or "private" in draft.modifiers:
        return False
    if draft.name.endswith(" callback"):
        return False
    while draft.parent is not None:
        draft = builder.drafts[draft.parent]
        if draft.level is Level.FUNCTION:
            return False
    return True


def _is_export(draft: Draft, builder: Builder) -> bool:
    """An implementation is found through its protocol, never by a name of its own."""
    return draft.kind != "impl" and _exported(draft, builder)


CONVENTIONS = Conventions(
    identifiers=frozenset({"identifier", "alias"}),  # an alias has a rule of its own besides
    comments=frozenset({"comment"}),
    skipped=frozenset({"atom", "quoted_content", "charlist", "integer", "float", "keyword"}),
    members={"dot": ("left", "right")},
    doc_prefixes=(),
    docstring=_docstring,
    line_comment="#",
    terminators=(",", "="),
)

RULES: dict[str, Rule] = {
    "alias": module_name,
    "call": _call,
    "unary_operator": attribute,
    "binary_operator": _match,
    "anonymous_function": _anonymous,
    "stab_clause": _stab,
}

ELIXIR = Language(
    "elixir",
    ("tree_sitter_elixir", "language"),
    CONVENTIONS,
    RULES,
    _exported,
    declare_exports(_is_export),
)
