"""Lines for the log: what happened, with fields, under the request it belongs to."""

import json
import logging
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from pathlib import PurePath

from asterism.disclosure.tokens import masked

# What a client may call its request: anything else would let it write into the log.
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")

_current: ContextVar[str] = ContextVar("asterism_request", default="")


def current_request() -> str:
    """The id of the current request; empty outside of one."""
    return _current.get()


@contextmanager
def request(name: str | None = None) -> Iterator[str]:
    """Log lines inside have one request id; a nested use keeps the outer id.

    `name` is the id that a client gave it; an invalid one is replaced by a new id.
    """
    around = _current.get()
    if around:
        yield around
        return
    chosen = name if name and _NAME.fullmatch(name) else os.urandom(6).hex()
    token = _current.set(chosen)
    try:
        yield chosen
    finally:
        _current.reset(token)


HIDDEN = "…"
"""Replaces a secret."""

TEXT_AT_MOST = 300
"""Characters of a text in a log."""
QUESTION_AT_MOST = 100
NAME_AT_MOST = 60
LARGEST = 2**63
"""Numbers beyond this are no counts, and some have thousands of digits."""
ITEMS_AT_MOST = 20
"""Entries of a list in a log."""
DEPTH_AT_MOST = 3
"""Lists and tables inside each other; what lies deeper is named by its kind."""
SECRET_AT_LEAST = 6
"""The shortest secret that is hidden: a shorter one would hide ordinary words."""

# Under these names there is code, or what a user wrote for no log.
_CONTENTS = frozenset(
    {"answer", "body", "code", "code_snippet", "content", "contents", "data", "embedding_text"}
    | {"full_source", "instruction", "question", "snippet", "source", "text", "vector"}
)
_QUESTIONS = frozenset({"query"})
_SECRET_NAME = re.compile(
    r"(^|[_-])(api[_-]?key|key|token|secret|password|passwd|authorization|cookie|credentials?)$",
    re.IGNORECASE,
)
_SECRET_TEXTS: tuple[tuple[re.Pattern[str], str], ...] = (
    # A password in an address.
    (re.compile(r"//[^/@\s]+@"), f"//{HIDDEN}@"),
    # A header.
    (re.compile(r"\b(bearer|basic)\s+[\w.~+/=-]{6,}", re.IGNORECASE), rf"\1 {HIDDEN}"),
    # `key=…`, `"password": "…"`, `?access_token=…`.
    (
        re.compile(
            r"\b([\w-]{0,40}(?:api[_-]?key|token|secret|password|passwd|authorization))"
            r"([\"']?\s*[:=]\s*[\"']?)(?!…)[^\s\"'&,;)]{3,}",
            re.IGNORECASE,
        ),
        rf"\1\2{HIDDEN}",
    ),
    # Keys by the form that vendors give them.
    (
        re.compile(
            r"\b(?:sk|pk|pa|rk|al)-[\w-]{10,}|\b(?:gh[pousr]|github_pat|glpat|hf|xox[abprs])[_-][\w-]{10,}"
            r"|\bA[KS]IA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\beyJ[\w-]{5,}\.[\w-]+\.[\w-]*"
        ),
        HIDDEN,
    ),
    (re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*", re.DOTALL), HIDDEN),
)
_known: frozenset[str] = frozenset()


def hide(secrets: Iterable[str]) -> None:
    """Keep these texts out of every line from now on, wherever they appear."""
    global _known
    _known |= {secret for secret in secrets if len(secret) >= SECRET_AT_LEAST}


def redacted(text: str) -> str:
    """The text without anything that is or looks like a secret."""
    for secret in sorted(_known, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    for pattern, instead in _SECRET_TEXTS:
        text = pattern.sub(instead, text)
    return masked(text).text


def loggable(name: str, value: object, depth: int = 0) -> object:
    """A value as a log may show it under a name: short, plain, and harmless.

    Texts of several lines are code more often than not: only their size is told.
    """
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= LARGEST else "<large number>"
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else str(value)
    if isinstance(value, str | PurePath):
        return _text(name, str(value))
    if depth < DEPTH_AT_MOST and isinstance(value, Mapping):
        items = list(value.items())[:ITEMS_AT_MOST]
        return {_key(key): loggable(str(key), below, depth + 1) for key, below in items}
    if depth < DEPTH_AT_MOST and isinstance(value, Sequence | set | frozenset):
        if isinstance(value, bytes | bytearray):
            return f"<{len(value)} bytes>"
        return [loggable(name, below, depth + 1) for below in list(value)[:ITEMS_AT_MOST]]
    # Never what an object says of itself: that may be anything.
    return f"<{type(value).__name__}>"


def _key(key: object) -> str:
    """A name that a caller may have made up."""
    text = str(key).encode("utf-8", "backslashreplace").decode("utf-8")
    return excerpt(text, NAME_AT_MOST)


def _text(name: str, text: str) -> str:
    plain = name.lower()
    # Names of files need not be UTF-8, and lines have to be.
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if _SECRET_NAME.search(plain):
        return HIDDEN if text else ""
    if plain in _CONTENTS or "\n" in text:
        return f"<{len(text)} characters>"
    return excerpt(text, QUESTION_AT_MOST if plain in _QUESTIONS else TEXT_AT_MOST)


def excerpt(text: str, most: int) -> str:
    """The beginning of a text without its secrets; the rest of a long text is not read."""
    read = 4 * most
    if len(text) > read:
        # A secret that is cut in two would not be recognised: its first half goes as well.
        text = text[:read].rpartition(" ")[0] + HIDDEN
    text = redacted(text)
    return text if len(text) <= most else f"{text[: most - 1]}{HIDDEN}"


_ENDS_A_WORD = re.compile(r'[\s"=]')

FIELD_AT_MOST = 4_000
"""Characters of one field, nested values included."""

LOGGER = logging.getLogger("asterism")
"""Programs that use Asterism as a library can listen here; by itself it says nothing."""
LOGGER.addHandler(logging.NullHandler())


class Event:
    """One thing that happened; formatted only when it is read."""

    __slots__ = ("fields", "name", "request")

    def __init__(self, name: str, fields: dict[str, object], request: str) -> None:
        """The fields as they came; what may not be shown is left out on reading."""
        self.name = name
        self.fields = fields
        self.request = request

    def shown(self) -> dict[str, object]:
        """The fields as a log may show them; those without a value are left out."""
        return {
            name: _bounded(loggable(name, value))
            for name, value in self.fields.items()
            if value is not None
        }

    def __str__(self) -> str:
        """On one line: `search mode=hybrid seconds=0.012`."""
        shown = {**({"request": self.request} if self.request else {}), **self.shown()}
        return " ".join([self.name, *(f"{name}={_word(value)}" for name, value in shown.items())])


def log_event(name: str, level: int = logging.INFO, **fields: object) -> None:
    """Log what happened; without a handler nothing is formatted."""
    if LOGGER.isEnabledFor(level):
        LOGGER.log(level, "%s", Event(name, fields, current_request()))


def log_failure(name: str, error: BaseException, **fields: object) -> None:
    """Log an unexpected error, with the place in the program where it happened."""
    event = Event(name, {"error": type(error).__name__, **fields}, current_request())
    LOGGER.error("%s", event, exc_info=error)


def _bounded(value: object) -> object:
    """Short as each part may be, many of them make a long line."""
    if isinstance(value, dict | list):
        size = len(json.dumps(value))
        return value if size <= FIELD_AT_MOST else f"<{size} characters>"
    return value


def one_line(value: object) -> str:
    """As JSON without anything that a reader could take for the end of a line."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value).replace("\x7f", "\\u007f")


def _word(value: object) -> str:
    if isinstance(value, str) and value.isprintable() and not _ENDS_A_WORD.search(value):
        return value or '""'
    return one_line(value)
