"""Whole files of ours: they say so, and carry a hash by which an edit by hand is seen."""

import hashlib
import re

_MARK = re.compile(
    r"^(?P<lead># |<!-- )asterism install (?P<hash>[0-9a-f]{12})(?P<tail>| -->)$", re.MULTILINE
)
# Where the mark is to stand in the text of a file.
PLACE = "{{mark}}"
_HASH_LENGTH = 12


def marked(text: str) -> str:
    """The text with its mark, which says what the rest of it was when we wrote it."""
    lead, tail = ("<!-- ", " -->") if f"<!-- {PLACE} -->" in text else ("# ", "")
    line = f"{lead}{PLACE}{tail}"
    return text.replace(line, f"{lead}asterism install {_hash(text.replace(line, ''))}{tail}")


def is_ours(text: str) -> bool:
    """Whether the file is one of ours, edited by hand or not."""
    return _MARK.search(text) is not None


def is_unedited(text: str) -> bool:
    """Whether the file is as one of our versions wrote it."""
    found = _MARK.search(text)
    return found is not None and _hash(text.replace(found.group(), "")) == found["hash"]


def _hash(text: str) -> str:
    plain = text.replace("\r\n", "\n")
    return hashlib.sha256(plain.encode("utf-8", "surrogateescape")).hexdigest()[:_HASH_LENGTH]
