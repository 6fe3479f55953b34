"""`asterism chunks`: a file as the pieces it is searched by."""

import argparse
import sys

from asterism.analysis.reading import read_chunks
from asterism.cli.places import place_of
from asterism.cli.wire import chunk_json, write_json
from asterism.domain.chunk import Chunk


def run(options: argparse.Namespace) -> int:
    """Print the chunks of one file."""
    place = place_of(options.file)
    chunks = read_chunks(place.path, place.relative_path, place.repo).chunks
    if options.json:
        write_json([chunk_json(chunk) for chunk in chunks])
    elif options.show:
        _print_texts(chunks, options.show)
    else:
        _print_tree(place.relative_path, chunks)
    return 0


def _print_texts(chunks: list[Chunk], which: str) -> None:
    from asterism.cli.console import console, words

    out = console()
    for chunk in chunks:
        text = chunk.full_source if which == "source" else chunk.embedding_text
        out.print(
            words(
                (f"── {chunk.node_kind} ", "magenta"),
                (chunk.qualified_name, "bold"),
                (f"  {_lines(chunk)}", "cyan"),
                (f"  {chunk.id}", "dim"),
            )
        )
        # Code is printed as it is, whatever it contains.
        sys.stdout.flush()
        sys.stdout.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n\n")
        sys.stdout.flush()


def _print_tree(path: str, chunks: list[Chunk]) -> None:
    from rich.tree import Tree

    from asterism.cli.console import console, words

    tree = Tree(words((path, "bold"), (f"  {len(chunks)} chunks", "dim")), guide_style="dim")
    branches: dict[str, Tree] = {}
    for chunk in chunks:
        above = branches.get(chunk.parent_chunk_id or "", tree)
        part = f" part {chunk.part + 1}" if chunk.part else ""
        size = f"{len(chunk.embedding_text):,} characters"
        branches[chunk.id] = above.add(
            words(
                (f"{chunk.node_kind} ", "magenta"),
                (chunk.name, "bold"),
                (f"  {_lines(chunk)}{part}", "cyan"),
                (f"  {size}  {chunk.id[:8]}", "dim"),
            )
        )
    console().print(tree)


def _lines(chunk: Chunk) -> str:
    if chunk.start_line == chunk.end_line:
        return str(chunk.start_line)
    return f"{chunk.start_line}–{chunk.end_line}"
