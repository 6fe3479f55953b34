"""How text is kept in SQLite, which refuses what is no UTF-8."""

import os
from typing import TypeAlias

Stored: TypeAlias = str | bytes

_ID_LENGTH = 32


def stored_path(path: str) -> Stored:
    """The path itself, or its bytes where they are no UTF-8."""
    return path if path.isascii() or _is_encodable(path) else os.fsencode(path)


def loaded_path(value: Stored) -> str:
    """What `stored_path` was given."""
    return value if isinstance(value, str) else os.fsdecode(value)


def stored_id(chunk_id: str) -> Stored:
    """Half the size for the ids that chunks have; any other id as it is."""
    if len(chunk_id) != _ID_LENGTH:
        return chunk_id
    try:
        data = bytes.fromhex(chunk_id)
    except ValueError:
        return chunk_id
    return data if data.hex() == chunk_id else chunk_id


def loaded_id(value: Stored) -> str:
    """What `stored_id` was given."""
    return value if isinstance(value, str) else value.hex()


def clean(text: str) -> str:
    """The text with every half of a surrogate pair replaced by a question mark."""
    if text.isascii() or _is_encodable(text):
        return text
    return text.encode("utf-8", "replace").decode()


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
