"""What is wrong with a snapshot, by a walk over syntax trees of its own."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from asterism.analysis.syntax.cuts import problems_of
from asterism.analysis.syntax.language import ended, table_of
from asterism.analysis.syntax.outlines import language_of
from asterism.analysis.syntax.outlines import outline as read_again
from asterism.reply.layout import is_shown, subtree
from asterism.reply.snapshots import Snapshot
from asterism.types.outline import Outline
from tests.reply.python_walk import uses_and_shown

_NAME_LEAVES = frozenset(
    {"identifier", "type_identifier", "simple_identifier", "shorthand_property_identifier"}
    | {"jsx_identifier", "constant", "name", "alias", "variable", "constructor"}
)
_DEFINING_FIELDS = frozenset(
    {"name", "pattern", "left", "parameter", "declarator", "key", "label", "alias"}
)
_DEFINING_NODES = re.compile(
    "declarat|param|pattern|binding|let_|for_|catch|lambda|closure|variable|spec|short_var|range"
    "|except|foreach|capture|labeled|arrow|value_argument|keyword_argument"
)
_USING_FIELDS = frozenset(
    {"value", "right", "type", "default_value", "function", "object", "body", "return_type"}
    | {"condition"}
)
_MEMBER_MARKS = (b".", b"::", b"->", b"\\")
_WORD = re.compile(r"\w+")
_WORDS = re.compile(r"\w+|[^\w\s]")
_MARK = re.compile(r"⋯ lines? (\d+)(?:–(\d+))?")
_REMARK = re.compile(r"(?:#|//|/\*|\*|--)")


class Fault(NamedTuple):
    """One thing that a snapshot must not be."""

    kind: str
    message: str


class Leaf(NamedTuple):
    """A name in a tree."""

    name: str
    start: int
    defines: bool
    """Whether it binds names rather than using them."""


def faults(outline: Outline, source: bytes, made: Snapshot) -> Iterator[Fault]:
    """Everything wrong with a snapshot of a file that parses."""
    for problem in problems_of(outline, made.text.encode())[:1]:
        yield Fault("unparsed", f"line {problem.line}: {problem.message}")
    yield from _missing(outline, source, made)
    yield from _unused(outline, made)
    yield from _out_of_order(source, made)
    yield from _unmarked(outline, source, made)
    if outline.language == "python" and len(made.targets) == 1:
        yield from _python(outline, source, made)


def _python(outline: Outline, source: bytes, made: Snapshot) -> Iterator[Fault]:
    """What Python's own parser says that a definition uses, and what is shown of it."""
    item = outline.items[made.targets[0]]
    lines = range(item.start_line, item.end_line + 1)
    try:
        found = uses_and_shown(source.decode(), made.text, lines)
    except SyntaxError:
        # Another version's syntax, or a file in another encoding; the grammar's word stands.
        return
    if found is not None:
        needed, shown = found
        if needed - shown:
            yield Fault("missing", f"Python says {sorted(needed - shown)} are used")
        if shown - needed:
            yield Fault("unused", f"Python says {sorted(shown - needed)} are not used")


def leaves(path: str, source: bytes) -> list[Leaf]:
    """Every name that stands as a leaf of the tree, comments and plain strings aside."""
    entry = language_of(path, source)
    tree = table_of(entry).parse(ended(source)) if ":" in entry.home else None
    found: list[Leaf] = []
    pending: list[Node] = [tree.root_node] if tree is not None else []
    while pending:
        node = pending.pop()
        if "comment" in node.type or "directive" in node.type:
            # A condition such as `#if canImport(Combine)` names a module and uses nothing of it.
            continue
        if node.child_count:
            pending.extend(node.children)
        elif node.is_named and node.type in _NAME_LEAVES:
            name = (node.text or b"").decode("utf-8", "replace")
            found.append(Leaf(name, node.start_byte, _defines(node)))
    return found


def _defines(leaf: Node) -> bool:
    if leaf.parent is not None and leaf.parent.type == "expression_list":
        # `a, b := f()`
        leaf = leaf.parent
    parent = leaf.parent
    if parent is None:
        return False
    at = next(index for index, child in enumerate(parent.children) if child.id == leaf.id)
    field = parent.field_name_for_child(at)
    if field in _DEFINING_FIELDS:
        return True
    return bool(_DEFINING_NODES.search(parent.type)) and field not in _USING_FIELDS


def _missing(outline: Outline, source: bytes, made: Snapshot) -> Iterator[Fault]:
    """Names in the targets that the file declares at its top, and that the snapshot does not."""
    items = outline.items
    declared = {
        item.name
        for index, item in enumerate(items)
        if len(item.path) == 1 and item.parent is None and is_shown(items, index)
    }
    for entry in outline.imports:
        if entry.binds and (entry.enclosing is None or items[entry.enclosing].kind == "import"):
            declared.update(name.local for name in entry.names)
    # A name that is declared further in as well may mean that one.
    declared -= {"*", *(item.name for item in items if len(item.path) > 1)}
    again = read_again(outline.path, made.text.encode())
    there = {name.local for entry in again.imports for name in entry.names}
    there.update(item.name for item in again.items if len(item.path) == 1)
    # The list of exports in a module's head offers names and uses none.
    spans = [items[index].span for index in made.targets if items[index].kind != "package"]
    inside = [
        leaf
        for leaf in leaves(outline.path, source)
        if any(span.start <= leaf.start < span.end for span in spans)
    ]
    bound = {leaf.name for leaf in inside if leaf.defines}
    for name, start, _defines in inside:
        behind = source[max(0, start - 2) : start].rstrip().endswith(_MEMBER_MARKS)
        if name in declared and not behind and name not in bound and name not in there:
            yield Fault("missing", name)


def _unused(outline: Outline, made: Snapshot) -> Iterator[Fault]:
    """Declarations that nothing else in the snapshot names, neither they nor what is in them."""
    counts = Counter(_WORD.findall(made.text))
    for index in made.needs.items:
        below = [outline.items[at].name for at in subtree(outline.items, index)]
        above = outline.items[index].parent
        if above is not None and outline.items[index].kind == "property":
            # Of a large type without a field that is used the first one is shown.
            below.append(outline.items[above].name)
        if all(counts[name.strip("@$#`'!?")] < 2 for name in below):
            yield Fault("unused", outline.items[index].signature)
    for number, names in made.needs.imports.items():
        for name in names:
            if name.isidentifier() and counts[name] < 2:
                yield Fault("unused", outline.imports[number].text)


def _out_of_order(source: bytes, made: Snapshot) -> Iterator[Fault]:
    """Words that the file does not have, or not in this order, or not as often."""
    rest = iter(_WORDS.findall(source.decode("utf-8", "replace")))
    lines = made.text.split("\n")[1:]
    body = "\n".join(line for line in lines if not _MARK.search(line))
    for word in _WORDS.findall(body):
        if word not in rest:
            yield Fault("twice", f"{word!r} is not the next such word of the file")
            return


def _unmarked(outline: Outline, source: bytes, made: Snapshot) -> Iterator[Fault]:
    """Lines of a function around a target that are neither shown nor among the marked ones."""
    shown = Counter(line.strip() for line in made.text.split("\n"))
    marked = {
        line
        for found in _MARK.finditer(made.text)
        for line in range(int(found[1]), int(found[2] or found[1]) + 1)
    }
    lines = source.decode("utf-8", "replace").split("\n")
    for target in made.targets:
        around = outline.items[target].parent
        while around is not None:
            item = outline.items[around]
            if item.kind in ("function", "method", "constructor"):
                for number in range(item.start_line, item.end_line + 1):
                    text = lines[number - 1].strip()
                    is_code = re.search(r"\w", text) and not _REMARK.match(text)
                    if is_code and number not in marked and text not in shown:
                        yield Fault("unmarked", f"line {number}: {text}")
            around = item.parent
