"""Items that a message asks for by name: `@rule:NAME`, `@ref:NAME`, `@tool:SERVER.NAME`."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from asterism.types.context import ItemKey, ReferenceKey, RuleKey, ToolKey, key_from_text

_MENTION = re.compile(r"(?<![\w@.])@(rule|ref|reference|tool):", re.IGNORECASE)
_QUOTED = re.compile(r"\"([^\"\n]{1,200})\"|'([^'\n]{1,200})'|“([^”\n]{1,200})”")
_WORD = re.compile(r"[^\s,;:!?()\[\]{}<>\"'“”]{1,200}")
_MOST = 50
"""Mentions of one message; more is a pasted text."""


class Mention(NamedTuple):
    """A mention: the item it means, or the words that no item has for a name."""

    key: ItemKey | None
    written: str


def mentions(message: str, known: Iterable[ItemKey]) -> tuple[Mention, ...]:
    """The mentions of a message, each once, in their order.

    Names may have spaces: of the known names the longest that follows is meant, whatever the case
    of its letters. A name that is no item's can be quoted; else it is one word.
    """
    names = sorted(known, key=lambda key: -len(_name(key)))
    found = [_mention(message, match, names) for match in _first(_MENTION.finditer(message))]
    return tuple(dict.fromkeys(found))


def _first(matches: Iterator[re.Match[str]]) -> Iterator[re.Match[str]]:
    for _number, match in zip(range(_MOST), matches, strict=False):
        yield match


def _mention(message: str, match: re.Match[str], names: list[ItemKey]) -> Mention:
    kind = {"ref": "reference"}.get(match[1].lower(), match[1].lower())
    rest = message[match.end() :]
    quoted = _QUOTED.match(rest)
    if quoted is not None:
        return _quoted(kind, next(filter(None, quoted.groups())), names)
    lowered = rest.lower()
    for key in names:
        name = _name(key)
        if key.kind == kind and lowered.startswith(name.lower()) and _ends(rest, len(name)):
            return Mention(key, f"@{key}")
    word = _WORD.match(rest)
    return Mention(None, f"@{match[1]}:{word[0].rstrip('.') if word else ''}")


def _quoted(kind: str, name: str, names: list[ItemKey]) -> Mention:
    lowered = name.lower()
    for key in names:
        if key.kind == kind and _name(key).lower() == lowered:
            return Mention(key, f"@{key}")
    return Mention(None, f"@{kind}:{name}")


def _name(key: ItemKey) -> str:
    match key:
        case RuleKey() | ReferenceKey():
            return key.name
        case ToolKey():
            return key.qualified


def _ends(rest: str, length: int) -> bool:
    """Whether a name ends there, and is not the beginning of a longer one."""
    following = rest[length : length + 1]
    return not (following.isalnum() or following in ("_", "-"))


def key_named(written: str, known: Iterable[ItemKey]) -> ItemKey | None:
    """The item that a command's argument means: a mention without `@`, or a name only one has."""
    keys = list(known)
    stated = key_from_text(written.removeprefix("@"))
    if stated is not None:
        return next((key for key in keys if str(key).lower() == str(stated).lower()), None)
    alike = [key for key in keys if _name(key).lower() == written.lower()]
    return alike[0] if len(alike) == 1 else None
