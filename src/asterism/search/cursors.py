"""Pages of an exhaustive search, and the cursor that leads from one to the next."""

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Generic, NamedTuple, TypeVar

from asterism.types.errors import UsageError
from asterism.types.search import Search

MAX_PAGE = 100
"""Rows of a page at most."""
# Longer texts were not written here.
_MAX_CURSOR = 1_000
_Row = TypeVar("_Row")


class Origin(NamedTuple):
    """What a page was cut from; a cursor leads on only in the same."""

    index_id: str
    """Which index."""
    version: int
    """Which version of it was searched."""
    query: str
    """A digest of the question with all that narrows it."""


class Page(NamedTuple, Generic[_Row]):
    """Some of the rows, in their order."""

    rows: tuple[_Row, ...]
    total: int
    """How many there are in all."""
    offset: int
    """How many come before these."""
    cursor: str | None
    """What to ask for the next page with; nothing on the last."""


def origin_of(search: Search, index: str, version: int) -> Origin:
    """The origin of a search's pages; the limit may change from page to page."""
    shape = {
        "text": search.question.text,
        "mode": search.mode.value,
        "where": asdict(search.where),
        "min_score": search.min_score,
        "bm25_weight": search.bm25_weight,
    }
    text = json.dumps(shape, sort_keys=True, ensure_ascii=True)
    return Origin(index, version, hashlib.sha256(text.encode()).hexdigest()[:32])


def page_of(
    rows: Sequence[_Row], origin: Origin, limit: int, cursor: str | None = None
) -> Page[_Row]:
    """The page that a cursor leads to, or the first; an error says where one cannot go on."""
    if isinstance(limit, bool) or not 1 <= limit <= MAX_PAGE:
        raise UsageError(
            f"limit is {limit}; a page of an exhaustive search has 1 to {MAX_PAGE} rows."
        )
    start = 0 if cursor is None else read_cursor(cursor, origin)
    if start > len(rows):
        raise _stale("it points behind the last row")
    end = start + limit
    following = write_cursor(origin, end) if end < len(rows) else None
    return Page(tuple(rows[start:end]), len(rows), start, following)


def write_cursor(origin: Origin, offset: int) -> str:
    """An opaque text that encodes where the next page starts."""
    inside = json.dumps(
        [origin.index_id, origin.version, origin.query, offset], separators=(",", ":")
    )
    return base64.urlsafe_b64encode(inside.encode()).decode().rstrip("=")


def read_cursor(cursor: str, origin: Origin) -> int:
    """Where to go on, if the cursor comes from the same question to the same index."""
    found, offset = _opened(cursor)
    if found.index_id != origin.index_id:
        raise _stale("it comes from another index")
    if found.query != origin.query:
        raise _stale("it comes from another question, mode or filter")
    if found.version != origin.version:
        raise _stale("the index has changed since")
    return offset


def _opened(cursor: str) -> tuple[Origin, int]:
    try:
        if len(cursor) > _MAX_CURSOR:
            raise ValueError(cursor[:20])
        padded = cursor.strip() + "=" * (-len(cursor.strip()) % 4)
        inside = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        index, version, query, offset = inside
        kinds = (type(index), type(version), type(query), type(offset))
        if kinds != (str, int, str, int) or offset < 0:
            raise ValueError(kinds)
    except (ValueError, TypeError, binascii.Error, RecursionError) as error:
        raise _stale("it is not one that a search has returned") from error
    return Origin(index, version, query), offset


def _stale(why: str) -> UsageError:
    return UsageError(f"The cursor cannot be used: {why}. Ask again without a cursor.")
