"""Stretches of a source, put together as if nothing had stood between them."""

import re
from collections.abc import Sequence

from asterism.analysis.syntax.pruning import Piece
from asterism.languages.registry import facets_of
from asterism.types.files import display_path
from asterism.types.outline import Outline, Span

_BLANK_LINE = re.compile(rb"\n[ \t]*\n")
_OPENERS = (b"{", b"(", b"[")
_LINE_ENDS = re.compile(rb"\n(?:[ \t]*\n)*")

# Python sets its classes off by two blank lines, and nobody uses more.
MAX_BLANK = 2


def path_line(path: str, language: str, whole_file: bool = False) -> str:
    """The path as a comment of the language."""
    display = facets_of(language).display
    line = display.path_line_whole if whole_file else ""
    return (line or display.path_line).format(display_path(path))


def joined(source: bytes, pieces: Sequence[Piece]) -> str:
    """The pieces in order; a gap has the blank lines it had, if it is one between equals."""
    out: list[bytes] = []
    before: Piece | None = None
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
                out.append(_gap(gap, margin, before.ends_tight or piece.opens_tight))
        out.append(source[start : piece.end])
        before = piece
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
        # It stands behind something on its line: an element of a list, a name behind another.
        return margin[len(margin.rstrip()) :]
    runs = [] if tight else [run.count(b"\n") for run in _LINE_ENDS.findall(gap)]
    return b"\n" * min(max(runs, default=1), 1 + MAX_BLANK) + margin


# Parts of a statement that its first line belongs to.
_LATER = re.compile(rb"\s*(?:elif|else|except|finally)\b")
_BLANK = re.compile(rb"\s*(?:#.*)?$")


def conditions_around(outline: Outline, source: bytes, line: int, parent: int | None) -> list[Span]:
    """The lines of `if` and its like around a line of Python, from the inside out.

    `parent` is the item that it stands in: what stands in a symbol is shown with it.
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
