"""Are arguments taken as the tools declare them, and is anything else refused in a sentence?"""

import re

import pytest

from asterism.operations.arguments import checked
from asterism.operations.registry import TOOLS
from asterism.types.errors import UsageError

SEARCH, SYMBOLS = TOOLS["search_code"], TOOLS["symbol_lookup"]


def test_defaults_are_filled_in_and_null_is_not_given() -> None:
    found = checked(SEARCH, {"query": "x", "mode": None, "stage": None})
    assert (found["mode"], found["limit"], found["exhaustive"]) == ("hybrid", 10, False)
    assert "stage" not in found


def test_one_text_is_a_list_of_one() -> None:
    found = checked(SYMBOLS, {"name": "x", "role": "usage", "kind": ["class", "method"]})
    assert (found["role"], found["kind"]) == (["usage"], ["class", "method"])


def test_a_whole_number_may_be_written_with_a_point() -> None:
    limit = checked(SEARCH, {"query": "x", "limit": 7.0})["limit"]
    assert (limit, type(limit)) == (7, int)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "search_code needs query"),
        (None, "search_code needs query"),
        ({"query": 5}, "query is 5; give a string"),
        ({"query": "x", "limt": 3}, "no parameter limt. Did you mean limit?"),
        ({"query": "x", "limit": True}, "limit is True; give a whole number"),
        ({"query": "x", "limit": "7"}, "limit is 7; give a whole number"),
        ({"query": "x", "limit": 0}, "limit is 0; give 1 to 100"),
        ({"query": "x", "limit": 1e300}, "limit is 1"),
        ({"query": "x", "limit": 10**5000}, "thousands of digits; give 1 to 100"),
        ({"query": "x", "min_score": float("nan")}, "min_score is nan; give a number"),
        ({"query": "x", "min_score": 1.5}, "min_score is 1.5; give 0 to 1"),
        ({"query": "x", "exhaustive": "yes"}, "exhaustive is yes; give true or false"),
        ({"query": "x", "mode": "fuzzy"}, "give one of hybrid, semantic, exact"),
        ({"query": "x", "filters": []}, "give an object of keys and values"),
        ({"query": "x", "filters": {"path": "a\0b"}}, "NUL"),
        ({"query": "a\0b"}, "query contains a NUL"),
        ({"query": "\ud800"}, "not valid Unicode"),
        ({"query": "x" * 100_001}, "query has 100,001 characters; give 100,000 at most"),
        ({"query": "x", "directory": ["a"] * 1_001}, "1,001 entries; give 1,000 at most"),
        ({"query": "x", "directory": [["a"]]}, "an entry of directory is ['a']; give a string"),
        ({"query": "x", "directory": {"a": 1}}, "give a string or a list of strings"),
    ],
)
def test_what_is_wrong_is_said(arguments: dict[str, object] | None, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        checked(SEARCH, arguments)
