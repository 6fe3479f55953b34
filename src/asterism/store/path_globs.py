r"""Path globs as regular expressions, for Python's engine and for Lance's, without backtracking.

`*` and `?` stay within a folder, `**` as a whole name crosses folders (none included), `[…]` and
`[!…]` are one character that is no slash, and everything else means itself. A bracket that is never
closed means itself too. There is no escape character: `[*]` is a star.

Lance's engine takes linear time for any expression. Python's tries every way of dividing a path
among the stars, so that `*a*a*a*a*b` takes seconds for a long name. Its expression therefore has
atomic groups: the text after a star is looked for once, where it comes first, because a later
occurrence leaves less for the rest of the pattern and never more.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

WILD = frozenset("*?[")
_NOTHING = r"[^\s\S]"
_ANYTHING = r"[\s\S]*"
_STAR = "[^/]*"
# Exactly what both engines take for syntax and both accept after a backslash.
_SYNTAX = frozenset("\\.+*?()|[]{}^$#&-~")


class Glob(NamedTuple):
    """A translated glob."""

    prefix: str
    """How every matching path begins, as far as no wildcard stands in the way."""
    regex: str
    """For engines that take linear time; the anchors are the caller's."""
    atomic: str
    """The same for Python's engine."""


def is_wild(pattern: str) -> bool:
    """Whether anything in the pattern may mean more than itself."""
    return not WILD.isdisjoint(pattern)


def translate(pattern: str) -> Glob:
    """Return the regular expressions of a glob."""
    first = next((at for at, char in enumerate(pattern) if char in WILD), len(pattern))
    names = _folded(pattern.split("/") if "[" not in pattern else _names(pattern))
    return Glob(pattern[:first], _plain(names), _atomic(names))


@lru_cache(256)
def matcher(pattern: str) -> Callable[[str], bool]:
    """Return the test whether a whole path matches a glob."""
    matches = re.compile(translate(pattern).atomic).fullmatch
    return lambda path: matches(path) is not None


def _folded(names: Sequence[str]) -> list[str]:
    """The names with each run of `**` as one: any number of folders twice is any number."""
    return [
        name for at, name in enumerate(names) if not (at and name == "**" and names[at - 1] == "**")
    ]


def _plain(names: Sequence[str]) -> str:
    out: list[str] = []
    for number, name in enumerate(names):
        last = number == len(names) - 1
        if name == "**":
            out.append(_ANYTHING if last else rf"(?:{_ANYTHING}/)?")
        else:
            out.append("".join(_pieces(name)) + ("" if last else "/"))
    return "".join(out)


def _atomic(names: Sequence[str]) -> str:
    """The expression whose names between two `**` are found where they come first."""
    blocks: list[list[str]] = [[]]
    for name in names:
        if name == "**":
            blocks.append([])
        else:
            blocks[-1].append(_atomic_name(name))
    head, *others = blocks
    if not others:
        return "/".join(head)
    *middle, tail = others
    out = ["".join(f"{name}/" for name in head)]
    for block in middle:
        block_text = "".join(f"{name}/" for name in block)
        out.append(f"(?>(?:[^/]*+/)*?{block_text})")
    out.append(rf"(?:{_ANYTHING}/)?{'/'.join(tail)}" if tail else _ANYTHING)
    return "".join(out)


def _atomic_name(name: str) -> str:
    """The expression of one name, in which every star but the last takes as little as it can."""
    pieces = _pieces(name)
    stars = [at for at, piece in enumerate(pieces) if piece == _STAR]
    if len(stars) < 2:
        return "".join(pieces)
    out = pieces[: stars[0]]
    for star, following in pairwise(stars):
        out += ["(?>[^/]*?", *pieces[star + 1 : following], ")"]
    return "".join([*out, *pieces[stars[-1] :]])


def _names(pattern: str) -> list[str]:
    """The pattern cut at slashes, those inside brackets aside."""
    names, start, at = [], 0, 0
    while at < len(pattern):
        if pattern[at] == "[" and (end := _closing(pattern, at)) is not None:
            at = end
        elif pattern[at] == "/":
            names.append(pattern[start:at])
            start = at + 1
        at += 1
    return [*names, pattern[start:]]


def _pieces(name: str) -> list[str]:
    """The expression of one name of a path: one piece for each star and each character."""
    out: list[str] = []
    at = 0
    while at < len(name):
        char = name[at]
        if char == "*":
            if not out or out[-1] != _STAR:
                out.append(_STAR)
        elif char == "?":
            out.append("[^/]")
        elif char == "[" and (end := _closing(name, at)) is not None:
            out.append(_bracket(name[at + 1 : end]))
            at = end
        else:
            out.append(_escaped(char))
        at += 1
    return out


def _closing(text: str, opening: int) -> int | None:
    """Where a bracket ends; a `]` that comes first in it is one of its characters."""
    first = opening + 1
    if text[first : first + 1] in ("!", "^"):
        first += 1
    end = text.find("]", first + 1)
    return None if end < 0 else end


def _bracket(body: str) -> str:
    """One character of a set, or outside it; a range that runs backwards is empty."""
    negated = body[0] in "!^"
    rest = body[1:] if negated else body
    spans: list[tuple[str, str]] = []
    at = 0
    while at < len(rest):
        low = high = rest[at]
        if rest[at + 1 : at + 2] == "-" and at + 2 < len(rest):
            high = rest[at + 2]
            at += 2
        at += 1
        spans.extend(_without_slash(low, high))
    items = "".join(
        _escaped(low) if low == high else f"{_escaped(low)}-{_escaped(high)}" for low, high in spans
    )
    if negated:
        return f"[^/{items}]"
    return f"[{items}]" if items else _NOTHING


def _without_slash(low: str, high: str) -> list[tuple[str, str]]:
    """A range of characters cut around the slash."""
    if not low <= "/" <= high:
        return [(low, high)] if low <= high else []
    below, above = (low, "."), ("0", high)
    return [(first, last) for first, last in (below, above) if first <= last]


def _escaped(char: str) -> str:
    return f"\\{char}" if char in _SYNTAX else char
