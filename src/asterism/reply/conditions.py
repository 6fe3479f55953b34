"""Conditions that declarations stand under: they are shown with them, and use names too."""

import re

from asterism.languages.registry import facets_of
from asterism.reply.layout import line_starts
from asterism.types.outline import Outline, Span

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
