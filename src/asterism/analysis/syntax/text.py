"""Declaration text up to the body, on one line: signatures, decorator names, labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from asterism.analysis.syntax.conventions import Conventions
from asterism.types.outline import Span

if TYPE_CHECKING:
    from tree_sitter import Node

# Long enough for a generic method with a dozen parameters; a type alias of a thousand members is
# better read in its own source.
SIGNATURE_LIMIT = 400

# What is defined in damaged code without a name that could be read.
UNNAMED = "(unnamed)"

# Longer labels make trees unreadable and ids no better; shorter ones are rarely a whole thought.
LABEL_LIMIT = 60
SHORT_LABEL = 12

# A dotted name; what it is aimed at stands before it in Kotlin and C#: `@get:JvmName`.
_DOTTED = re.compile(r"(?:\w{1,200}+:(?!:)\s*)?([^\W\d][\w$]*(?:(?:\.|::|\\)[^\W\d][\w$]*)*)")
# The blank after an opening bracket, and before a closing one with the comma of a last line.
_LOOSE = re.compile(r" (?:(?<=[(\[<] )|(?=[)\]]|>(?![:=])))|, (?=[)\]>])")


def fold(text: str, limit: int = SIGNATURE_LIMIT) -> str:
    """The text on one line, single-spaced, cut at `limit` with an ellipsis."""
    # Only the head can survive the cut; folding a megabyte to keep a line would be waste.
    head = " ".join(text[: limit * 8].split())
    return head if len(head) <= limit else head[:limit].rstrip() + " …"


def label(text: str) -> str:
    """What a statement without a name is called: its first line, or more if that says nothing."""
    head = text.lstrip().split("\n", 1)[0]
    return fold(head if len(head) >= SHORT_LABEL else text, LABEL_LIMIT)


def proper_name(name: str) -> str:
    """The name on one line; in damaged code a name may be broken, or not be there at all."""
    return name if name.isprintable() and name.strip() else " ".join(name.split()) or UNNAMED


def signature_of(text: str, conventions: Conventions) -> str:
    """A declaration's text up to its body: folded, its terminator dropped."""
    folded = " ".join(text[: SIGNATURE_LIMIT * 8].split())
    if "\n" in text:
        # A parameter list broken over lines reads as if it had been written on one.
        folded = _LOOSE.sub("", folded)
    if folded.endswith(conventions.terminators):
        for terminator in conventions.terminators:
            folded = folded.removesuffix(terminator).rstrip()
    if len(folded) > SIGNATURE_LIMIT:
        return folded[:SIGNATURE_LIMIT].rstrip() + " …"
    return folded


def bare_text(
    source: bytes, span: Span, cuts: Iterable[Node], node: Node, comments: frozenset[str]
) -> str:
    """The source of `span`, which is in `node`, without the `cuts` and without comments."""
    holes = [(cut.start_byte, cut.end_byte) for cut in cuts]
    holes.extend(_comments(node, span, comments))
    return b"".join(_without(source, span, sorted(holes))).decode("utf-8", "replace")


def decorator_names(source: bytes, nodes: Iterable[Node]) -> list[str]:
    """The dotted name at the head of each decorator, annotation or attribute."""
    names = []
    for node in nodes:
        text = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        found = _DOTTED.search(text)
        if found:
            names.append(found.group(1))
    return names


def _without(source: bytes, span: Span, holes: list[tuple[int, int]]) -> Iterator[bytes]:
    at = span.start
    for start, end in holes:
        if start >= span.end:
            break
        if end <= at:
            continue
        yield source[at : max(start, at)]
        yield b" "
        at = end
    yield source[at : span.end]


def _comments(node: Node, span: Span, kinds: frozenset[str]) -> Iterator[tuple[int, int]]:
    pending = [node]
    while pending:
        here = pending.pop()
        if here.end_byte <= span.start or here.start_byte >= span.end:
            continue
        if here.type in kinds:
            yield here.start_byte, here.end_byte
        else:
            pending.extend(here.children)
