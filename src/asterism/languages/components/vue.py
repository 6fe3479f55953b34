"""Vue: blocks at the top of the file, of which the template is the component."""

import re
from collections.abc import Iterator

from asterism.analysis.syntax.parts import Part, Whole
from asterism.languages.components.blocks import (
    Block,
    attributes_of,
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

_TEMPLATE = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(?P<close>/)?template\b(?:\"[^\"]*+\"|'[^']*+'|[^<>\"'])*+>",
    re.DOTALL | re.IGNORECASE,
)
# Attributes whose value is code: `:prop`, `@event`, `#slot`, `v-…`.
_DIRECTIVE = re.compile(
    rb"""(?<=\s)(?P<name>(?:v-|[:@#])[^\s"'<>/=]*+)\s*+=\s*+(?:"(?P<double>[^"]*+)"|'(?P<single>[^']*+)')"""
)
_LOOP = re.compile(rb"^(?P<names>.*?)\s(?:in|of)\s", re.DOTALL)


def parts(path: str, source: bytes) -> list[Part]:
    """The parts of a component's file."""
    found: list[Part] = []
    has_template = False
    comments: list[Span] = []
    for block in _blocks(source, comments):
        if block.is_script:
            found.append(script_part(block))
        elif block.name == "template" and not has_template:
            has_template = True
            found.append(_template(path, block, source, comments))
        else:
            found.append(text_part(block, source))
        comments.clear()
    return found


def _blocks(source: bytes, comments: list[Span]) -> Iterator[Block]:
    """Every block; the comments since the last one are left in `comments`."""
    at = source.find(b"<")
    while at >= 0:
        end = comment_at(source, at)
        if end is not None:
            comments.append(Span(at, end))
        elif tag := opening_at(source, at):
            block = _template_block(source, tag) if _nests(tag) else raw_block(source, tag)
            yield block
            end = block.outer.end
        at = source.find(b"<", max(end or 0, at + 1))


def _nests(tag: re.Match[bytes]) -> bool:
    return tag["name"].lower() == b"template" and tag["end"] != b"/>"


def _template_block(source: bytes, tag: re.Match[bytes]) -> Block:
    """A template ends where as many templates have ended as have begun."""
    depth, end, outer = 1, len(source), len(source)
    for found in _TEMPLATE.finditer(source, tag.end()):
        if found[0].startswith(b"<!--") or found[0].endswith(b"/>"):
            continue
        depth += -1 if found["close"] else 1
        if depth == 0:
            end, outer = found.start(), found.end()
            break
    spans = Span(tag.start(), outer), Span(tag.end(), end)
    return Block("template", attributes_of(tag), *spans, depth == 0)


def _template(path: str, block: Block, source: bytes, comments: list[Span]) -> Part:
    name = component_name(path)
    bound: set[str] = set()
    mentions = []
    if block.attributes.get("lang", "html") == "html":
        bound = _bound(source[block.inner.start : block.inner.end])
        mentions = mentions_in(source, block.inner, _expressions, bound)
    above = comments[-1:] if comments and _adjoins(source, comments[-1], block.outer) else []
    start = above[0].start if above else block.outer.start
    return Part(
        block.inner,
        whole=Whole(
            "function",
            name,
            f"<{name}>",
            comment_text(source, above),
            ("component",),
            is_default=True,
            declared=block.outer.start,
        ),
        outer=Span(start, block.outer.end),
        mentions=mentions,
        problem=block.problem,
    )


def _adjoins(source: bytes, comment: Span, block: Span) -> bool:
    between = source[comment.end : block.start]
    return not between.strip() and between.count(b"\n") <= 1


def _expressions(text: bytes, span: Span) -> Iterator[Span]:
    start = text.find(b"{{", span.start, span.end)
    while start >= 0:
        end = text.find(b"}}", start, span.end)
        if end < 0:
            break
        yield Span(start + 2, end)
        start = text.find(b"{{", end, span.end)
    for found in _DIRECTIVE.finditer(text, span.start, span.end):
        yield Span(*found.span("double" if found["double"] is not None else "single"))


def _bound(text: bytes) -> set[str]:
    """The names that loops and slots bind."""
    names: set[str] = set()
    for found in _DIRECTIVE.finditer(text):
        value = found["double"] if found["double"] is not None else found["single"]
        if found["name"] == b"v-for":
            loop = _LOOP.match(value)
            names |= bound_names(loop["names"]) if loop else set()
        elif found["name"].startswith((b"#", b"v-slot")):
            names |= bound_names(value)
    return names
