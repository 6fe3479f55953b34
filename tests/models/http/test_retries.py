"""How long are the pauses between attempts?"""

import pytest

from asterism.models.http.service import FOR_DOCUMENTS, asked_wait, wait_before

DATE = "Wed, 21 Oct 2015 07:28:00 GMT"
LATER = "Wed, 21 Oct 2015 07:28:30 GMT"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": LATER, "date": DATE}, 30.0),
        ({"retry-after": DATE, "date": LATER}, 0.0),
        ({"retry-after": LATER}, None),
        ({"retry-after": LATER, "date": "yesterday"}, None),
    ],
)
def test_what_the_server_asks_for(headers: dict[str, str], expected: float | None) -> None:
    assert asked_wait(headers) == expected


@pytest.mark.parametrize(("attempt", "full"), [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (50, 60)])
def test_pauses_double_up_to_the_longest(attempt: int, full: float) -> None:
    pauses = [wait_before(attempt, 60.0) for _ in range(200)]
    assert full / 2 <= min(pauses) <= max(pauses) <= full
    assert len(set(pauses)) > 1, "clients that failed together would come back together"


def test_limits_counted_by_the_minute_are_waited_out() -> None:
    shortest = sum(2.0**attempt / 2 for attempt in range(FOR_DOCUMENTS.attempts - 1))
    assert shortest >= 30
