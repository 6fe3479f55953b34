"""Outlines and chunks as coloured trees for people."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from asterism.cli.terminal import console, drawing_console, printable, show, words
from asterism.types.chunk import Chunk
from asterism.types.files import display_path
from asterism.types.outline import Item, Outline

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree


def print_outline(outline: Outline) -> None:
    """Symbols and root items as they nest, then the syntax problems."""
    from rich.tree import Tree

    out = drawing_console()
    path = display_path(outline.path)
    count = sum(1 for _ in outline.symbols())
    facts = f"  {outline.language}  {count} symbols, {len(outline.imports)} imports"
    tree = Tree(words((path, "bold"), (facts, "dim")), guide_style="dim")
    items = outline.items
    top = [index for index, item in enumerate(items) if item.parent is None]
    pending = [(index, tree) for index in sorted(top, key=lambda number: items[number].span)]
    pending.reverse()
    while pending:
        index, above = pending.pop()
        branch = above.add(_item(items[index]))
        pending.extend((child, branch) for child in reversed(items[index].children))
    out.print(tree)
    for problem in outline.problems:
        show(out, (f"{path}:{problem.line}: ", "bold"), (problem.message, "red"))


def print_chunks(path: str, chunks: Sequence[Chunk]) -> None:
    """Chunks as they nest, with their size and the head of their id."""
    from rich.tree import Tree

    title = words((display_path(path), "bold"), (f"  {len(chunks)} chunks", "dim"))
    tree = Tree(title, guide_style="dim")
    branches: dict[str, Tree] = {}
    for chunk in chunks:
        above = branches.get(chunk.parent_chunk_id or "", tree)
        part = f" part {chunk.part + 1}" if chunk.part else ""
        branches[chunk.id] = above.add(
            words(
                (f"{chunk.node_kind} ", "magenta"),
                (chunk.name, "bold"),
                (f"  {_lines(chunk.start_line, chunk.end_line)}{part}", "cyan"),
                (f"  {len(chunk.embedding_text):,} characters  {chunk.id[:8]}", "dim"),
            )
        )
    drawing_console().print(tree)


def print_chunk_texts(chunks: Sequence[Chunk], which: str) -> None:
    """Each chunk's source or embedding text under a heading."""
    out = console()
    for chunk in chunks:
        show(
            out,
            (f"── {chunk.node_kind} ", "magenta"),
            (chunk.qualified_name, "bold"),
            (f"  {_lines(chunk.start_line, chunk.end_line)}", "cyan"),
            (f"  {chunk.id}", "dim"),
        )
        text = chunk.full_source if which == "source" else chunk.embedding_text
        # Not through the console: code is printed as it is, however long its lines.
        sys.stdout.write(f"{printable(text)}\n\n")


def _item(item: Item) -> Text:
    lines = f"  {_lines(item.start_line, item.end_line)}"
    if not item.is_symbol:
        return words((f"{item.kind} {item.name}", "dim"), (lines, "dim cyan"))
    notes = [word for word in item.modifiers if word != "exported"]
    notes += [f"@{name}" for name in item.decorators] + list(item.tags)
    signature = item.signature if item.signature != item.name else ""
    return words(
        (f"{item.kind} ", "magenta"),
        (item.name, "bold green" if item.exported else "bold"),
        (lines, "cyan"),
        (f"  {' '.join(notes)}" if notes else "", "yellow"),
        (f"  {signature}", "dim"),
    )


def _lines(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"
