"""What may stand in a log: no secret, and nothing of what files contain."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import PurePath

from asterism.disclosure.tokens import masked

HIDDEN = "…"
"""What stands in a secret's place."""

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
"""Characters of a secret that is searched for: less would hide ordinary words."""

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
    """The beginning of a text without its secrets; of a very long one the rest is not even read."""
    read = 4 * most
    if len(text) > read:
        # A secret that is cut in two would not be recognised: its first half goes as well.
        text = text[:read].rpartition(" ")[0] + HIDDEN
    text = redacted(text)
    return text if len(text) <= most else f"{text[: most - 1]}{HIDDEN}"
