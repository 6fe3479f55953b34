"""Haskell's module header, its export list and its imports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft
from asterism.analysis.syntax.rules import child_of, children_of
from asterism.analysis.syntax.text import fold
from asterism.languages.haskell.types import clean_haddock
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node


# Only part of these binds: the rest is a view, a field's name or a type.
_HALF_PATTERNS = frozenset({"view_pattern", "field_pattern", "signature"})


def variables(pattern: Node) -> list[Node]:
    """The names a pattern binds; constructors are tested, views and field names are uses."""
    found = []
    pending = [pattern]
    while pending:
        here = pending.pop()
        kind = here.type
        if kind == "variable":
            found.append(here)
        elif kind in _HALF_PATTERNS and here.child_by_field_name("pattern") is not None:
            pending.extend(here.children_by_field_name("pattern"))
        else:
            pending.extend(reversed(here.named_children))
    return found


def bind_pattern(builder: Builder, pattern: Node | None) -> None:
    """Take the names in a pattern as locals."""
    for name in variables(pattern) if pattern is not None else ():
        builder.bind(name)


def parameters(builder: Builder, node: Node) -> bool:
    """Parameters of a function or lambda."""
    bind_pattern(builder, node)
    return True


def binds_pattern(builder: Builder, node: Node) -> bool:
    """Case alternatives, generators, pattern guards."""
    bind_pattern(builder, node.child_by_field_name("pattern"))
    return True


# Kinds whose members are exported with them by `T(..)`.
_HOLDERS = frozenset({"type", "class", "instance"})

EVERYTHING = "*"
"""Among the public names: the module exports all it declares."""


def header(builder: Builder, node: Node) -> bool:
    """`module A.B (exports) where`."""
    module = builder.field_text(node, "module") or ""
    if builder.at_statement:
        builder.root_item(node, "package", fold(f"module {module}"))
    exports = node.child_by_field_name("exports")
    if exports is None:
        builder.public.add(EVERYTHING)
        return False
    for part in exports.named_children:
        if part.type == "module_export":
            inner = builder.field_text(part, "module") or ""
            if inner == module:
                builder.public.add(EVERYTHING)
            builder.add_export("*", "*", part, module=inner)
        elif part.type == "export":
            _export(builder, part)
    return False


def _export(builder: Builder, part: Node) -> None:
    """`f`, `(+)`, `T(..)`, `T(A, b)`, `pattern P`."""
    names = list(_names(builder, part))
    for name in names:
        builder.add_export(name, name, part)
    children = child_of("children")(part)
    for element in children.named_children if children is not None else ():
        builder.public.add(f"{names[0]}({_plain(builder, element)})")


def _names(builder: Builder, part: Node) -> Iterator[str]:
    """What an item of an import or export list names, the members it lists included."""
    for field in ("variable", "type", "operator"):
        name = part.child_by_field_name(field)
        if name is not None:
            yield _plain(builder, name)
    children = child_of("children")(part)
    for element in children.named_children if children is not None else ():
        if element.type != "all_names":
            yield _plain(builder, element)


def _plain(builder: Builder, node: Node) -> str:
    """A name without parentheses and module."""
    text = builder.text(node)
    text = text[1:-1].strip() if text.startswith("(") and text.endswith(")") else text
    if node.type == "qualified":
        return builder.field_text(node, "id") or text
    return text


def import_(builder: Builder, node: Node) -> bool:
    """`import qualified A.B as C hiding (x)`, in any combination."""
    module = builder.field_text(node, "module") or ""
    if builder.at_statement:
        builder.root_item(node, "import", fold(f"import:{module}"))
    words = {child.type for child in node.children if not child.is_named}
    alias = builder.field_text(node, "alias")
    listed = node.child_by_field_name("names")
    names: list[ImportedName] = []
    if "qualified" not in words:
        if listed is None or "hiding" in words:
            names.append(ImportedName("*"))
        else:
            for part in children_of(listed, "import_name"):
                names.extend(ImportedName(name) for name in _names(builder, part))
    if alias is not None or "qualified" in words:
        names.append(ImportedName("*", alias or module))
    builder.add_import(node, module, names, side_effect=not names)
    return False


def exported(draft: Draft, builder: Builder) -> bool:
    """What the export list names; without one everything at the top, without a header `main`."""
    parent = builder.drafts[draft.parent] if draft.parent is not None else None
    everything = EVERYTHING in builder.public
    if parent is not None and parent.is_root:
        return False
    if parent is None:
        # Instances cannot be held back.
        return draft.kind == "instance" or everything or draft.name in builder.public
    top = parent
    while top.parent is not None and top.kind not in _HOLDERS:
        top = builder.drafts[top.parent]
    if top.kind not in _HOLDERS or top.parent is not None or draft.kind == "function":
        return False
    if top.kind == "instance" or everything:
        return True
    if f"{top.name}(..)" in builder.public or f"{top.name}({draft.name})" in builder.public:
        return True
    # A constructor often has its type's name, and is not exported by that.
    return draft.kind != "constructor" and draft.name in builder.public


def finish(builder: Builder) -> None:
    """Complete the docs; a file without a header is `module Main (main)`, without a list all."""
    for draft in builder.drafts:
        if draft.doc is not None and draft.first_row < draft.start_row:
            _whole_doc(builder, draft)
    if not any(draft.kind == "package" for draft in builder.drafts):
        builder.public.add("main")
    if builder.exports:
        return
    for draft in builder.drafts:
        at_top = draft.parent is None and not draft.is_root and draft.kind != "instance"
        if at_top and exported(draft, builder):
            builder.declare_export(draft.name, draft)


def _whole_doc(builder: Builder, draft: Draft) -> None:
    """The lines below `-- |` go on with it; where it is indented they are other comments."""
    text = builder.source[draft.start : draft.end].decode("utf-8", "replace")
    lines = [line.lstrip() for line in text.split("\n")[: draft.start_row - draft.first_row]]
    begins = [number for number, line in enumerate(lines) if line.startswith("-- |")]
    if begins and not any(line.startswith("{-") for line in lines):
        draft.doc = clean_haddock(lines[begins[-1] :])
