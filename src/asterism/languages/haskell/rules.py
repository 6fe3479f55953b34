"""Haskell: functions as their signature and all their equations, local ones, patterns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import child_of, transparent
from asterism.analysis.syntax.text import Conventions
from asterism.languages.haskell.modules import (
    bind_pattern,
    binds_pattern,
    exported,
    finish,
    header,
    import_,
    parameters,
    variables,
)
from asterism.languages.haskell.types import (
    class_,
    constructor,
    data,
    foreign,
    instance,
    record_field,
    silence,
    type_,
)
from asterism.languages.shared import spans_lines
from asterism.types.outline import Span

if TYPE_CHECKING:
    from tree_sitter import Node

_EQUATIONS = frozenset({"function", "bind"})

# What may stand between the parts of one function without ending it.
_BETWEEN = frozenset({"comment", "haddock", "cpp", "pragma"})

# How many of those are looked past; without an end to it the look-ahead would be quadratic.
_NEAR = 8

_GROWING = frozenset({"signature", "function", "method", "constructor"})

_IF = re.compile(rb"^[ \t]*#[ \t]*if", re.MULTILINE)
_ENDIF = re.compile(rb"^[ \t]*#[ \t]*endif", re.MULTILINE)

_WORD = re.compile(r"[^\s,()]+")


def _place_of(node: Node | None) -> Node | None:
    """The name inside `(+)`, `` `f` `` or a plain name."""
    while node is not None and node.type in ("prefix_id", "infix_id"):
        node = node.named_children[0] if node.named_child_count else None
    # Where text is missing the grammar puts names without any in.
    return node if node is not None and (node.text or b"").strip() else None


def _equation_name(node: Node) -> Node | None:
    """The name an equation defines: before its patterns, or between two of them."""
    while True:
        name = node.child_by_field_name("name")
        if name is not None:
            return _place_of(name)
        inner = child_of("infix", "function_head_parens")(node)
        if inner is None:
            return _place_of(node.child_by_field_name("operator"))
        node = inner


def _declared(builder: Builder, node: Node | None) -> list[str]:
    """The names a declaration declares, as far as its siblings need them."""
    if node is None:
        return []
    if node.type in _EQUATIONS:
        place = _equation_name(node)
        return [builder.text(place)] if place is not None else []
    names = node.child_by_field_name("names")
    parts = names.named_children if names is not None else [node.child_by_field_name("name")]
    places = (_place_of(part) for part in parts)
    return [builder.text(place) for place in places if place is not None]


def _following(node: Node) -> Node | None:
    following = node.next_named_sibling
    for _ in range(_NEAR):
        if following is None or following.type not in _BETWEEN:
            break
        following = following.next_named_sibling
    return following


def _last(builder: Builder) -> Draft | None:
    """The item that stands before the current node in the same surroundings."""
    owner = builder.owner
    if owner is not None:
        return builder.drafts[owner.children[-1]] if owner.children else None
    return next((draft for draft in reversed(builder.drafts) if draft.parent is None), None)


def _signature(builder: Builder, node: Node) -> bool:
    """`f :: Int -> Int`: the start of a function, or a promise if no equation follows."""
    silence(builder, node.child_by_field_name("type"))
    names = _declared(builder, node)
    if not names or node.start_byte in builder.consumed or _is_torn_off(builder, node):
        return True
    listed = node.child_by_field_name("names") or node
    found = (_place_of(part) for part in listed.children_by_field_name("name"))
    places = [place for place in found if place is not None]
    builder.defined.update(place.start_byte for place in places)
    following = _following(node)
    kind = following.type if following is not None else ""
    begun = kind in _EQUATIONS and any(name in names for name in _declared(builder, following))
    if builder.level is Level.FUNCTION and not (begun and kind == "function"):
        return True
    if begun and len(names) > 1:
        _promise(builder, node, listed)
        builder.prefix(node)
        return True
    for place in places:
        builder.define(
            node, "signature", builder.text(place), name_node=place, opens=place == places[-1]
        )
    return True


def _promise(builder: Builder, node: Node, listed: Node) -> None:
    """`a, b :: Int` above the equations of both: each keeps the type for its own signature."""
    kind = node.child_by_field_name("type")
    if kind is None:
        return
    written = builder.signature(node, kind.start_byte, kind.end_byte)
    for part in listed.children_by_field_name("name"):
        name = builder.text(_place_of(part) or part)
        builder.notes[_promised(builder, name)] = f"{builder.text(part)} :: {written}"


def _promised(builder: Builder, name: str) -> tuple[str, int | None, str]:
    return ("type", builder.frames[-1].index, name)


def _equation(builder: Builder, node: Node) -> bool:
    """One equation: it continues the function before it or begins one; others bind names."""
    match = node.child_by_field_name("match")
    if match is None:
        # `x <- action`; the arrow of a type is called `function` as well.
        bind_pattern(builder, node.child_by_field_name("pattern"))
        return True
    if _is_torn_off(builder, node):
        return True
    place = _equation_name(node)
    if place is None:
        _pattern_binding(builder, node, match)
        return True
    name = builder.text(place)
    if builder.level is Level.FUNCTION and node.type == "bind":
        builder.bind(place)
        return True
    builder.defined.add(place.start_byte)
    kind = "method" if builder.level is Level.TYPE else "function"
    last = _last(builder)
    if last is not None and last.name == name and last.kind in ("signature", kind):
        _continue(builder, node, last)
        last.kind = kind
    else:
        promise = builder.notes.pop(_promised(builder, name), None)
        last = builder.define(node, kind, name, name_node=place, signature_end=match.start_byte)
        last.body = Span(match.start_byte, node.end_byte)
        last.signature = promise or last.signature
    operands = child_of("infix", "function_head_parens")(node)
    if node.child_by_field_name("name") is None and operands is not None:
        bind_pattern(builder, operands)
    _take_trailing_doc(node, last)
    return True


def _is_torn_off(builder: Builder, node: Node) -> bool:
    """Whether a local declaration has lost the function it stood in: broken text."""
    if builder.level is not Level.MODULE or builder.at_statement:
        return False
    return node.parent is not None and node.parent.type in ("local_binds", "let")


def _continue(builder: Builder, node: Node, draft: Draft) -> None:
    """Let a function reach over one more equation."""
    builder.extend(draft, node)
    start = draft.body.start if draft.body is not None else node.start_byte
    draft.body = Span(start, node.end_byte)


def _take_trailing_doc(node: Node, draft: Draft) -> None:
    """Haddock that begins behind an equation may go on below it."""
    note = node.next_sibling
    if note is not None and note.type == "haddock" and note.start_point[0] == draft.end_row:
        draft.end, draft.end_row = note.end_byte, note.end_point[0]


def _pattern_binding(builder: Builder, node: Node, match: Node) -> None:
    """`(a, b) = …`: at the top each name is a symbol."""
    pattern = node.child_by_field_name("pattern")
    if builder.level is not Level.MODULE or pattern is None:
        bind_pattern(builder, pattern)
        return
    names = list(variables(pattern))
    for name in names:
        builder.define(
            node,
            "function",
            builder.text(name),
            name_node=name,
            signature_end=match.start_byte,
            opens=name == names[-1],
        )


def _default_signature(builder: Builder, node: Node) -> bool:
    """`default f :: …` belongs to the method it is about."""
    inner = child_of("signature")(node)
    last = _last(builder)
    if inner is not None:
        builder.consumed.add(inner.start_byte)
        if last is not None and last.name in _declared(builder, inner):
            builder.extend(last, node)
    return True


def _pattern_synonym(builder: Builder, node: Node) -> bool:
    """`pattern P x = …` with its signature."""
    inner = node.named_children[0] if node.named_child_count else None
    place = inner.child_by_field_name("synonym") if inner is not None else None
    while place is not None and place.named_child_count:
        operator = place.child_by_field_name("operator")
        place = operator or place.named_children[0]
    if inner is None or place is None:
        return True
    builder.consumed.add(inner.start_byte)
    builder.defined.add(place.start_byte)
    last = _last(builder)
    name = builder.text(place)
    if last is not None and last.kind == "constructor" and last.name == name:
        _continue(builder, node, last)
    else:
        builder.define(node, "constructor", name, name_node=place)
    if inner.type == "signature":
        silence(builder, inner.child_by_field_name("type"))
    else:
        bind_pattern(builder, inner.child_by_field_name("synonym"))
    return True


def _about(builder: Builder, node: Node) -> bool:
    """`{-# INLINE f #-}`, `infixl 6 <+>`, `type T :: …`: part of what they name, if it is near."""
    if not builder.at_statement:
        return False
    words = set(_WORD.findall(builder.text(node)))
    last = _last(builder)
    if last is not None and not last.is_root and last.name in words:
        builder.extend(last, node)
    elif words.intersection(_declared(builder, _following(node))):
        builder.prefix(node)
    return False


def _conditional(builder: Builder, node: Node) -> bool:
    """`#if` between equations of one function is inside it, and so is its `#endif`."""
    last = _last(builder) if builder.at_statement else None
    if last is None or last.is_root:
        return False
    text = builder.source[last.start : last.end]
    is_open = len(_IF.findall(text)) > len(_ENDIF.findall(text))
    if spans_lines(node):
        # The grammar takes a whole `#else` branch as one node without reading it. Where functions
        # stand inside, their like in the branch would not be found by themselves.
        if is_open and not last.children and _other_equations(builder.text(node)) == {last.name}:
            _continue(builder, node, last)
        return False
    following = _following(node)
    goes_on = (
        last.kind in _GROWING
        and following is not None
        and following.type in _EQUATIONS
        and last.name in _declared(builder, following)
    )
    if is_open or goes_on:
        builder.extend(last, node)
    return False


def _other_equations(branch: str) -> set[str]:
    """The words that begin a line of an `#else` branch: what it defines."""
    lines = (line for line in branch.split("\n") if line[:1].strip())
    heads = (_WORD.search(line) for line in lines if not line.startswith(("#", "--", "{-")))
    return {head.group() for head in heads if head is not None}


def _data_instance(builder: Builder, node: Node) -> bool:
    builder.wrap(node)
    return True


def _foreign_export(builder: Builder, node: Node) -> bool:
    """`foreign export` offers a function to C; its signature is the function's own."""
    inner = child_of("signature")(node)
    if inner is not None:
        builder.consumed.add(inner.start_byte)
    return True


def _qualified(builder: Builder, node: Node) -> bool:
    """`M.lookup`: the grammar counts the dot to the module."""
    module, name = node.child_by_field_name("module"), node.child_by_field_name("id")
    if module is not None and name is not None:
        builder.receivers[name.start_byte] = builder.text(module).rstrip(".")
        for part in module.named_children[1:]:
            before = builder.slice(module.start_byte, part.start_byte)
            builder.receivers[part.start_byte] = before.rstrip(".")
    return True


def _type_application(builder: Builder, node: Node) -> bool:
    silence(builder, node)
    return True


CONVENTIONS = Conventions(
    identifiers=frozenset(
        {"variable", "constructor", "name", "operator", "constructor_operator", "module_id"}
    ),
    comments=frozenset({"comment", "haddock"}),
    skipped=frozenset({"literal", "quasiquote_body", "deriving_strategy"}),
    members={"projection": ("expression", "field")},
    statements={
        "cpp": "directive",
        "pragma": "directive",
        "fixity": "directive",
        "default_types": "directive",
        "role_annotation": "directive",
        "kind_signature": "directive",
        "foreign_export": "export",
    },
    doc_prefixes=("-- |", "{-|", "{- |"),
    inner_doc_prefixes=("-- ^", "{-^", "{- ^"),
    line_comment="--",
    terminators=("::",),
)

RULES: dict[str, Rule] = {
    "header": header,
    "imports": transparent,
    "declarations": transparent,
    "import": import_,
    "signature": _signature,
    "function": _equation,
    "bind": _equation,
    "data_type": data,
    "newtype": data,
    "data_constructor": constructor,
    "newtype_constructor": constructor,
    "gadt_constructor": constructor,
    "field": record_field,
    "type_synonym": type_,
    "type_family": type_,
    "data_family": type_,
    "class": class_,
    "instance": instance,
    "deriving_instance": instance,
    "type_instance": instance,
    "default_signature": _default_signature,
    "pattern_synonym": _pattern_synonym,
    "data_instance": _data_instance,
    "foreign_import": foreign,
    "foreign_export": _foreign_export,
    "pragma": _about,
    "fixity": _about,
    "kind_signature": _about,
    "role_annotation": _about,
    "cpp": _conditional,
    "patterns": parameters,
    "alternative": binds_pattern,
    "generator": binds_pattern,
    "pattern_guard": binds_pattern,
    "qualified": _qualified,
    "type_application": _type_application,
}

HASKELL = Language(
    "haskell", ("tree_sitter_haskell", "language"), CONVENTIONS, RULES, exported, finish
)
