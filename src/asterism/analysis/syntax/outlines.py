"""Turns a file's bytes into its outline in one pass over the syntax tree. Parsing never fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from asterism.analysis.source.text import decode, is_binary
from asterism.analysis.syntax.builder import Builder, last_row
from asterism.analysis.syntax.draft import Comment
from asterism.analysis.syntax.language import (
    COMMENT,
    IDENTIFIER,
    SKIPPED,
    TEXT,
    TOKEN,
    DialectEntry,
    Table,
    detect,
    ended,
    is_missing,
    sharing,
    table_of,
)
from asterism.analysis.syntax.problems import nest, problems_in
from asterism.analysis.syntax.prose import outline_prose
from asterism.analysis.syntax.text import is_blank, line_offsets, outline_text, root_item
from asterism.languages.registry import code_of
from asterism.types.errors import WorkerDied
from asterism.types.outline import Item, Outline, Problem, Reference, Span

if TYPE_CHECKING:
    from tree_sitter import Node, TreeCursor


UNFOLLOWED = Problem(1, 0, "damaged in a way that cannot be followed; read as plain text")
"""A file that a rule of its language fails on must not keep a repository from being indexed. Each
such file is a bug, which `make fuzz` looks for."""

NOT_INSTALLED = "read as plain text: its grammar is not installed (pip install 'asterism[{}]')"

# A shebang is at most one line; the kernel reads no more of it either.
SHEBANG_BYTES = 256


def language_of(path: str, data: bytes) -> DialectEntry:
    """The language of a file by its name; by its text where the name leaves it open."""
    entry = detect(path, data[:SHEBANG_BYTES])
    others = sharing(path)
    if not others:
        return entry
    for other in others:
        if not is_missing(other) and code_of(other.claims)(data):
            return other
    return TEXT if entry in others and not is_missing(entry) else entry


def outline_bytes(path: str, data: bytes) -> Outline:
    """The outline of a file as it lies on disk; a binary file has an empty one."""
    if is_binary(data):
        return Outline(path, language_of(path, data).language)
    return outline(path, text_of(path, data))


def text_of(path: str, data: bytes) -> bytes:
    """The text of a file as it is read and shown: decoded, and in the view of its language.

    A view has the lines of the file, so a line number means the same in both.
    """
    text = decode(data)
    view = detect(path).view
    if not view:
        return text
    shown: bytes = code_of(view)(text)
    return shown


def outline(path: str, source: bytes) -> Outline:
    """The outline of a text from `text_of`: UTF-8, LF line ends, no byte-order mark."""
    entry = language_of(path, source)
    try:
        return outline_as(path, entry, source)
    except WorkerDied:
        # It says nothing about the file.
        raise
    except Exception:  # noqa: BLE001 - parsing never fails, whatever a rule has not thought of
        return outline_text(path, entry.language, source)._replace(problems=(UNFOLLOWED,))


def outline_as(path: str, entry: DialectEntry, source: bytes) -> Outline:
    """The outline of a text in a known dialect."""
    if entry.home == "text":
        return outline_text(path, entry.language, source)
    if entry.home == "prose":
        return outline_prose(path, entry.language, source)
    if entry.optional is not None and is_missing(entry):
        missing = Problem(1, 0, NOT_INSTALLED.format(entry.optional.extra))
        return outline_text(path, entry.language, source)._replace(problems=(missing,))
    if entry.reader:
        found: Outline = code_of(entry.reader)(path, entry.language, source)
        return found
    if entry.parts:
        # Imported here: few repositories have such files.
        from asterism.analysis.syntax.parts import outline_parts

        return outline_parts(path, entry, source)
    return outline_tree(path, entry, source)


def fill_gaps(
    source: bytes, items: tuple[Item, ...], comments: Sequence[Comment], gap_kind: str
) -> tuple[Item, ...]:
    """Add root items for every line that is not blank and in no top-level item."""
    lines = source.split(b"\n")
    free = bytearray(map(bool, map(bytes.strip, lines)))
    for item in items:
        if item.parent is None:
            free[item.first_line - 1 : item.end_line] = bytes(item.end_line - item.first_line + 1)
    if 1 not in free:
        return items
    in_comment = bytearray(len(lines))
    for comment in comments:
        rows = b"\1" * (comment.end_row - comment.start_row + 1)
        in_comment[comment.start_row : comment.end_row + 1] = rows
        if free[comment.start_row]:
            # Blank lines inside one comment do not end it.
            free[comment.start_row : comment.end_row + 1] = rows
    offsets = line_offsets(lines)
    gaps = [
        root_item(
            "comment" if in_comment[first] else gap_kind,
            lines[first : last + 1],
            first,
            offsets[first],
        )
        for first, last in _runs(free, in_comment)
        if not is_blank(lines[first : last + 1])
    ]
    # Last in the list, so that the indices by which items know each other stay true.
    return (*items, *gaps)


def _runs(free: bytearray, in_comment: bytearray) -> Iterator[tuple[int, int]]:
    """Contiguous free rows, broken where comment meets other text."""
    row = free.find(1)
    while row >= 0:
        last = row
        while last + 1 < len(free) and free[last + 1] and in_comment[last + 1] == in_comment[row]:
            last += 1
        yield row, last
        row = free.find(1, last + 1)


_Raw = tuple[str, int, str | None, int | None]
"""Name, offset, receiver, and the item it is in."""

# A comment further right than this follows code; checking would read long lines repeatedly.
MARGIN_COLUMNS = 1000

# Each level holds the source of all levels below it, so a megabyte of ever deeper definitions would
# fill tens of gigabytes. Code that people write stays under twenty.
DEEPEST_ITEM = 60

TOO_DEEP = Problem(
    1, 0, f"definitions nest deeper than {DEEPEST_ITEM} levels; the rest is one text"
)
TOO_HARD = Problem(1, 0, "could not be parsed in reasonable time; read as plain text")


def outline_tree(path: str, entry: DialectEntry, source: bytes) -> Outline:
    """The outline of a file in a language with a grammar."""
    table = table_of(entry)
    language = table.language
    whole, source = source, ended(source)
    tree = table.parse(source)
    if tree is None:
        return outline_text(path, entry.language, source)._replace(problems=(TOO_HARD,))
    root = tree.root_node
    builder = Builder(source, language.conventions)
    if root.is_error:
        # The grammar could not even begin: definitions count, the fragments between them do not.
        builder.frames[0].statements = False
    raw = _walk(tree.walk(), table, builder)
    if language.finish is not None:
        language.finish(builder)
    if root.has_error:
        nest(builder.drafts, whole)
    for draft in builder.drafts:
        if not draft.is_root:
            draft.exported = language.exported(draft, builder)
    items = tuple(draft.freeze() for draft in builder.drafts)
    return Outline(
        path,
        entry.language,
        fill_gaps(source, items, builder.comments, language.conventions.gap_kind),
        tuple(builder.imports),
        tuple(builder.exports),
        _references(raw, builder),
        (
            *((TOO_DEEP,) if builder.too_deep else ()),
            *(problems_in(root, source) if root.has_error else ()),
        ),
    )


def _walk(cursor: TreeCursor, table: Table, builder: Builder) -> list[_Raw]:
    """Visit every node once, without recursion: sources nest deeper than the stack."""
    frames, roles, characters = builder.frames, table.roles, builder.characters
    frame = frames[-1]
    defined, receivers, ancestors = builder.defined, builder.receivers, builder.ancestors
    down, across, up = cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent
    raw: list[_Raw] = []
    depth = 1
    statement_depth = 1 if frame.statements else -1
    if not down():
        return raw
    while True:
        node = cursor.node
        if node is None:
            return raw
        role = roles[node.kind_id]
        if role is TOKEN:
            descend = False
        elif role is None and depth != statement_depth:
            descend = True
        elif role is IDENTIFIER and depth != statement_depth:
            start, end = node.start_byte, node.end_byte
            # A name the grammar only misses has no width and is no use of anything.
            if start not in defined and start < end:
                name = characters[start:end] if characters else builder.slice(start, end)
                raw.append((name, start, receivers.get(start), frame.index))
            descend = False
        elif role is COMMENT:
            _comment(builder, node)
            descend = False
        else:
            builder.depth = depth
            builder.claimed = False
            if role is None or role is IDENTIFIER:
                descend = True
            elif role is SKIPPED:
                descend = False
            else:
                descend = role(builder, node)
            if depth == statement_depth and not builder.claimed and node.is_named:
                _statement(builder, node)
            frame = frames[-1]
            statement_depth = frame.depth + 1 if frame.statements else -1
            if frame.draft is not None and frame.draft.depth >= DEEPEST_ITEM:
                builder.too_deep = True
                descend = False
        if descend and down():
            depth += 1
            ancestors.append(node)
            continue
        while not across():
            # The root node does not count as an ancestor: below it the list is empty.
            if not ancestors:
                return raw
            up()
            ancestors.pop()
            depth -= 1
        if frame.depth >= depth:
            while frames[-1].depth >= depth:
                frames.pop()
            frame = frames[-1]
            statement_depth = frame.depth + 1 if frame.statements else -1


def _statement(builder: Builder, node: Node) -> None:
    """A top-level node no rule has claimed, unless it is blank, as some grammars' newlines are."""
    if builder.text(node).strip():
        builder.root_item(node, builder.conventions.statements.get(node.type, "expression"))


def _comment(builder: Builder, node: Node) -> None:
    """Keep a comment that has its line to itself; one behind code belongs to that code."""
    start = node.start_byte
    row, column = node.start_point
    if column <= MARGIN_COLUMNS and not builder.source[start - column : start].strip():
        builder.comments.append(Comment(start, node.end_byte, row, last_row(node)))
    else:
        builder.aside(node)


def _references(raw: list[_Raw], builder: Builder) -> tuple[Reference, ...]:
    """Names with their lines; those an enclosing function binds are marked local."""
    drafts, find, free = builder.drafts, builder.source.find, builder.free
    if builder.mentions:
        raw = sorted([*raw, *builder.mentions], key=lambda entry: entry[1])
    claims = _attributes(builder)
    bound = {name for draft in drafts if draft.bound for name in draft.bound}
    references = []
    new = tuple.__new__
    line, line_start, line_end = 1, 0, find(b"\n")
    for name, start, receiver, enclosing in raw:
        # Names come in source order, so their lines are counted along the way.
        while 0 <= line_end < start:
            line, line_start = line + 1, line_end + 1
            line_end = find(b"\n", line_start)
        if claims:
            while len(claims) > 1 and start >= claims[-1].span.end:
                claims.pop()
            claim = claims[-1]
            if claim.span.start <= start < claim.span.end and enclosing == claim.parent:
                enclosing = claim.item
        local = False
        if name in bound and receiver is None and start not in free:
            at = enclosing
            while at is not None and not local:
                draft = drafts[at]
                binds = draft.bound is not None and name in draft.bound
                local = binds and start >= draft.bound_from
                at = draft.parent
        # A hundred names a file: the class's own constructor would double the cost.
        place = (name, line, start - line_start, receiver, enclosing, local)
        if name:  # a tree of damaged code has names of no letters
            references.append(new(Reference, place))
    return tuple(references)


class _Claim(NamedTuple):
    span: Span
    item: int
    parent: int | None


def _attributes(builder: Builder) -> list[_Claim]:
    """What stands before declarations as attributes: their names are used by the declaration.

    The last in the source comes first, so that the next one to meet is at the end of the list.
    """
    claims = [
        _Claim(draft.attributes, draft.index, draft.parent)
        for draft in builder.drafts
        if draft.attributes is not None
    ]
    return sorted(claims, reverse=True)
