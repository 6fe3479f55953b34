"""`alias`, `import`, `require` and `use` of Elixir."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.text import fold
from asterism.languages.elixir.heads import arguments_of, keyword_value
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node

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
