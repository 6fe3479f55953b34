"""The names that markup uses: components by their tags, and names in its expressions."""

import re
from collections.abc import Callable, Iterator

from asterism.analysis.syntax.parts import Mention
from asterism.languages.components.blocks import pascal_case
from asterism.types.outline import Span

_TAG = re.compile(rb"<(?P<name>[A-Za-z][\w.-]*+)")
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
# Strings, template texts apart, whose substitutions are code; then names with what is before them.
_TOKEN = re.compile(
    rb"""(?P<string>'(?:[^'\\\n]|\\.)*+'?|"(?:[^"\\\n]|\\.)*+"?)|(?P<template>`(?:[^`\\]|\\.)*+`?)"""
    rb"""|(?P<name>[A-Za-z_$][\w$]*+)(?P<key>\s*+:(?!:))?+|(?P<dot>\??\.(?!\.))|(?P<other>[^\s\w$])"""
)
_SUBSTITUTION = re.compile(rb"\$\{([^{}`]*+)\}")
_WORDS = frozenset(
    b"""
    as async await break case catch class const default delete do else extends false finally for
    from function if in instanceof let new null of return super switch this throw true try typeof
    undefined var void while yield each then html render debug key snippet attach
    """.split()
)
# A chain of members longer than this is no name that is looked up.
_LONGEST_RECEIVER = 80

Expressions = Callable[[bytes, Span], Iterator[Span]]


def mentions_in(
    source: bytes, span: Span, expressions: Expressions, bound: set[str]
) -> list[Mention]:
    """What a stretch of markup uses; names that the markup binds itself are local."""
    blank = _COMMENT.sub(lambda match: b" " * len(match[0]), source[span.start : span.end])
    found: dict[int, Mention] = {}
    for tag in _TAG.finditer(blank):
        name, at = tag["name"].decode("ascii", "replace"), span.start + tag.start("name")
        first, _, rest = name.partition(".")
        if rest or first[:1].isupper():
            found[at] = Mention(first, at)
            if rest:
                found[at + len(first) + 1] = Mention(rest, at + len(first) + 1, first)
        elif "-" in first:
            # A component may be written in the style of elements.
            found[at] = Mention(pascal_case(first), at)
    for start, end in expressions(blank, Span(0, len(blank))):
        for mention in names_in(blank[start:end], span.start + start, bound):
            found.setdefault(mention.offset, mention)
    return [found[at] for at in sorted(found)]


def names_in(text: bytes, offset: int, bound: set[str]) -> Iterator[Mention]:
    """The names of an expression: not its keys and strings; members with what they belong to."""
    chain, dotted, depth = "", False, 0
    for token in _TOKEN.finditer(text):
        if token["dot"]:
            dotted = True
            continue
        name = token["name"]
        if token["template"]:
            for part in _SUBSTITUTION.finditer(token[0]):
                yield from names_in(part[1], offset + token.start() + part.start(1), bound)
        if name is None:
            depth += {b"{": 1, b"}": -1}.get(token[0], 0)
            # What is called or indexed has no name of its own.
            chain = "…" if token[0] in (b")", b"]") else ""
            dotted = False
            continue
        word = name.decode("ascii")
        is_key = token["key"] is not None and depth > 0 and not dotted
        if dotted and chain:
            receiver = chain if len(chain) <= _LONGEST_RECEIVER else "…"
            yield Mention(word, offset + token.start(), receiver)
            chain = f"{chain}.{word}" if chain != "…" else chain
        elif name not in _WORDS and not is_key:
            yield Mention(word, offset + token.start(), None, word in bound)
            chain = word
        else:
            chain = "this" if word == "this" else ""
        dotted = False


def bound_names(pattern: bytes) -> set[str]:
    """The names in a pattern such as `(item, index)` or `{ row: line = 1 }`."""
    return {mention.name for mention in names_in(pattern, 0, set()) if mention.receiver is None}
