"""Outlines and chunks as coloured trees for people."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from asterism.analysis.resolve.candidates import GUESS
from asterism.cli.terminal import console, drawing_console, printable, show, words
from asterism.engine.relations import FACTS, RelatedSymbol, Relation, RelationsReply
from asterism.structure.shapes import NONE_BY_NAME
from asterism.types.files import display_path
from asterism.types.index import Chunk
from asterism.types.outline import Item, Outline
from asterism.types.structure import CallTree, Connections, Edge, Fact, Known, SymbolPlace

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree


# Files of one symbol that are listed, and users in one file; --json has all.
MOST_FILES = 40
MOST_USERS = 10
# Lines of calls that are named.
MOST_LINES = 5

CYCLE = "↺"
FURTHER = "…"
NONE = "?"

_Part = tuple[str, str]


def print_relations(reply: RelationsReply, repository: str) -> None:
    """Print each definition of the name with what was asked about it."""
    out = drawing_console()
    if not reply.related:
        show(out, (f"No symbol {display_path(reply.request.name)} in {repository}.", "yellow"))
        if reply.did_you_mean:
            show(out, (f"Did you mean {', '.join(reply.did_you_mean)}?", ""))
        return
    seen: set[str] = set()
    for related in reply.related:
        out.print(_tree(related, reply.request.relation, seen))
    hidden = reply.total - len(reply.related)
    if hidden:
        counted = f"{hidden:,} more definition" + ("" if hidden == 1 else "s")
        show(out, (f"… and {counted} of {display_path(reply.request.name)}", "yellow"))
    legend = [*_legend(seen, reply.request.depth)]
    if legend:
        show(out, ("  ".join(legend), "dim"))


def _legend(seen: set[str], depth: int) -> Iterator[str]:
    if CYCLE in seen:
        yield f"{CYCLE} stands above already"
    if NONE in seen:
        yield f"{NONE} {NONE_BY_NAME}"
    if FURTHER in seen:
        yield f"{FURTHER} not followed further; --depth {depth + 1} does"


def _tree(related: RelatedSymbol, relation: Relation, seen: set[str]) -> Tree:
    from rich.tree import Tree

    known = related.connections
    tree = Tree(_wrapped(*_heading(known, relation)), guide_style="dim")
    reasons = [gap.why for gap in known.gaps if FACTS[relation] in gap.facts]
    if related.tree is None:
        _add_files(tree, known)
    else:
        _add_calls(tree, related.tree, related, relation, seen)
        if not related.tree.children and not reasons:
            tree.add(_wrapped((_nobody(known, relation), "dim")))
    for reason in dict.fromkeys(reasons):
        tree.add(_unknown(reason))
    return tree


def _heading(known: Connections, relation: Relation) -> Iterator[_Part]:
    yield f"{known.kind} ", "magenta"
    yield known.symbol.name, "bold"
    yield f"  {_where(known.symbol)}", "cyan"
    if relation is Relation.references and (known.references or _is_known(known)):
        yield f"  {_counted(len(known.references or ()), 'file')}", ""


def _nobody(known: Connections, relation: Relation) -> str:
    if relation is Relation.callees:
        return "calls nothing"
    others = len({edge.target for edge in (*known.users, *known.subtypes)})
    if not others:
        return "no callers"
    symbols = _counted(others, "symbol")
    return f"no callers; {symbols} mention it without a call, `asterism refs` shows them"


def _add_calls(
    above: Tree, node: CallTree, related: RelatedSymbol, relation: Relation, seen: set[str]
) -> None:
    """Everything below a node; the trees are at most ten deep."""
    for child in node.children:
        reasons = related.unknown.get(child.edge.target, ()) if child.mark is None else ()
        mark = {"cycle": CYCLE, "depth": FURTHER, None: ""}[child.mark]
        # At the end of most ways up there is this one; a line for each would hide the rest.
        mark = NONE if NONE_BY_NAME in reasons else mark
        seen.add(mark)
        doing = "calls it" if relation is Relation.callers else "called"
        branch = above.add(_line(child.edge, doing, mark))
        _add_calls(branch, child, related, relation, seen)
        for reason in reasons:
            if reason != NONE_BY_NAME:
                branch.add(_unknown(reason))
    if node.left_out:
        above.add(_wrapped((f"… and {node.left_out:,} more", "yellow")))


def _add_files(above: Tree, known: Connections) -> None:
    """Who refers to a symbol, file by file: its own file first, then the others."""
    users: dict[str, list[tuple[str, Edge]]] = {}
    for doing, edges in (
        ("calls it", known.callers),
        ("mentions it", known.users),
        ("derives from it", known.subtypes),
    ):
        for edge in edges:
            users.setdefault(edge.target.path or "", []).append((doing, edge))
    own = known.symbol.path or ""
    files = [*([own] if own in users else []), *(known.references or ())]
    files += sorted(path for path in users if path and path not in {*files})
    for path in files[:MOST_FILES]:
        branch = above.add(_wrapped((display_path(path), "cyan")))
        inside = users.get(path, [])
        for doing, edge in inside[:MOST_USERS]:
            branch.add(_line(edge, doing, "", is_in_file=True))
        if len(inside) > MOST_USERS:
            branch.add(_wrapped((f"… and {len(inside) - MOST_USERS:,} more (--json)", "yellow")))
    if len(files) > MOST_FILES:
        above.add(_wrapped((f"… and {len(files) - MOST_FILES:,} more files (--json)", "yellow")))
    if not files and _is_known(known):
        above.add(_wrapped(("no other file refers to it", "dim")))


def _line(edge: Edge, doing: str, mark: str, is_in_file: bool = False) -> Text:
    target = edge.target
    where = "" if target.line is None else f":{target.line}"
    return _wrapped(
        (f"{target.kind} " if target.kind else "", "magenta"),
        (target.name, "bold"),
        (f"  {where if is_in_file else _where(target)}", "cyan"),
        (_calls(edge.lines, doing), "dim"),
        _how(edge),
        (f"  {mark}" if mark else "", "yellow"),
    )


def _calls(lines: Sequence[int], doing: str) -> str:
    if not lines:
        return f"  {doing}"
    shown = ", ".join(map(str, lines[:MOST_LINES])) + (", …" if len(lines) > MOST_LINES else "")
    return f"  {doing} in {'line' if len(lines) == 1 else 'lines'} {shown}"


def _how(edge: Edge) -> _Part:
    """How a connection is known, where no compiler says so."""
    if edge.known is Known.resolved:
        return "", ""
    if edge.confidence <= GUESS:
        return f"  a guess by name, {edge.confidence:.2g}", "yellow"
    return f"  by name, {edge.confidence:.2g}", "dim"


def _where(symbol: SymbolPlace) -> str:
    if symbol.path is None:
        return f"from {symbol.module}" if symbol.module else "outside of the repository"
    return display_path(symbol.path) + ("" if symbol.line is None else f":{symbol.line}")


def _is_known(known: Connections) -> bool:
    """Whether no file is an answer: names may not have seen one."""
    missing = {fact for gap in known.gaps for fact in gap.facts}
    return known.references is not None and Fact.references not in missing


def _unknown(reason: str) -> Text:
    return _wrapped((f"not known: {reason}", "yellow"))


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}" + ("" if number == 1 else "s")


def _wrapped(*parts: _Part) -> Text:
    """A line that goes on in the next one: where a call stands is at its end."""
    text = words(*parts)
    text.no_wrap, text.overflow = False, "fold"
    return text


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
