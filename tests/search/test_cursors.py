"""Do pages follow each other, and does a cursor lead nowhere but on?"""

import base64
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.search.cursors import (
    MAX_PAGE,
    Origin,
    origin_of,
    page_of,
    read_cursor,
    write_cursor,
)
from asterism.types.errors import UsageError
from asterism.types.search import Filter, Mode, Question, Search

ORIGIN = Origin("shop", 7, "digest")
SEARCH = Search(question=Question(text="token"), mode=Mode.exact, where=Filter(kinds=("class",)))


@given(
    rows=st.lists(st.integers(), max_size=250),
    limits=st.lists(st.integers(1, MAX_PAGE), min_size=1),
)
def test_pages_give_every_row_once_in_order(rows: list[int], limits: list[int]) -> None:
    seen: list[int] = []
    cursor = None
    for number in range(len(rows) + 1):
        limit = limits[number % len(limits)]
        page = page_of(rows, ORIGIN, limit, cursor)
        assert page.total == len(rows)
        assert page.offset == len(seen)
        assert len(page.rows) == min(limit, len(rows) - len(seen))
        seen += page.rows
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == rows


@pytest.mark.parametrize("limit", [0, -1, MAX_PAGE + 1, 10**9, True])
def test_limits(limit: int) -> None:
    with pytest.raises(UsageError, match=f"1 to {MAX_PAGE} rows"):
        page_of([1, 2], ORIGIN, limit)


def test_a_cursor_is_one_word() -> None:
    cursor = write_cursor(ORIGIN, 40)
    assert cursor.replace("-", "").replace("_", "").isalnum()
    assert read_cursor(cursor, ORIGIN) == 40


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (ORIGIN._replace(index_id="other"), "another index"),
        (ORIGIN._replace(version=8), "has changed"),
        (ORIGIN._replace(query="x"), "another question"),
    ],
)
def test_a_cursor_from_elsewhere(other: Origin, said: str) -> None:
    with pytest.raises(UsageError, match=f"{said}.*Ask again without a cursor"):
        page_of([1, 2, 3], ORIGIN, 1, write_cursor(other, 1))


def forged(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode()


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "päge",
        "!!!!",
        "a" * 5_000,
        forged({}),
        forged(None),
        forged([]),
        forged(["shop", 7, "digest"]),
        forged(["shop", "7", "digest", 1]),
        forged(["shop", 7, "digest", -1]),
        forged(["shop", 7, "digest", 1.5]),
        forged(["shop", 7, "digest", True]),
        base64.urlsafe_b64encode(b"\xff\xfe").decode(),
        base64.urlsafe_b64encode(b"[" * 700).decode(),
    ],
)
def test_what_is_no_cursor(cursor: str) -> None:
    with pytest.raises(UsageError, match="not one that a search has returned"):
        read_cursor(cursor, ORIGIN)


def test_behind_the_end() -> None:
    with pytest.raises(UsageError, match="behind the last row"):
        page_of([1, 2], ORIGIN, 1, write_cursor(ORIGIN, 3))


def test_the_limit_belongs_to_no_origin() -> None:
    assert origin_of(SEARCH, "a", 1) == origin_of(replace(SEARCH, limit=50), "a", 1)


@pytest.mark.parametrize(
    "other",
    [
        replace(SEARCH, question=Question(text="tokens")),
        replace(SEARCH, mode=Mode.definition),
        replace(SEARCH, where=Filter(kinds=("class",), is_exported=True)),
        replace(SEARCH, min_score=0.5),
    ],
)
def test_everything_else_does(other: Search) -> None:
    assert origin_of(SEARCH, "a", 1).query != origin_of(other, "a", 1).query
