"""Text of declarations: signatures, decorator names, labels, comments; windows of plain text."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from asterism.types.outline import Item, Outline, Span

if TYPE_CHECKING:
    from tree_sitter import Node


def first_child(node: Node) -> Node | None:
    """The first child, punctuation included."""
    return node.child(0) if node.child_count else None


def first_named(node: Node) -> Node | None:
    """The first child that is more than punctuation."""
    return node.named_child(0) if node.named_child_count else None


Names = frozenset[str]
NONE: Names = frozenset()


@dataclass(frozen=True, slots=True)
class Conventions:
    """Node types by the part they play. A type a grammar does not have is simply never met."""

    identifiers: Names
    """Leaves that are uses of a name, unless a definition or binder claims them."""
    comments: Names = frozenset({"comment", "line_comment", "block_comment"})
    skipped: Names = NONE
    """Never looked into: strings, numbers, whatever holds no code."""
    members: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Member access: node type to its (receiver, name) fields."""
    statements: Mapping[str, str] = field(default_factory=dict)
    """Root statements that are not symbols: node type to root kind; others are `expression`."""
    modifiers: Names = NONE
    """Tokens and nodes beside a declaration whose text is a modifier."""
    modifier_groups: Names = NONE
    """Nodes that hold modifiers and annotations as children."""
    decorators: Names = NONE
    """Annotation nodes; their first dotted name is the decorator's name."""
    pattern_first: Names = NONE
    """Inside a binding pattern, nodes whose first child binds and whose rest is a value or type."""
    pattern_last: Names = NONE
    """Inside a binding pattern, nodes whose last child binds: `{ key: name }`."""
    pattern_stops: Names = NONE
    """Inside a binding pattern, nodes that bind nothing: types, defaults."""
    doc_prefixes: tuple[str, ...] = ("/**",)
    """A comment that starts with one of these is documentation; "" takes any comment."""
    doc_gap: int = 0
    """Blank lines a doc block may stand above its declaration; compilers read JSDoc across one."""
    inner_doc_prefixes: tuple[str, ...] = ()
    """Comments that document the item around them, as Rust's `//!`, not the next one."""
    docstring: Callable[[Node], Node | None] | None = None
    """The string inside a definition that documents it, where the language has such a thing."""
    gap_kind: str = "text"
    """The root kind of lines no statement claims: directives in C, loose text elsewhere."""
    line_comment: str = "//"
    terminators: tuple[str, ...] = (";",)
    """Dropped from the end of a signature: the colon of Python, the `=` of Scala."""


_BLOCK_OPEN = re.compile(r"^(?:/\*+!?|\{-\s*\|?|--\[=*\[|=begin\b|<#|\(\*+)")
_BLOCK_CLOSE = re.compile(r"(?:(?<!\*)\*++[/)]|\A/|-\}|\]=*\]|=end|#>)\s*$")
_STAR = re.compile(r"^[ \t]*\*+(?!/)[ \t]?", re.MULTILINE)
_LINE = re.compile(r"^[ \t]*(?://[/!]?|#+(?!\[)|---?[ \t]?[|^]?|;+)[ \t]?", re.MULTILINE)
_STRING = re.compile(
    r"^[a-zA-Z~]{0,2}(?P<quote>\"\"\"|'''|\"|')(?P<text>.*?)(?P=quote)?$", re.DOTALL
)


def attached_doc(comments: Sequence[str], conventions: Conventions) -> str | None:
    """The documentation among the comments directly above a declaration, cleaned, or None."""
    prefixes = conventions.doc_prefixes
    docs = [text for text in comments if text.startswith(prefixes)]
    if not docs:
        return None
    if _BLOCK_OPEN.match(docs[-1]):
        return clean_comment(docs[-1]) or None
    lines = [text for text in docs if not _BLOCK_OPEN.match(text)]
    return clean_comment("\n".join(lines)) or None


def clean_comment(text: str) -> str:
    """A comment's words without its markers."""
    opened = _BLOCK_OPEN.match(text)
    if opened:
        # Only the last line can hold the closing marker; searching all of them takes its time.
        last = max(text.rstrip().rfind("\n") + 1, opened.end())
        inner = text[opened.end() : last] + _BLOCK_CLOSE.sub("", text[last:])
        inner = _STAR.sub("", inner) if text.startswith(("/*", "(*")) else inner
    else:
        inner = _LINE.sub("", text)
    head, _, rest = inner.partition("\n")
    return f"{head.strip()}\n{textwrap.dedent(rest)}".strip()


def clean_docstring(text: str) -> str | None:
    """A string literal's text, its indentation removed as `inspect.cleandoc` would."""
    found = _STRING.match(text.strip())
    inner = found["text"] if found else text
    head, _, rest = inner.partition("\n")
    return f"{head.strip()}\n{textwrap.dedent(rest)}".strip() or None


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


# A screenful: enough to be understood alone, small enough to be a precise answer.
WINDOW_LINES = 40

# A blank line this far into a window ends it, so that paragraphs and blocks stay whole.
SOFT_LINES = 20

# Enough of a text to find a label in.
LABEL_BYTES = 1024


def outline_text(path: str, language: str, source: bytes) -> Outline:
    """The outline of a file as windows of lines."""
    return Outline(path, language, tuple(text_items(source.split(b"\n"), 0, 0)))


def text_items(lines: list[bytes], first_row: int, offset: int) -> Iterator[Item]:
    """Root items of kind `text` over `lines`, which begin at `first_row` and byte `offset`."""
    start, at = 0, offset
    for end in _breaks(lines):
        window = lines[start:end]
        size = sum(len(line) + 1 for line in window)
        blank_before = next((n for n, line in enumerate(window) if line.strip()), None)
        if blank_before is not None:
            body = window[blank_before:]
            while not body[-1].strip():
                body.pop()
            begin = at + sum(len(line) + 1 for line in window[:blank_before])
            if not is_blank(body):
                yield root_item("text", body, first_row + start + blank_before, begin)
        start, at = end, at + size


def root_item(kind: str, lines: list[bytes], row: int, offset: int) -> Item:
    """A root item over whole lines."""
    text = b"\n".join(lines)
    head = text.lstrip()[:LABEL_BYTES].decode("utf-8", "ignore")
    name = label(head.lstrip()) or label(text.decode("utf-8", "replace").lstrip())
    last = row + len(lines)
    return Item(
        name=name,
        kind=kind,
        path=(name,),
        depth=0,
        parent=None,
        children=(),
        start_line=row + 1,
        end_line=last,
        first_line=row + 1,
        signature=name,
        modifiers=(),
        doc=None,
        decorators=(),
        exported=False,
        tags=(),
        span=Span(offset, offset + len(text)),
        body=None,
        name_offset=offset,
    )


def is_blank(lines: list[bytes]) -> bool:
    """Whether there is nothing to see, the blanks of other scripts included."""
    return not b"\n".join(lines).decode("utf-8", "replace").strip()


def _breaks(lines: list[bytes]) -> Iterator[int]:
    start = 0
    for row, line in enumerate(lines):
        length = row - start
        if length >= WINDOW_LINES or (length >= SOFT_LINES and not line.strip()):
            yield row
            start = row
    if start < len(lines):
        yield len(lines)


def line_offsets(lines: list[bytes]) -> list[int]:
    """Where each line begins, and one past the end."""
    offsets, at = [], 0
    for line in lines:
        offsets.append(at)
        at += len(line) + 1
    offsets.append(at)
    return offsets
