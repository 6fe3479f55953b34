"""`asterism outline`: a file as a tree of symbols."""

import argparse

from asterism.analysis.reading import read_outline
from asterism.cli.places import place_of
from asterism.cli.wire import outline_json, write_json
from asterism.domain.outline import Item, Outline


def run(options: argparse.Namespace) -> int:
    """Print the outline of one file."""
    place = place_of(options.file)
    outline = read_outline(place.path, place.relative_path)
    if options.json:
        write_json(outline_json(outline))
    else:
        _print_tree(outline)
    return 0


def _print_tree(outline: Outline) -> None:
    from rich.tree import Tree

    from asterism.cli.console import console, words

    symbols = sum(1 for _ in outline.symbols())
    title = words(
        (outline.path, "bold"),
        (f"  {outline.language}  {symbols} symbols, {len(outline.imports)} imports", "dim"),
    )
    tree = Tree(title, guide_style="dim")
    top = [index for index, item in enumerate(outline.items) if item.parent is None]
    pending = [(index, tree) for index in sorted(top, key=lambda i: outline.items[i].span)[::-1]]
    while pending:
        index, above = pending.pop()
        item = outline.items[index]
        branch = above.add(_line(item))
        pending.extend((child, branch) for child in reversed(item.children))
    out = console()
    out.print(tree)
    for problem in outline.problems:
        out.print(words((f"{outline.path}:{problem.line}: ", "bold"), (problem.message, "red")))


def _line(item: Item) -> object:
    from asterism.cli.console import words

    lines = f"{item.start_line}" + (f"–{item.end_line}" if item.end_line > item.start_line else "")
    if not item.is_symbol:
        return words((f"{item.kind} ", "dim"), (item.name, "dim"), (f"  {lines}", "dim cyan"))
    notes = [word for word in item.modifiers if word != "exported"]
    notes += [f"@{name}" for name in item.decorators] + list(item.tags)
    signature = item.signature if item.signature != item.name else ""
    return words(
        (f"{item.kind} ", "magenta"),
        (item.name, "bold green" if item.exported else "bold"),
        (f"  {lines}", "cyan"),
        (f"  {' '.join(notes)}" if notes else "", "yellow"),
        (f"  {signature}", "dim"),
    )
