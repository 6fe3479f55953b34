"""Replies without the places where a server keeps its own files."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from asterism.servers.limits import Reply

HIDDEN = "…"

_OUTSIDE = ("/", "~", "..")

_WORDS = frozenset({"message", "note", "notes", "sentence", "trouble", "warnings"})
"""What a server says of itself; everything else is the repositories', and is told as it is."""


def hidden_places(directories: Iterable[object]) -> tuple[str, ...]:
    """Directories as messages may name them, the longest first.

    The chunk table's library names them without the first slash.
    """
    names = {str(one) for one in directories}
    bare = {name.lstrip("/") for name in names}
    return tuple(sorted(names | {name for name in bare if "/" in name}, key=len, reverse=True))


def without_places(reply: Reply, places: tuple[str, ...]) -> Reply:
    """The reply with a mark in place of each directory."""
    if not places:
        return reply
    if reply.error is not None:
        parts = (part._replace(text=_hidden(part.text, places)) for part in reply.parts)
        return replace(reply, parts=tuple(parts))
    if reply.structured is None:
        return reply
    structured = {key: _retold(key, value, places) for key, value in reply.structured.items()}
    if structured == reply.structured:
        return reply
    parts = (part._replace(text=_hidden(part.text, places)) for part in reply.parts)
    return replace(reply, structured=structured, parts=tuple(parts))


def shown_detail(detail: str | None, root: str) -> str | None:
    """Why a file is left out; of a place outside of the repository only the last name is told.

    A detail begins with the place of a rule, and the rule behind it, or with a link's target.
    """
    if detail is None or not detail.startswith(_OUTSIDE) or detail.startswith(f"{root}/"):
        return detail
    place, colon, rule = detail.partition(": ")
    return f"{HIDDEN}/{place.rpartition('/')[2]}{colon}{rule}"


def _retold(key: str, value: Any, places: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return _hidden(value, places) if key in _WORDS else value
    if isinstance(value, list):
        return [_retold(key, one, places) for one in value]
    if isinstance(value, dict):
        return {name: _retold(name, one, places) for name, one in value.items()}
    return value


def _hidden(text: str, places: tuple[str, ...]) -> str:
    for place in places:
        text = text.replace(place, HIDDEN)
    return text
