"""Do programs give the options that the requests of operations declare?"""

import pytest

from asterism.api.keywords import request_of
from asterism.operations.requests import (
    CodebaseSearch,
    ContextKeywords,
    SearchCode,
    SearchKeywords,
    SimilarCode,
    SimilarKeywords,
)
from asterism.operations.schema import request_fields
from asterism.types.errors import UsageError
from asterism.types.search import Filters

ELSEWHERE = {"query", "file_path", "start_line", "end_line", "filters"}
"""What the functions take in parameters of their own."""
HELD = {"repository_id", "project_id"}
"""Programs hold a repository already."""


@pytest.mark.parametrize(
    ("options", "request_record", "only_declared", "only_here"),
    [
        # Every hit of a program has its reasons; folders and extensions are filters.
        (SearchKeywords, SearchCode, {"explain", "file_type", "directory"}, set()),
        (SimilarKeywords, SimilarCode, {"explain"}, set()),
        (ContextKeywords, CodebaseSearch, set(), {"stage"}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_options_are_the_fields_of_the_request(
    options: type, request_record: type, only_declared: set[str], only_here: set[str]
) -> None:
    declared = {field.name for field in request_fields(request_record)} - ELSEWHERE - HELD
    filters = {*Filters.__annotations__}
    taken = {*options.__annotations__} - filters
    assert declared - filters - taken == only_declared
    assert taken - declared == only_here


@pytest.mark.parametrize(
    ("given", "expected", "filters"),
    [
        ({"query": "x"}, SearchCode(query="x"), {}),
        ({"query": "x", "limit": 3, "cursor": None}, SearchCode(query="x", limit=3), {}),
        ({"query": "x", "path": "src"}, SearchCode(query="x"), {"path": "src"}),
        ({"query": "x", "colour": "red"}, SearchCode(query="x"), {"colour": "red"}),
    ],
)
def test_requests(
    given: dict[str, object], expected: SearchCode, filters: dict[str, object]
) -> None:
    assert request_of(SearchCode, given) == (expected, filters)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"query": "x", "limit": 2.5}, "limit is 2.5; give a whole number."),
        ({"query": "x", "min_score": "1"}, "min_score is '1'; give a number."),
        ({"query": "x", "stage": "wander"}, "There is no stage 'wander'; there are discover"),
        ({"query": None}, "query is None; give a text."),
    ],
)
def test_wrong_types(given: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        request_of(SearchCode, given)
    assert str(caught.value).startswith(message)
