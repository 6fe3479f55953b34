"""Does a note say what was masked, as the user chose, and at no greater length than is read?"""

import pytest

from asterism.disclosure.places import (
    PLACES_KEPT,
    MaskedPlace,
    MaskedTokens,
    places_in,
    places_of_part,
)
from tests.disclosure.examples import AWS, GITHUB

A, B = MaskedPlace("src/a.py", 12), MaskedPlace("src/b.py", 3)
MANY = [MaskedPlace("x.py", line) for line in range(1, 15)]
MASKED = "masked in what was sent to the model"
HINT = "`asterism files --tokens` shows where they are."


@pytest.mark.parametrize(
    ("counts", "places", "report", "said"),
    [
        ({}, [], "places", []),
        ({"JWT": 1}, [A], "none", []),
        ({"JWT": 1}, [A], "counts", [f"1 token was {MASKED} (1 JWT); {HINT}"]),
        ({"b": 2, "a": 1}, [], "counts", [f"3 tokens were {MASKED} (1 a, 2 b); {HINT}"]),
        (
            {"a": 3},
            [B, A, B],
            "places",
            [f"3 tokens were {MASKED} (3 a): src/a.py:12, src/b.py:3."],
        ),
        # The words of a query have no place.
        ({"JWT": 1}, [], "places", [f"1 token was {MASKED} (1 JWT); {HINT}"]),
        (
            {"a": 14},
            MANY,
            "places",
            [
                f"14 tokens were {MASKED} (14 a): "
                + ", ".join(f"x.py:{line}" for line in range(1, 11))
                + " and 4 more places."
            ],
        ),
        (
            {"a": 11},
            [*MANY[:10], MaskedPlace("y\u202e.py", 1)],
            "places",
            [
                f"11 tokens were {MASKED} (11 a): "
                + ", ".join(f"x.py:{line}" for line in range(1, 11))
                + " and 1 more place."
            ],
        ),
        (
            {"a": 1},
            [MaskedPlace("y\u202e\n.py", 1)],
            "places",
            [f"1 token was {MASKED} (1 a): y\\u202e\\n.py:1."],
        ),
    ],
)
def test_notes(
    counts: dict[str, int], places: list[MaskedPlace], report: str, said: list[str]
) -> None:
    masked = MaskedTokens()
    masked.add(counts, places)
    assert masked.note("the model", report) == said


def test_what_is_sent_again_counts_once() -> None:
    masked = MaskedTokens()
    masked.at_least({"a": 2})
    masked.at_least({"a": 1, "b": 1})
    assert masked.counts == {"a": 2, "b": 1}


def test_places_are_bounded() -> None:
    masked = MaskedTokens()
    masked.add({"a": 1}, (MaskedPlace("x.py", line) for line in range(2 * PLACES_KEPT)))
    assert len(masked.places) == PLACES_KEPT


def test_lines_are_those_of_the_file() -> None:
    text = f"one\ntwo = '{AWS}'\nthree\nfour = '{GITHUB}'\n"
    assert places_in("a.py", 10, text) == [MaskedPlace("a.py", 11), MaskedPlace("a.py", 13)]
    assert places_in("a.py", 10, "plain") == []
    assert places_of_part("a.py", 10, "plain") == [MaskedPlace("a.py", 10)]
