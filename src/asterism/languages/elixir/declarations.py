"""Elixir definitions and `@` attributes: names, arguments, types, callbacks and documentation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Level
from asterism.analysis.syntax.rules import child_of, value_cut
from asterism.analysis.syntax.text import clean_docstring, fold
from asterism.languages.shared import NAME_LIMIT
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node


# Operators in a pattern whose both sides are patterns, and those where only the left one is.
_JOINING = frozenset({"=", "|", "<>", "=>"})
_LEADING = frozenset({"\\\\", "::", "when"})

_CONTAINERS = frozenset(
    {"tuple", "list", "map", "map_content", "keywords", "arguments", "bitstring", "block"}
)


class Clause(NamedTuple):
    """One clause of a function or macro."""

    word: str
    name: str
    place: Node
    call: Node
    arguments: Sequence[Node]

    def same_function(self, other: Clause | None) -> bool:
        """Whether two clauses define one function: word, name and arity agree."""
        return (
            other is not None
            and (self.word, self.name) == (other.word, other.name)
            and len(self.arguments) == len(other.arguments)
        )


def callee(builder: Builder, node: Node) -> str | None:
    """The plain name a call calls; None for `A.b()` and computed ones."""
    target = node.child_by_field_name("target")
    return builder.text(target) if target is not None and target.type == "identifier" else None


def arguments_of(call: Node) -> list[Node]:
    """The arguments of a call, without its block."""
    arguments = child_of("arguments")(call)
    return arguments.named_children if arguments is not None else []


def keyword_value(builder: Builder, call: Node, key: str) -> Node | None:
    """The value of `key:` among a call's arguments."""
    for argument in arguments_of(call):
        for pair in argument.named_children if argument.type == "keywords" else ():
            if (builder.field_text(pair, "key") or "").strip() == f"{key}:":
                return pair.child_by_field_name("value")
    return None


def name_of(builder: Builder, place: Node) -> str:
    """A name as written; one that is made by `unquote(…)` may be long, and is cut."""
    text = builder.text(place)
    return text if place.type in ("identifier", "alias") else fold(text, NAME_LIMIT)


def operator_of(node: Node) -> str:
    """The operator of a binary or unary operation."""
    operator = node.child_by_field_name("operator")
    return operator.type if operator is not None else ""


def without_guard(node: Node) -> Node:
    """A head without its `when …`."""
    if node.type == "binary_operator" and operator_of(node) == "when":
        return node.child_by_field_name("left") or node
    return node


def clause_of(builder: Builder, definition: Node) -> Clause | None:
    """Which function a `def…` call adds a clause to."""
    word = callee(builder, definition)
    parts = arguments_of(definition)
    if word is None or not parts:
        return None
    head = without_guard(parts[0])
    if head.type == "identifier" and not head.is_missing:
        return Clause(word, builder.text(head), head, head, ())
    if head.type == "call":
        target = head.child_by_field_name("target")
        if target is None or target.is_missing:
            return None
        return Clause(word, name_of(builder, target), target, head, arguments_of(head))
    operator = head.child_by_field_name("operator")
    if operator is None:
        return None
    sides = (head.child_by_field_name("left"), head.child_by_field_name("right"))
    operands = [side for side in sides if side is not None] or head.named_children
    return Clause(word, builder.text(operator), operator, head, operands)


def bind_pattern(builder: Builder, pattern: Node | None) -> None:
    """The variables of a pattern; pinned ones, calls and struct names are uses."""
    pending = [pattern]
    while pending:
        here = pending.pop()
        if here is None:
            continue
        kind = here.type
        if kind == "identifier":
            if builder.text(here) != "__MODULE__":
                builder.bind(here)
        elif kind in _CONTAINERS:
            pending.extend(here.named_children)
        elif kind == "pair":
            pending.append(here.child_by_field_name("value"))
        elif kind == "binary_operator":
            operator = operator_of(here)
            if operator in _JOINING:
                pending.append(here.child_by_field_name("right"))
            if operator in _JOINING or operator in _LEADING:
                pending.append(here.child_by_field_name("left"))


Binder: TypeAlias = "Callable[[Builder, Node, str], list[ImportedName]]"


def _alias(builder: Builder, node: Node, module: str) -> list[ImportedName]:
    """`alias A.B` binds `B`, or what `as:` says."""
    renamed = keyword_value(builder, node, "as")
    local = builder.text(renamed) if renamed is not None else module.rpartition(".")[2]
    return [ImportedName("*", local)]


def _require(builder: Builder, node: Node, module: str) -> list[ImportedName]:
    """`require A.B` makes the macros of `A.B` callable under that name."""
    renamed = keyword_value(builder, node, "as")
    return [ImportedName("*", builder.text(renamed) if renamed is not None else module)]


def _import(builder: Builder, node: Node, _module: str) -> list[ImportedName]:
    """`import A, only: [f: 1]` binds `f`; without `only:` everything."""
    only = keyword_value(builder, node, "only")
    names = []
    for keywords in only.named_children if only is not None else ():
        for pair in keywords.named_children:
            key = builder.field_text(pair, "key")
            if key is not None:
                names.append(ImportedName(key.strip().removesuffix(":")))
    return list(dict.fromkeys(names)) or [ImportedName("*")]


def _use(_builder: Builder, _node: Node, _module: str) -> list[ImportedName]:
    """`use A` brings in whatever `A` decides."""
    return [ImportedName("*")]


def _importer(binder: Binder) -> Callable[[Builder, Node], bool]:
    def read(builder: Builder, node: Node) -> bool:
        parts = arguments_of(node)
        modules = list(_modules(builder, parts[0])) if parts else []
        target = node.child_by_field_name("target")
        if not modules or target is None:
            return True
        if builder.at_statement:
            builder.root_item(node, "import", fold(f"import:{', '.join(modules)}"))
        for module in modules:
            builder.add_import(node, module, binder(builder, node, module))
        builder.defined.add(target.start_byte)
        builder.defined.add(parts[0].start_byte)
        # The options of `use` may hold code; the rest of the others is names already read.
        return binder is _use

    return read


def _modules(builder: Builder, node: Node) -> Iterator[str]:
    """`A.B`, `__MODULE__.B`, `A.{B, C.D}`."""
    if node.type == "alias" or (node.type == "identifier" and builder.text(node) == "__MODULE__"):
        yield builder.text(node)
    elif node.type == "dot":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        inner = right.named_children if right.type == "tuple" else [right]
        for part in inner:
            if part.type == "alias":
                yield f"{builder.text(left)}.{builder.text(part)}"


def module_name(builder: Builder, node: Node) -> bool:
    """`Foo.Bar` is one word to the grammar; it uses `Foo`, and `Bar` of it."""
    at = node.start_byte
    if at not in builder.defined:
        receiver = builder.receivers.get(at)
        for part in builder.text(node).split("."):
            if part.strip():
                builder.mention(part.strip(), at, receiver)
                receiver = f"{receiver}.{part.strip()}" if receiver else part.strip()
            at += len(part.encode()) + 1
    return False


IMPORTERS = {
    "alias": _importer(_alias),
    "require": _importer(_require),
    "import": _importer(_import),
    "use": _importer(_use),
}
"""How each of the four reads a call of it; returns whether to look inside."""


_TYPES = {"type": (), "typep": ("private",), "opaque": ("opaque",)}

_CALLBACKS = frozenset({"callback", "macrocallback"})

_DOCS = frozenset({"doc", "typedoc"})

# Attributes about the definition below them.
_PREFIXES = frozenset(
    {
        *("decorate", "deprecated", "derive", "describetag", "dialyzer", "doc", "enforce_keys"),
        *("impl", "since", "spec", "tag", "typedoc"),
    }
)

# Attributes that speak to the compiler or a framework rather than name a value.
_RESERVED = _PREFIXES | {
    *("after_compile", "after_verify", "before_compile", "behaviour", "compile"),
    *("external_resource", "file", "moduledoc", "moduletag", "nifs", "on_definition", "on_load"),
    *("optional_callbacks", "vsn"),
}

# How many attributes a definition can have above it; looking on without end would be quadratic.
_NEAR = 32

_SPECS = frozenset({"spec"})


def attribute(builder: Builder, node: Node) -> bool:
    """`@name` is a use, `@name value` a declaration."""
    operand = node.child_by_field_name("operand")
    if operand is None or operator_of(node) != "@":
        return True
    if operand.type == "identifier":
        # The sign is part of the constant's name, so the use keeps it.
        builder.receivers[operand.start_byte] = "@"
        return True
    target = operand.child_by_field_name("target")
    values = arguments_of(operand) if operand.type == "call" else []
    if target is None or target.type != "identifier" or not values:
        return True
    name = builder.text(target)
    builder.defined.add(target.start_byte)
    builder.consumed.add(operand.start_byte)
    if name in _TYPES:
        _type(builder, node, values[0], _TYPES[name])
    elif name in _CALLBACKS:
        _callback(builder, node, values[0])
    elif name in _RESERVED:
        if name in _SPECS:
            _silence_labels(builder, values[0])
        doc = _doc_text(builder, values[0]) if name in _DOCS else None
        if name in _PREFIXES and _precedes_definition(builder, node):
            decorators = () if name in _DOCS or name in _SPECS else (name,)
            builder.prefix(node, decorators, doc)
        elif name == "doc" and doc is not None:
            # Constants may stand between a function and its documentation.
            builder.notes[_waiting_doc(builder)] = doc
    elif builder.level is Level.TYPE:
        builder.define(
            node, "const", f"@{name}", name_node=target, signature_end=value_cut(node, values[0])
        )
    return True


def _type(builder: Builder, node: Node, value: Node, modifiers: tuple[str, ...]) -> None:
    """`@type t(a) :: …`."""
    head = _left_of_colons(value)
    target = head.child_by_field_name("target") or head
    name = name_of(builder, target)
    if not name:
        return
    builder.define(
        node,
        "type",
        name,
        name_node=target,
        modifiers=modifiers,
        signature_end=value_cut(node, value.child_by_field_name("right")),
    )
    for parameter in arguments_of(head):
        bind_pattern(builder, parameter)


def _callback(builder: Builder, node: Node, value: Node) -> None:
    """`@callback f(a :: term) :: term`."""
    head = _left_of_colons(without_guard(value))
    target = head.child_by_field_name("target") or head
    name = name_of(builder, target)
    if name:
        builder.define(node, "signature", name, name_node=target)
    _silence_labels(builder, value)


def _left_of_colons(node: Node) -> Node:
    if node.type == "binary_operator":
        return node.child_by_field_name("left") or node
    return node


def _silence_labels(builder: Builder, value: Node) -> None:
    """In `@spec f(x :: integer) :: t when t: var` neither `f` nor `x` is used."""
    head = _left_of_colons(without_guard(value))
    target = head.child_by_field_name("target") or head
    builder.defined.add(target.start_byte)
    for argument in arguments_of(head):
        if argument.type == "binary_operator" and operator_of(argument) == "::":
            label = argument.child_by_field_name("left")
            if label is not None:
                builder.defined.add(label.start_byte)


def take_waiting_doc(builder: Builder) -> str | None:
    """The `@doc` of this module that has not met its function yet."""
    return builder.notes.pop(_waiting_doc(builder), None)


def _waiting_doc(builder: Builder) -> tuple[str, int | None]:
    return ("doc", builder.frames[-1].index)


def _doc_text(builder: Builder, value: Node) -> str | None:
    """A string or sigil; `@doc false` and `@doc since: …` say nothing."""
    if value.type not in ("string", "sigil"):
        return None
    return clean_docstring(builder.text(value))


def _precedes_definition(builder: Builder, node: Node) -> bool:
    """Whether what follows, other attributes aside, is something the attribute can be about."""
    following = node.next_named_sibling
    for _ in range(_NEAR):
        if following is None or following.type not in ("comment", "unary_operator"):
            break
        operand = following.child_by_field_name("operand")
        if operand is not None:
            name = callee(builder, operand) if operand.type == "call" else None
            if name in _TYPES or name in _CALLBACKS:
                return True
            if name not in _PREFIXES:
                return False
        following = following.next_named_sibling
    if following is None or following.type != "call":
        return False
    name = callee(builder, following)
    is_block = following.named_child_count and following.named_children[-1].type == "do_block"
    return name is not None and (name.startswith("def") or bool(is_block))
