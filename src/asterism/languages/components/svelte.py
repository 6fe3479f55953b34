"""Svelte: scripts and a style at the margin, and around them the markup, which is the component."""

import re
from collections.abc import Iterator

from asterism.analysis.syntax.parts import Part, Whole
from asterism.languages.components.blocks import (
    Block,
    comment_at,
    comment_text,
    component_name,
    opening_at,
    raw_block,
    script_part,
    text_part,
)
from asterism.languages.components.markup import bound_names, mentions_in
from asterism.types.outline import Span

# Elements of the same name inside the markup are indented, as everything in it.
_BLOCK = re.compile(rb"^<(?:script|style)\b|<!--", re.MULTILINE)
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_DOCUMENTS = b"@component"
# Before the name of a store it means the store's value.
_STORE = "$"
# Where an expression of the markup begins, ends, or goes on behind.
_SIGN = re.compile(rb"""[{}]|'(?:[^'\\\n]|\\.)*+'?|"(?:[^"\\\n]|\\.)*+"?|`(?:[^`\\]|\\.)*+`?""")
_EACH = re.compile(rb"^#each\b.*?\sas\s(?P<names>.*)", re.DOTALL)
_BINDS = re.compile(
    rb"^(?:#await\s.*?\s(?:then|catch)|:then|:catch|#snippet\s+[\w$]+|@const)\s*(?P<names>[^=]*+)",
    re.DOTALL,
)
_LET = re.compile(rb"\slet:(\w+)(?:=\{([^{}]*)\})?")


def parts(path: str, source: bytes) -> list[Part]:
    """The parts of a component's file."""
    blocks = list(_blocks(source))
    found = [
        script_part(block, exports=_is_of_module(block), sign=_STORE)
        if block.is_script
        else text_part(block, source)
        for block in blocks
    ]
    regions = [span for span in _between(source, blocks) if source[span.start : span.end].strip()]
    code = [span for span in regions if _COMMENT.sub(b"", source[span.start : span.end]).strip()]
    if code:
        main = max(code, key=lambda span: span.end - span.start)
        rest = [region for region in regions if region is not main]
        found.append(_markup(path, main, rest, source))
    return sorted(found, key=lambda part: (part.outer or part.span).start)


def _blocks(source: bytes) -> Iterator[Block]:
    at = 0
    while found := _BLOCK.search(source, at):
        end = comment_at(source, found.start())
        tag = opening_at(source, found.start())
        if tag is not None:
            block = raw_block(source, tag)
            yield block
            end = block.outer.end
        at = max(end or 0, found.end())


def _is_of_module(block: Block) -> bool:
    """Whether a script runs once; what the other one exports are the component's properties."""
    return "module" in block.attributes or block.attributes.get("context") == "module"


def _between(source: bytes, blocks: list[Block]) -> Iterator[Span]:
    """What is around the blocks, in whole lines."""
    at = 0
    for block in blocks:
        yield Span(at, block.outer.start)
        line_end = source.find(b"\n", block.outer.end)
        at = len(source) if line_end < 0 else line_end + 1
    if at < len(source):
        yield Span(at, len(source))


def _markup(path: str, span: Span, others: list[Span], source: bytes) -> Part:
    name = component_name(path)
    text = source[span.start : span.end]
    return Part(
        span,
        whole=Whole(
            "function",
            name,
            f"<{name}>",
            _doc(source, [span, *others]),
            ("component",),
            is_default=True,
        ),
        mentions=mentions_in(source, span, _expressions, _bound(text)),
        sign=_STORE,
    )


def _doc(source: bytes, regions: list[Span]) -> str | None:
    """The comment that begins with `@component`."""
    comments = [
        Span(region.start + found.start(), region.start + found.end())
        for region in regions
        for found in _COMMENT.finditer(source[region.start : region.end])
        if _DOCUMENTS in found[0][:40]
    ]
    text = comment_text(source, comments)
    return text.removeprefix(_DOCUMENTS.decode()).strip() or None if text else None


def _expressions(text: bytes, span: Span) -> Iterator[Span]:
    """What is between braces, quotes inside of it counted as text."""
    start, depth = span.start, 0
    at = text.find(b"{", span.start, span.end)
    while at >= 0:
        depth, start, at = 1, at + 1, at + 1
        while depth and (sign := _SIGN.search(text, at, span.end)):
            depth += {b"{": 1, b"}": -1}.get(sign[0], 0)
            at = sign.end()
        if depth:
            return
        yield Span(start, at - 1)
        at = text.find(b"{", at, span.end)


def _bound(text: bytes) -> set[str]:
    """The names that blocks such as `{#each …}` bind."""
    names: set[str] = set()
    for start, end in _expressions(text, Span(0, len(text))):
        head = text[start:end]
        found = _EACH.match(head) or _BINDS.match(head)
        if found:
            names |= bound_names(found["names"])
    for found in _LET.finditer(text):
        names |= bound_names(found[2] or found[1])
    return names
