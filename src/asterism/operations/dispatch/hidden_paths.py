"""Replaces paths outside of the served repositories in replies."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from asterism.operations.limits import CallReply
from asterism.operations.repositories import HIDDEN

_WORDS = frozenset({"message", "note", "notes", "sentence", "trouble", "warnings"})
"""Keys whose texts the server writes; all other texts come from repositories and stay unchanged."""


_PATH = re.compile(r"(?<![\w./:~…-])(?:[A-Za-z]:[\\/]|~/|/)[^\s'\"`<>|,;()\[\]{}]*")
_ROUTES = ("/api", "/healthz", "/mcp", "/metrics", "/tools/")
"""Routes of the server, which look like paths."""
_STOPS = ".:!?"
"""Punctuation that may follow a path in a sentence."""


class Hiding(NamedTuple):
    """The paths that a server hides: all that are in no known repository."""

    places: tuple[str, ...]
    """Its own directories, the longest first; without any nothing is hidden."""
    known: Callable[[], Iterable[str]] = tuple
    """Where the repositories are; asked only about a text that names a path."""

    def reply(self, reply: CallReply, given: object = None) -> CallReply:
        """The reply with a mark in place of each path that it must not name.

        What the client wrote itself it may read again.
        """
        if not self.places:
            return reply
        said = "\n".join(_texts(given))
        if reply.error is not None:
            failed = tuple(part._replace(text=self.text(part.text, said)) for part in reply.parts)
            return replace(reply, parts=failed)
        changes: dict[str, str] = {}

        def told(sentence: str) -> str:
            changes[sentence] = self.text(sentence, said)
            return changes[sentence]

        structured = reply.structured and _retold(None, reply.structured, told)
        meta = _retold(None, reply.meta, told)
        if all(before == after for before, after in changes.items()):
            return reply
        # The texts are sentences and code: only what was a sentence is replaced in them.
        parts = tuple(part._replace(text=_replaced(part.text, changes)) for part in reply.parts)
        return replace(reply, structured=structured, meta=meta, parts=parts)

    def text(self, text: str, said: str = "") -> str:
        """A sentence without those paths."""
        if not self.places:
            return text
        for place in self.places:
            text = text.replace(place, HIDDEN)
        if _PATH.search(text) is None:
            return text
        known = tuple(self.known())
        return _PATH.sub(lambda found: _shown(found.group(), known, said), text)


def hidden_places(directories: Iterable[object]) -> tuple[str, ...]:
    """Directories as messages may name them, the longest first.

    The chunk table's library names them without the first slash.
    """
    names = {str(one) for one in directories}
    bare = {name.lstrip("/") for name in names}
    return tuple(sorted(names | {name for name in bare if "/" in name}, key=len, reverse=True))


def _shown(path: str, known: tuple[str, ...], said: str) -> str:
    plain = path.rstrip(_STOPS)
    is_known = any(plain == root or plain.startswith(f"{root}/") for root in known)
    if is_known or len(plain) < 2 or plain.startswith(_ROUTES) or plain in said:
        return path
    return HIDDEN + path[len(plain) :]


def _replaced(text: str, changes: Mapping[str, str]) -> str:
    for before, after in changes.items():
        if before != after:
            text = text.replace(before, after)
    return text


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


def _retold(key: str | None, value: Any, told: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return told(value) if key in _WORDS else value
    if isinstance(value, list):
        return [_retold(key, one, told) for one in value]
    if isinstance(value, dict):
        return {name: _retold(name, one, told) for name, one in value.items()}
    return value
