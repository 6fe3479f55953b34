"""A hit's code for people: numbered lines, highlighted on a terminal, matches emphasised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from asterism.cli.terminal import printable
from asterism.engine.search import ContextLines
from asterism.search.snippets import Marker, shown_lines
from asterism.types.index import Chunk
from asterism.types.search import Detail, Kept

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# Enough to recognise a function, little enough that three hits fit a screen.
SHOWN_LINES = 12
TAB_WIDTH = 4
# Of a longer source the rest is coloured by what is shown of it alone; this much takes 10 ms.
COLOURED_CHARACTERS = 10_000
MARGIN = "   "
MARKED = "bold red"

# What the colouring library calls languages that it knows under another name.
_LEXERS = {"plain": "text"}


class Row(NamedTuple):
    """A line to print; one that differs from the file has no number."""

    number: int | None
    text: str
    remark: bool = False
    """It says what is not shown."""
    around: bool = False
    """It stands above or below the hit."""


def rows_of(kept: Kept, marker: Marker, around: ContextLines) -> list[Row]:
    """The lines shown of a hit, with remarks where some are left out."""
    chunk = kept.hit.chunk
    if kept.detail is Detail.signature:
        # The place stands above it already.
        return [Row(None, chunk.signature)]
    if kept.detail not in (Detail.full, Detail.lines, Detail.cut):
        return _shortened(kept.text.split("\n"))
    lines = chunk.full_source.split("\n")
    rows = _numbered(around.before, chunk.start_line - len(around.before))
    behind = -1
    for at in _shown(kept, marker, len(lines)):
        # That a hit begins further up shows in its place, unless other lines stand above it here.
        if at > behind + 1 and (behind >= 0 or around.before):
            rows.append(_remark(f"⋮ {_count(at - behind - 1)}"))
        rows.append(Row(chunk.start_line + at, lines[at]))
        behind = at
    if behind < len(lines) - 1:
        rows.append(_remark(f"⋮ {_count(len(lines) - 1 - behind)} more"))
    return [*rows, *_numbered(around.after, chunk.end_line + 1)]


def _shown(kept: Kept, marker: Marker, count: int) -> list[int]:
    """The lines to show, counted from 0: never more than a budget has left of the hit."""
    missing = [*kept.gaps, *([kept.left_out] if kept.left_out else [])]
    first = kept.hit.chunk.start_line
    given = [
        at for at in range(count) if not any(gap.first <= first + at <= gap.last for gap in missing)
    ]
    if given and missing and len(given) <= SHOWN_LINES:
        return given
    return shown_lines(kept.hit, marker, SHOWN_LINES)


def matching_rows(kept: Kept) -> list[Row]:
    """The matching lines of a hit and no others; without any, its text."""
    chunk = kept.hit.chunk
    if not kept.hit.lines:
        return [Row(None, line) for line in kept.text.split("\n")]
    lines = chunk.full_source.split("\n")
    return [Row(number, lines[number - chunk.start_line]) for number in kept.hit.lines]


def print_rows(out: Console | None, rows: Sequence[Row], chunk: Chunk, marker: Marker) -> None:
    """Print lines with their numbers, without the blanks that all of them begin with."""
    from asterism.cli.terminal import show

    plain = [_plain(row) for row in rows]
    margin = _margin([text for row, text in zip(rows, plain, strict=True) if row.number])
    width = max((len(str(row.number)) for row in rows if row.number), default=1)
    coloured = _coloured(out, rows, chunk)
    for row, text in zip(rows, plain, strict=True):
        if row.number is None:
            lead = " " * (width - 1) if row.remark else ""
            show(out, (f"{MARGIN}{lead}{text}", "dim" if row.remark else ""))
            continue
        gutter = f"{MARGIN}{row.number:>{width}} {'·' if row.around else '│'} "
        if out is None or not out.is_terminal:
            show(out, (f"{gutter}{text[margin:]}".rstrip(), ""))
            continue
        line = coloured[row.number] if coloured else _text(text)
        for mark in [] if row.around else marker(text):
            line.stylize(MARKED, mark.start, mark.end)
        if row.around:
            line.stylize("dim")
        _print_line(out, gutter, line[margin:])


def _print_line(out: Console, gutter: str, line: Text) -> None:
    whole = _text("").append(gutter, "dim").append_text(line)
    out.print(whole, no_wrap=True, overflow="ellipsis")


def _coloured(out: Console | None, rows: Sequence[Row], chunk: Chunk) -> dict[int, Text]:
    """The lines in colours by their number; none where there are no colours."""
    if out is None or not out.is_terminal or out.no_color or not out.color_system:
        return {}
    from rich.syntax import Syntax

    texts = {row.number: _plain(row) for row in rows if row.number is not None}
    # What is above a line as well: it may be inside of a comment or text that began there.
    above = chunk.full_source[:COLOURED_CHARACTERS].split("\n")
    for at, line in enumerate(above, chunk.start_line):
        if at < max(texts, default=0):
            texts.setdefault(at, _plain(Row(at, line)))
    numbers = sorted(texts)
    source = "\n".join(texts[number] for number in numbers)
    syntax = Syntax(source, _LEXERS.get(chunk.language, chunk.language), theme="ansi_dark")
    lines = syntax.highlight(source).split("\n", allow_blank=True)
    for coloured in lines:
        coloured.no_wrap, coloured.overflow = True, "ellipsis"
    return dict(zip(numbers, lines, strict=False))


def _text(text: str) -> Text:
    from rich.text import Text

    return Text(text, no_wrap=True, overflow="ellipsis")


def _plain(row: Row) -> str:
    return printable(row.text.expandtabs(TAB_WIDTH)).rstrip()


def _margin(texts: Sequence[str]) -> int:
    """How many blanks every line begins with."""
    return min((len(text) - len(text.lstrip()) for text in texts if text), default=0)


def _shortened(lines: Sequence[str]) -> list[Row]:
    rows = [Row(None, line) for line in lines[:SHOWN_LINES]]
    more = len(lines) - len(rows)
    return [*rows, _remark(f"⋮ {_count(more)} more")] if more else rows


def _remark(text: str) -> Row:
    return Row(None, text, remark=True)


def _numbered(lines: Sequence[str], first: int) -> list[Row]:
    return [Row(number, line, around=True) for number, line in enumerate(lines, first)]


def _count(lines: int) -> str:
    return f"{lines:,} line" if lines == 1 else f"{lines:,} lines"
