"""Names and ids of projects and repositories: what is allowed, and which to give."""

import hashlib
import re
from collections.abc import Callable
from itertools import count

from asterism.types.errors import UsageError
from asterism.types.files import display_path

LONGEST = 64
_NAME = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9._-]{{0,{LONGEST - 1}}}")
_FOREIGN = re.compile(r"[^A-Za-z0-9._-]+")
_DIGITS = 8
"""Hexadecimal digits of a path's hash in an id; should two be equal, another hash is tried."""


def is_name(text: str) -> bool:
    """Whether anything can be called so."""
    return _NAME.fullmatch(text) is not None


def checked_name(name: str, what: str) -> str:
    """The name itself, if it may be one."""
    if not is_name(name):
        raise UsageError(
            f"{display_path(name)!r} cannot be the name of a {what}: give 1 to {LONGEST} letters "
            "(a to z), digits, dots, dashes or underscores, no dot or dash first."
        )
    return name


def default_name(directory: str, is_taken: Callable[[str], bool]) -> str:
    """The directory's name as far as it may be one, with a number where that is taken."""
    plain = _FOREIGN.sub("-", directory).lstrip(".-")[:LONGEST].rstrip("-") or "repository"
    if not is_taken(plain):
        return plain
    numbered = (f"{plain[: LONGEST - len(f'-{n}')]}-{n}" for n in count(2))
    return next(name for name in numbered if not is_taken(name))


def readable_id(name: str, path: bytes, is_taken: Callable[[str], bool]) -> str:
    """The name and a few digits of the path, so that a directory called so can be recognised."""
    salted = (b"%d:%b" % (attempt, path) if attempt else path for attempt in count())
    digits = (hashlib.sha256(content).hexdigest()[:_DIGITS] for content in salted)
    made = (f"{name[: LONGEST - 1 - _DIGITS]}-{some}" for some in digits)
    return next(candidate for candidate in made if not is_taken(candidate))
