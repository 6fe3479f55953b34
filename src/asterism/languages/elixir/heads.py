"""Heads of Elixir definitions: whose clause it is, with how many arguments, binding which names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.rules import child_of
from asterism.analysis.syntax.text import fold
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
