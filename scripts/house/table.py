"""Prints the measures of the code base beside their targets.

    python -m scripts.house.table

The query runs in a process of its own on a repository of two files. "Source files that name" counts
the files in src whose code, docstrings and comments left out, has the name: the upper limit of
what has to change to add such a thing.
"""

import ast
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from scripts.house import layout, trace, words
from scripts.house.files import OURS, SOURCE, tree_of

PRICES = '''"""Prices."""


def price(weight: int) -> int:
    """The price of a parcel."""
    return rate() * weight


def rate() -> int:
    """Cents for each kilogram."""
    return 250
'''
ORDERS = '''"""Orders."""

from shop.prices import price


def total(weights: list[int]) -> int:
    """The price of an order."""
    return sum(map(price, weights))
'''
FILES = {"shop/prices.py": PRICES, "shop/orders.py": ORDERS}
"""The repository of the query."""
QUERY = "price of a parcel"
OLD = 1_000_000_000
"""When the files were written: a file of this second is read again by every query."""

EXAMPLES = {
    "a filter": ("has_docstring",),
    "an MCP tool": ("symbol_relations",),
    "a search option": ("context_lines",),
    "a language with calls": ("kotlin",),
}
"""Of each kind one that is complete, by its name."""


class Row(NamedTuple):
    """One measure: its value before this was built, today's, and the target."""

    measure: str
    before: str
    today: str
    target: str


def rows() -> list[Row]:
    """Every measure, in the order of the table."""
    trees = layout.source_trees()
    query = traced_query()
    named = [str(len(files_with(*names))) for names in EXAMPLES.values()]
    return [
        Row(
            "modules imported by `search --format context` on two files",
            "361",
            str(query.imported),
            "≤ 220",
        ),
        Row("catalogue opens in one context query", "5", str(query.opens), "1"),
        Row(
            "modules, `__init__.py` and new languages left out",
            "660",
            str(len(layout.modules(trees))),
            "≤ 420",
        ),
        Row(
            "lines in src, new languages left out", "83,920", f"{layout.lines(trees):,}", "≤ 77,000"
        ),
        Row(
            f"source files that name {' / '.join(EXAMPLES)}",
            "8 / 12 / 9 / 19",
            " / ".join(named),
            "2 / 2 / 2 / 1 folder",
        ),
        Row("matches of `tests/words.txt`", "2,867", f"{len(words.found(OURS)):,}", "0"),
    ]


def traced_query() -> trace.Trace:
    """The trace of one query on a repository of two files."""
    with TemporaryDirectory() as scratch:
        root = Path(scratch).resolve() / "shop"
        for name, text in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
            os.utime(root / name, (OLD, OLD))
        return trace.trace_of_query(Path(scratch), QUERY, str(root))


def files_with(*names: str) -> list[str]:
    """The files in src, and folders of languages, whose code has one of the names."""
    found = [name for name in SOURCE if not {*names}.isdisjoint(_words(tree_of(name)))]
    return sorted({_place(name) for name in found})


def _place(name: str) -> str:
    """A module, or the folder of a language as one place."""
    parts = name.split("/")
    return "/".join(parts[:4] if parts[2] == "languages" else parts)


def _words(tree: ast.Module) -> set[str]:
    """Identifiers and whole string literals."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.arg(arg=word):
                found.add(word)
            case ast.keyword(arg=str(word)) | ast.Constant(value=str(word)):
                found.add(word)
    return found


def markdown(table: list[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| measure | before | today | target |", "| --- | --- | --- | --- |"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in table), ""])


def main() -> int:
    """Print the table."""
    print(markdown(rows()), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
