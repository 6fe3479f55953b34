"""Names that Scala brings in: imports, exports and what patterns bind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft
from asterism.analysis.syntax.language import Rule
from asterism.analysis.syntax.rules import child_of
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node


_COMMENTS = frozenset({"comment", "block_comment"})


def laid_out(rule: Rule) -> Rule:
    """The rule, its definitions cut off before comments that stand no deeper than they do.

    The grammar lets an indented body reach to the next token, over the comment above that token.
    """

    def trimmed(builder: Builder, node: Node) -> bool:
        count = len(builder.drafts)
        descend = rule(builder, node)
        for draft in builder.drafts[count:]:
            if _may_end_in_comment(builder.source, draft):
                _trim(builder, node, draft)
        return descend

    return trimmed


def _may_end_in_comment(source: bytes, draft: Draft) -> bool:
    line = source.rfind(b"\n", draft.start, draft.end) + 1
    return (
        source.endswith(b"*/", draft.start, draft.end) or source.find(b"//", line, draft.end) >= 0
    )


def _trim(builder: Builder, node: Node, draft: Draft) -> None:
    last = _last_token(node, node.start_point[1])
    if last.end_byte >= draft.end or last.end_byte <= node.start_byte:
        return
    draft.end, draft.end_row = last.end_byte, last.end_point[0]
    frame = builder.frames[-1]
    around = builder.frames[-2] if frame.draft is draft else frame
    around.last_end = draft.end


def _last_token(node: Node, column: int) -> Node:
    """The last thing in a node, comments as far left as `column` aside."""
    while node.child_count:
        for position in range(node.child_count - 1, -1, -1):
            child = node.child(position)
            if child is None or child.start_byte == child.end_byte:
                continue
            if child.type not in _COMMENTS or child.start_point[1] > column:
                break
        else:
            return node
        node = child
    return node


_RENAMED = ("arrow_renamed_identifier", "as_renamed_identifier")

# Patterns all of whose parts are patterns again.
_NESTED = frozenset(
    {
        *("identifiers", "tuple_pattern", "alternative_pattern", "infix_pattern"),
        *("case_class_pattern", "typed_pattern", "capture_pattern", "named_pattern"),
        *("named_tuple_pattern", "repeat_pattern"),
    }
)


def import_declaration(builder: Builder, node: Node) -> bool:
    """`import a.b.C`, `a.{B, C => D, given}`, `a._`, `a.B as C`, and several of them."""
    clauses = list(_clauses(builder, node))
    if builder.at_statement:
        label = ", ".join(dict.fromkeys(module for module, _ in clauses))
        builder.root_item(node, "import", f"import:{label}")
    for module, names in clauses:
        builder.add_import(node, module, names)
    return False


def export_declaration(builder: Builder, node: Node) -> bool:
    """`export a.{b, c as d}`: names of something else that become members here."""
    clauses = list(_clauses(builder, node))
    if builder.at_statement:
        label = ", ".join(dict.fromkeys(module for module, _ in clauses))
        builder.root_item(node, "re-export", f"re-export:{label}")
    for module, names in clauses:
        for name in names:
            builder.add_export(name.local, name.name, node, module)
        builder.add_import(node, module, names, reexport=True)
    return False


def _clauses(builder: Builder, node: Node) -> Iterator[tuple[str, list[ImportedName]]]:
    """Module and names of each comma-separated part."""
    path: list[str] = []
    names: list[ImportedName] = []
    for child in node.children[1:]:
        if child.type == ",":
            yield _clause(path, names)
            path, names = [], []
        elif child.type == "namespace_selectors":
            names.extend(name for part in child.named_children for name in _selected(builder, part))
        elif child.type == "namespace_wildcard" or child.type in _RENAMED:
            names.extend(_selected(builder, child))
        elif child.is_named and not child.is_error:
            path.append(builder.text(child))
    if path or names:
        yield _clause(path, names)


def _clause(path: list[str], names: list[ImportedName]) -> tuple[str, list[ImportedName]]:
    if names:
        return ".".join(path), names
    return ".".join(path[:-1]) or ".".join(path), [ImportedName(path[-1])] if path else []


def _selected(builder: Builder, part: Node) -> Iterator[ImportedName]:
    text = builder.text(part)
    if part.type == "namespace_wildcard":
        yield ImportedName("*" if text in ("_", "*") else text)
    elif part.type in _RENAMED:
        alias = builder.field_text(part, "alias")
        # `Name => _` keeps a name out.
        if alias != "_":
            yield ImportedName(builder.field_text(part, "name") or "", alias)
    else:
        yield ImportedName(text)


def bound_names(pattern: Node) -> Iterator[Node]:
    """The variables in a pattern: names in lower case that are not types or stable identifiers."""
    pending = [pattern]
    while pending:
        here = pending.pop()
        if here.type == "identifier":
            text = here.text or b""
            if text[:1].islower() or text[:1] == b"_" or text[:1] > b"\x7f":
                yield here
        elif here.type in _NESTED:
            skipped = here.child_by_field_name("type")
            parts = [part for part in here.named_children if part != skipped]
            pending.extend(reversed(parts))


def bind_pattern(builder: Builder, pattern: Node | None) -> None:
    """Take a pattern's variables as locals of the item being read."""
    if pattern is not None:
        for name in bound_names(pattern):
            builder.bind(name)


def case_clause(builder: Builder, node: Node) -> bool:
    """`case pattern => …`."""
    bind_pattern(builder, node.child_by_field_name("pattern"))
    return True


def enumerator(builder: Builder, node: Node) -> bool:
    """`x <- xs` and `y = f(x)` in a `for`."""
    if node.named_child_count > 1:
        bind_pattern(builder, node.named_children[0])
    return True


def self_type(builder: Builder, node: Node) -> bool:
    """`self: Base =>`."""
    builder.bind(child_of("identifier")(node))
    return True


def arguments(builder: Builder, node: Node) -> bool:
    """`f(name = value)`: the name is the parameter's."""
    for child in node.named_children:
        left = child.child_by_field_name("left") if child.type == "assignment_expression" else None
        if left is not None and left.type == "identifier":
            builder.defined.add(left.start_byte)
    return True
