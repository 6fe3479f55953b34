"""Elixir: modules, functions by name and arity, macros, types, attributes, blocks."""

from tree_sitter import Node

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.conventions import Conventions
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.languages.callbacks import callback_name, spans_lines
from asterism.analysis.syntax.languages.elixir_attributes import attribute
from asterism.analysis.syntax.languages.elixir_heads import (
    arguments_of,
    bind_pattern,
    callee,
    clause_of,
    head_of,
    keyword_value,
)
from asterism.analysis.syntax.languages.elixir_imports import IMPORTERS
from asterism.analysis.syntax.languages.visibility import declare_exports
from asterism.analysis.syntax.rules import child_of
from asterism.analysis.syntax.signatures import fold
from asterism.domain.outline import Span

_FUNCTIONS = {
    "def": "function",
    "defp": "function",
    "defdelegate": "function",
    "defmacro": "macro",
    "defmacrop": "macro",
    "defguard": "macro",
    "defguardp": "macro",
}

_MODULES = {"defmodule": "module", "defprotocol": "protocol", "defimpl": "impl"}

_STRUCTS = frozenset({"defstruct", "defexception"})

# Calls whose block is the language's own flow, not something handed to somebody else.
_FLOW = frozenset(
    """case cond for if quote receive try unless with rescue catch after else
    alias import require use super unquote""".split()
)

_HIDDEN = frozenset({"defp", "defmacrop", "defguardp"})


def _call(builder: Builder, node: Node) -> bool:
    """Everything in Elixir is a call; the name called says whether it declares."""
    if node.start_byte in builder.consumed:
        return True
    name = callee(builder, node)
    if name is None:
        return True
    if name in _FUNCTIONS:
        _function(builder, node, name)
    elif name in _MODULES:
        _module(builder, node, name)
    elif name in _STRUCTS and builder.level is Level.TYPE:
        _struct(builder, node)
    elif name in IMPORTERS:
        return IMPORTERS[name](builder, node)
    elif name in _FLOW and builder.at_statement:
        builder.root_item(node, "control")
    return True


def _function(builder: Builder, node: Node, word: str) -> None:
    """`def f(a) do … end`; clauses of one name and arity that follow each other are one symbol."""
    head = head_of(node)
    clause = clause_of(builder, node)
    if head is None or clause is None:
        return
    body, end = _body(node)
    earlier = _earlier_clause(builder, node, clause)
    if earlier is not None:
        builder.extend(earlier, node)
        start = earlier.body.start if earlier.body is not None else node.start_byte
        earlier.body = Span(start, node.end_byte)
        builder.defined.add(clause.place.start_byte)
    else:
        draft = builder.define(
            node,
            _FUNCTIONS[word],
            clause.name,
            name_node=clause.place,
            body=body,
            modifiers=("private",) if word in _HIDDEN else (),
            signature_end=end,
        )
        # What a call makes of a clause's head must not be read as a call.
        draft.tags.append(f"{word} {clause.name}/{clause.arity}")
    builder.consumed.add(clause.call.start_byte)
    for argument in clause.arguments:
        bind_pattern(builder, argument)


def _earlier_clause(builder: Builder, node: Node, clause: object) -> Draft | None:
    return None


def _body(node: Node) -> tuple[Node | None, int | None]:
    """The `do … end` or `do: …` of a call, and where the text before it ends."""
    block = child_of("do_block")(node)
    if block is not None:
        return block, block.start_byte
    arguments = arguments_of(node)
    keywords = child_of("keywords")(arguments) if arguments is not None else None
    for pair in keywords.named_children if keywords is not None else ():
        key = pair.child_by_field_name("key")
        if key is not None and (key.text or b"").strip() == b"do:":
            return pair, pair.start_byte
    return None, None
