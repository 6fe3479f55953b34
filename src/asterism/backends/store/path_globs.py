r"""Path globs as regular expressions that Python's engine and Lance's read alike.

`*` and `?` stay within a folder, `**` as a whole name crosses folders (none included), `[…]` and
`[!…]` are one character that is no slash, and everything else means itself. A bracket that is never
closed means itself too. There is no escape character: `[*]` is a star.
"""

from typing import NamedTuple

WILD = frozenset("*?[")
_NOTHING = r"[^\s\S]"
_ANYTHING = r"[\s\S]*"
# Exactly what both engines take for syntax and both accept after a backslash.
_SYNTAX = frozenset("\\.+*?()|[]{}^$#&-~")


class Glob(NamedTuple):
    """A translated glob."""

    prefix: str
    """How every matching path begins, as far as no wildcard stands in the way."""
    regex: str
    """What the whole path must match; the anchors are the caller's."""


def is_wild(pattern: str) -> bool:
    """Whether anything in the pattern may mean more than itself."""
    return not WILD.isdisjoint(pattern)


def translate(pattern: str) -> Glob:
    """Return the regular expression of a glob."""
    first = next((at for at, char in enumerate(pattern) if char in WILD), len(pattern))
    names = pattern.split("/") if "[" not in pattern else _names(pattern)
    out: list[str] = []
    for number, name in enumerate(names):
        last = number == len(names) - 1
        if name == "**":
            out.append(_ANYTHING if last else rf"(?:{_ANYTHING}/)?")
        else:
            out.append(_name(name) + ("" if last else "/"))
    return Glob(pattern[:first], "".join(out))


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


def _name(name: str) -> str:
    """The expression of one name of a path."""
    out: list[str] = []
    at = 0
    while at < len(name):
        char = name[at]
        if char == "*":
            if not out or out[-1] != "[^/]*":
                out.append("[^/]*")
        elif char == "?":
            out.append("[^/]")
        elif char == "[" and (end := _closing(name, at)) is not None:
            out.append(_bracket(name[at + 1 : end]))
            at = end
        else:
            out.append(_escaped(char))
        at += 1
    return "".join(out)


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
