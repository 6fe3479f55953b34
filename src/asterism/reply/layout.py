"""Which declarations a snapshot shows, and how its parts are joined."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from asterism.analysis.syntax.cuts import SourcePiece
from asterism.languages.registry import facets_of
from asterism.reply.gaps import GapMarks
from asterism.reply.names import FileNames, Resolver
from asterism.types.files import display_path
from asterism.types.outline import Item, Outline, Reference, Span

_BLANK_LINE = re.compile(rb"\n[ \t]*\n")
_OPENERS = (b"{", b"(", b"[")
_LINE_ENDS = re.compile(rb"\n(?:[ \t]*\n)*")

# Python separates classes by two blank lines; more are not needed.
MAX_BLANK = 2


def path_line(path: str, language: str, whole_file: bool = False) -> str:
    """The path as a comment of the language."""
    display = facets_of(language).display
    line = display.path_line_whole if whole_file else ""
    return (line or display.path_line).format(display_path(path))


def joined(source: bytes, pieces: Sequence[SourcePiece], marks: GapMarks) -> str:
    """The pieces in order, with a mark wherever lines of a function or type are left out.

    A gap has the blank lines it had, if it is one between equals.
    """
    out: list[bytes] = []
    before: SourcePiece | None = None
    for piece in pieces:
        start = piece.start
        margin = source[source.rfind(b"\n", 0, start) + 1 : start]
        if before is None:
            out.append(margin if not margin.strip() else b"")
        else:
            gap = source[before.end : start]
            if source[before.end - 1 : before.end] in _OPENERS and margin.strip():
                out.append(gap[: len(gap) - len(gap.lstrip())])
            else:
                tight = before.ends_tight or piece.opens_tight
                if not margin.strip():
                    found = marks.between(before.end, start)
                    out.extend(b"\n" + mark.text.encode() for mark in found)
                out.append(_gap(gap, margin, tight))
        out.append(source[start : piece.end])
        before = piece
    if before is not None:
        out.extend(b"\n" + mark.text.encode() for mark in marks.between(before.end, None))
    return b"".join(out).decode("utf-8", "replace").strip("\n")


def line_starts(source: bytes) -> list[int]:
    """Where each line begins, and at the end where one more would."""
    starts, at = [0], source.find(b"\n")
    while at >= 0:
        starts.append(at + 1)
        at = source.find(b"\n", at + 1)
    starts.append(len(source) + 1)
    return starts


def _gap(gap: bytes, margin: bytes, tight: bool) -> bytes:
    if not gap.strip():
        return gap if not tight or not _BLANK_LINE.search(gap) else b"\n" + margin
    if margin.strip():
        # It follows something else on its line: an element of a list, a name after another.
        return margin[len(margin.rstrip()) :]
    runs = [] if tight else [run.count(b"\n") for run in _LINE_ENDS.findall(gap)]
    return b"\n" * min(max(runs, default=1), 1 + MAX_BLANK) + margin


# Parts of a statement that its first line belongs to.
_LATER = re.compile(rb"\s*(?:elif|else|except|finally)\b")
_BLANK = re.compile(rb"\s*(?:#.*)?$")


def conditions_around(outline: Outline, source: bytes, line: int, parent: int | None) -> list[Span]:
    """The lines of `if` and its like around a line of Python, from the inside out.

    `parent` is the item around it: the contents of a symbol are shown with it.
    """
    if not facets_of(outline.language).display.indented_conditions or (
        parent is not None and outline.items[parent].is_symbol
    ):
        return []
    lines = source.split(b"\n")
    starts = line_starts(source)
    found: list[Span] = []
    indent = _indent(lines[line - 1])
    is_later = False
    for row in range(line - 2, -1, -1):
        if not indent and not is_later:
            break
        text = lines[row]
        if _BLANK.match(text):
            continue
        # The first line of the statement that an `else` continues is as far in as that.
        if _indent(text) < indent or (is_later and _indent(text) == indent):
            found.append(Span(starts[row], starts[row] + len(text)))
            indent, is_later = _indent(text), _LATER.match(text) is not None
    return found


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip())


_DATA = frozenset({"const", "variable", "property", "enum_member", "event"})
_TYPES = frozenset(
    {"interface", "type", "enum", "struct", "record", "union", "annotation", "delegate"}
    | {"protocol", "trait", "class", "actor", "signature"}
)
_CODE = frozenset({"function", "method", "constructor", "macro"})

# A type of more lines is shown with those of its fields that the targets mention.
LARGE_TYPE = 12


class Needs(NamedTuple):
    """What targets use: items by index, and for each used import the names used of it."""

    items: frozenset[int]
    imports: dict[int, frozenset[str]]


def needs_of(
    outline: Outline,
    source: bytes,
    targets: Sequence[int],
    spans: Sequence[Span],
    shown_of: Callable[[int], Span],
    resolver: Resolver | None = None,
) -> Needs:
    """The declarations of the file that the targets use, and those that these use in turn.

    Constants, variables, properties and imports count, and so do types as long as they hold no
    code: no function, method or macro with a body. Of a large type only the fields count that the
    targets mention, of one without such fields the first. Functions and classes with code do not,
    for a reader of the reply has them in the connection graph. The contents of a target are shown
    already, and so are the heads around it: what only a head names is not used by the target.

    `spans` are the parts of the targets that are shown, and `shown_of` says what is shown of an
    item: more than itself where it shares its declaration, as `b` does in `int a, b`.

    An import is used if a name that it brings in is. What the conditions around a declaration or
    an import name is used too. Imports that bring in names without saying
    which (`import *`, `#include`, `using System`) are never counted: nothing in this file says
    whether they are used.
    """
    items = outline.items
    names = FileNames(outline, resolver)
    uses = _Uses(outline, source)
    shown = {index for target in targets for index in subtree(items, target)}
    needed: set[int] = set()
    imports: dict[int, set[str]] = defaultdict(set)
    pending = list(spans)
    mentioned = {use.name.strip("@$#") for span in spans for use in uses.inside(span)}
    conditions = partial(conditions_around, outline, source)
    while pending:
        span = pending.pop()
        for reference in uses.inside(span):
            meaning = names.meaning(reference)
            for number in meaning.imports:
                if number not in imports:
                    entry = outline.imports[number]
                    pending += conditions(entry.start_line, entry.enclosing)
                imports[number].add(reference.name)
            for found in meaning.items:
                found = _shown_as(items, found)
                around = items[found].span
                in_itself = around.start <= span.start and span.end <= around.end
                if found not in shown and not in_itself and is_shown(items, found):
                    parts = _parts(items, found, mentioned)
                    needed.update(parts)
                    shown.add(found)
                    shown.update(below for part in parts for below in subtree(items, part))
                    pending += map(shown_of, parts)
                    pending += conditions(items[found].start_line, items[found].parent)
    used = {
        number: frozenset(local)
        for number, local in imports.items()
        if not _inside(outline.imports[number].enclosing, shown)
    }
    return Needs(frozenset(needed), used)


def _parts(items: Sequence[Item], index: int, mentioned: Collection[str]) -> Sequence[int]:
    """What is shown of a declaration: itself, or of a large type the fields that are mentioned."""
    item = items[index]
    fields = [child for child in item.children if items[child].kind == "property"]
    if item.end_line - item.start_line < LARGE_TYPE or not fields or item.kind not in _TYPES:
        return [index]
    used = [child for child in fields if items[child].name.strip("@$#") in mentioned]
    return used or fields[:1]


def is_shown(items: Sequence[Item], index: int) -> bool:
    """Whether a declaration that is used is shown: data, or a type without code."""
    item = items[index]
    if item.kind in _DATA:
        return True
    if item.kind == "macro":
        return item.body is None
    if item.kind not in _TYPES:
        return False
    inner = (items[child] for child in subtree(items, index) if child != index)
    return not any(child.kind in _CODE and child.body is not None for child in inner)


def subtree(items: Sequence[Item], index: int) -> Iterator[int]:
    """The item and everything below it."""
    pending = [index]
    while pending:
        at = pending.pop()
        yield at
        pending.extend(items[at].children)


def _shown_as(items: Sequence[Item], index: int) -> int:
    """The item itself, or the type whose constructor or field it is in a Haskell data type."""
    item = items[index]
    while (
        item.kind in ("constructor", "property") and item.body is None and item.parent is not None
    ):
        parent = items[item.parent]
        if parent.kind not in ("type", "constructor"):
            break
        if parent.kind == "constructor" and parent.body is not None:
            break
        index, item = item.parent, parent
    return index


class _Uses:
    """The references of a file by where they stand."""

    def __init__(self, outline: Outline, source: bytes) -> None:
        starts = line_starts(source)
        places = ((starts[use.line - 1] + use.column, use) for use in outline.references)
        self._places = sorted(places, key=lambda place: place[0])

    def inside(self, span: Span) -> Iterator[Reference]:
        """Those in a span, in source order."""
        first = bisect_left(self._places, span.start, key=lambda place: place[0])
        for offset, use in islice(self._places, first, None):
            if offset >= span.end:
                return
            yield use


def _inside(enclosing: int | None, shown: set[int]) -> bool:
    return enclosing is not None and enclosing in shown
