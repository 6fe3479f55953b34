"""Markdown tables whose columns line up where they are read as text."""

from collections.abc import Sequence
from typing import TypeAlias

Rows: TypeAlias = Sequence[Sequence[str]]

# What stands where there is nothing to say.
NOTHING = "–"


def table(head: Sequence[str], rows: Rows) -> list[str]:
    """The lines of a table; all columns but the first hold numbers."""
    cells = [[_cell(cell) for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [_line(row, widths) for row in cells]
    rules = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return [lines[0], f"| {' | '.join(rules)} |", *lines[1:]]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = (
        cell.rjust(width) if at else cell.ljust(width)
        for at, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return f"| {' | '.join([first, *rest])} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
