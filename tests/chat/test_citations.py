"""Citations from tool results: duplicates go, two to a file stay, nonsense is passed over."""

from collections.abc import Mapping

import pytest

from asterism.chat.extractive import cited, existing
from asterism.types.chat import Citation, ToolResult


def row(
    name: str, score: float | None = None, path: str = "a.py", text: str = "", repo: str = "shop"
) -> dict[str, object]:
    """A row of a vector search, as a turn is given it."""
    return {
        "repo": repo,
        "relPath": path,
        "chunkId": name,
        "score": score,
        "chunk": text or f"text of {name}",
        "startLine": 1,
        "endLine": 3,
        "name": name,
    }


def result(*rows: object, is_error: bool = False) -> ToolResult:
    """A tool's result with these rows."""
    return ToolResult("c", "search", "…", is_error, {"results": list(rows)})


def names(*results: ToolResult) -> str:
    """The names of what is cited."""
    return " ".join(citation.name for citation in cited(results))


def test_a_row_of_a_vector_search() -> None:
    assert cited([result(row("f", 0.4))]) == (Citation("shop", "a.py", 1, 3, "f", 0.4, "f"),)


def test_a_row_of_a_list_of_code() -> None:
    listed = {
        "chunk_id": "c1",
        "repo": "shop",
        "file_path": "b.py",
        "content": "x",
        "start_line": 7,
        "end_line": 9,
        "distance": None,
        "similarity_score": 0.9,
        "name": "g",
    }
    assert cited([result(listed)]) == (Citation("shop", "b.py", 7, 9, "c1", None, "g"),)


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        # Within one result, and between results: the nearest of equals, the earliest of ties.
        ([result(row("a"), row("a"))], "a"),
        ([result(row("a", 0.5)), result(row("a", 0.5))], "a"),
        ([result(row("a", 0.9, text="t"), row("b", 0.2, text="t"))], "b"),
        ([result(row("a", 0.2, text="t"), row("b", 0.2, text="t"))], "a"),
        # Equal text in different files, or repositories, stays.
        ([result(row("a", text="t"), row("b", text="t", path="b.py"))], "a b"),
        ([result(row("a", text="t"), row("b", text="t", repo="other"))], "a b"),
        # Two to a file: the nearest, in the order they came.
        ([result(row("a", 0.9), row("b", 0.1), row("c", 0.5))], "b c"),
        ([result(row("a", 0.5), row("b", 0.5), row("c", 0.5))], "a b"),
        # Missing distances come last, but fill up.
        ([result(row("a"), row("b", 1.9), row("c", 1.8))], "b c"),
        ([result(row("a"), row("b", 1.9))], "a b"),
        # A call that failed is no evidence.
        ([result(row("a"), is_error=True)], ""),
        ([], ""),
    ],
)
def test_what_is_cited(results: list[ToolResult], expected: str) -> None:
    assert names(*results) == expected


@pytest.mark.parametrize(
    "broken",
    [
        None,
        "text",
        7,
        [],
        {},
        {**row("x"), "repo": None},
        {**row("x"), "repo": ""},
        {**row("x"), "relPath": 5},
        {**row("x"), "startLine": 0},
        {**row("x"), "startLine": "1"},
        {**row("x"), "endLine": -2},
        {**row("x"), "startLine": 9, "endLine": 3},
    ],
)
def test_rows_that_name_no_place_are_passed_over(broken: object) -> None:
    assert names(result(broken, row("a"))) == "a"


@pytest.mark.parametrize(
    "data", [None, {}, {"results": None}, {"results": "rows"}, {"results": {"a": 1}}]
)
def test_results_without_rows(data: Mapping[str, object] | None) -> None:
    assert cited([ToolResult("c", "t", "…", data=data)]) == ()


@pytest.mark.parametrize("score", [True, "0.1", float("nan"), float("inf")])
def test_a_score_that_is_no_distance(score: object) -> None:
    (citation,) = cited([result({**row("a"), "score": score})])
    assert citation.distance is None


def test_only_what_still_exists_is_shown() -> None:
    found = cited([result(row("a"), row("b", path="gone.py"))])
    shown = existing(found, lambda citation: citation.path != "gone.py")
    assert [citation.name for citation in shown] == ["a"]
