"""Vector search inside a chat: its rules on the established shape."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from asterism.chat.vector_search import VectorOptions, chosen, chosen_ranked, payload
from asterism.types.search import Hit
from tests.search.selection_hits import hit

ROOTS = {"shop": "/code/shop"}
NAN = float("nan")


def given_for(hits: Sequence[Hit], lines: bool = False, **options: Any) -> dict[str, Any]:
    """What a chat is given."""
    return payload(chosen(hits, VectorOptions(**options)), ROOTS, "m", lines=lines)


def rows(hits: Sequence[Hit], **options: Any) -> list[dict[str, Any]]:
    """The rows of it."""
    given: list[dict[str, Any]] = given_for(hits, **options)["results"]
    return given


def names(hits: Sequence[Hit], **options: Any) -> str:
    """The ids of the rows."""
    return " ".join(str(row["chunkId"]) for row in rows(hits, **options))


def test_the_shape() -> None:
    found = [hit("a", 0.9, 0.5, lines=(3, 4), text="def a():\n    pass"), hit("b", 0.9, None)]
    given = payload(chosen(found, VectorOptions(cutoff_disabled=True)), ROOTS, "local/m")
    assert json.loads(json.dumps(given)) == {
        "results": [
            {
                "repo": "shop",
                "relPath": "a.py",
                "containerPath": "/code/shop/a.py",
                "hostPath": "/code/shop/a.py",
                "score": 0.5,
                "chunk": "def a():\n    pass",
                "chunkId": "a",
                "modelId": "local/m",
                "lineCount": 2,
            },
            {
                "repo": "shop",
                "relPath": "b.py",
                "containerPath": "/code/shop/b.py",
                "hostPath": "/code/shop/b.py",
                "score": None,
                "chunk": "source of b",
                "chunkId": "b",
                "modelId": "local/m",
                "lineCount": 1,
            },
        ],
        "modelId": "local/m",
        "files": [
            {
                "repo": "shop",
                "relPath": "a.py",
                "containerPath": "/code/shop/a.py",
                "hostPath": "/code/shop/a.py",
                "highestMatch": 0.5,
                "chunkCount": 1,
                "lineCount": 2,
            },
            {
                "repo": "shop",
                "relPath": "b.py",
                "containerPath": "/code/shop/b.py",
                "hostPath": "/code/shop/b.py",
                "highestMatch": None,
                "chunkCount": 1,
                "lineCount": 1,
            },
        ],
    }


def test_a_turn_is_told_the_lines() -> None:
    (row,) = given_for([hit("a", 0.9, 0.5, lines=(3, 4))], lines=True)["results"]
    assert (row["startLine"], row["endLine"], row["name"]) == (3, 4, "a")


@pytest.mark.parametrize(
    ("distances", "options", "expected"),
    [
        # The cutoff is 1.4 and inclusive; the order is the store's.
        ((1.5, 1.4, 0.2, 1.41, 1.0), {}, "b c e"),
        ((0.8, 0.3), {"distance_cutoff": 0.5}, "b"),
        # Switched off, everything is eligible.
        ((1.9, None, 0.2), {"cutoff_disabled": True}, "a b c"),
        # None passes: the best two, ties by the order given, missing distances last.
        ((1.9, 1.6, 1.5), {}, "b c"),
        ((1.5, 1.5, 1.5), {}, "a b"),
        ((None, 1.9, NAN, 1.8), {}, "b d"),
        ((None, None, None), {}, "a b"),
        ((1.9, 1.6, 1.5), {"fallback_chunks": 1}, "c"),
        ((1.9, 1.6, 1.5), {"fallback_chunks": 0}, ""),
        # Nothing is made up.
        ((), {}, ""),
        # What passes is not filled up.
        ((1.0, 1.9), {}, "a"),
    ],
)
def test_cutoff_and_fallback(
    distances: Sequence[float | None], options: dict[str, Any], expected: str
) -> None:
    found = [hit(chr(97 + place), 0.0, distance) for place, distance in enumerate(distances)]
    assert names(found, **options) == expected


@pytest.mark.parametrize(("distance", "marked"), [(1.4, False), (1.5, True), (None, True)])
def test_what_did_not_pass_is_marked(distance: float | None, marked: bool) -> None:
    (row,) = rows([hit("a", 0.0, distance)])
    assert row.get("below_threshold", False) is marked


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        # The same chunk, or the same text, in one file.
        ([hit("a", 0, 0.5), hit("a", 0, 0.4)], "a"),
        ([hit("a", 0, 0.5, file="x", text="t"), hit("b", 0, 0.4, file="x", text="t")], "b"),
        # Equal text in different files stays, and in another repository's file of that name.
        ([hit("a", 0, 0.5, text="t"), hit("b", 0, 0.4, text="t")], "a b"),
        (
            [
                hit("a", 0, 0.5, file="x", text="t"),
                hit("b", 0, 0.4, file="x", repo="other", text="t"),
            ],
            "a b",
        ),
        # Two to a file, the nearest, in the order they came.
        ([hit(name, 0, d, file="x") for name, d in (("a", 0.9), ("b", 0.2), ("c", 0.5))], "b c"),
        ([hit(name, 0, 0.5, file="x") for name in "abc"], "a b"),
        ([hit("a", 0, None, file="x"), *(hit(n, 0, 1.0, file="x") for n in "bc")], "b c"),
    ],
)
def test_duplicates_and_files(found: Sequence[Hit], expected: str) -> None:
    assert names(found, cutoff_disabled=True) == expected


def test_a_file_shows_its_lowest_distance() -> None:
    found = [hit(n, 0, d, file="x") for n, d in (("a", 0.9), ("b", 0.2))]
    (file,) = given_for(found)["files"]
    assert (file["highestMatch"], file["chunkCount"], file["lineCount"]) == (0.2, 2, 2)


def test_a_long_text_is_cut_and_says_which_lines_went() -> None:
    text = "\n".join(f"line {number:04d}" for number in range(1, 1001))
    (row,) = rows([hit("a", 0, 0.1, lines=(11, 1010), text=text)])
    cut = str(row["chunk"])
    assert len(cut) <= 5_000
    assert cut.endswith("-1010 left out]")
    assert cut.startswith("line 0001\n")


def test_the_total_counts_texts_after_they_were_cut() -> None:
    found = [hit(name, 0, 0.1, text=name * 9_000) for name in "abcdefghij"]
    given = rows(found)
    sizes = [len(str(row["chunk"])) for row in given]
    assert len(given) == 8
    assert sum(sizes) <= 40_000
    assert max(sizes) <= 5_000
    # Eight of 9,000 characters would be far over; a smaller chunk after one that is too large fits.
    assert names([hit("a", 0, 0.1, text="x" * 90), hit("b", 0, 0.1)], max_chars=50) == "b"


def test_a_total_too_small_for_anything_gives_nothing() -> None:
    assert names([hit("a", 0, 0.1)], max_chars=3) == ""


def test_of_a_ranking_the_best_two_of_a_file_are_kept_however_far_they_are() -> None:
    """A definition that was asked for by its name is farther than the code around it."""
    found = [
        hit("send", 0.84, 1.9, file="response.py"),
        hit("send_file", 0.45, 1.0, file="response.py"),
        hit("send_status", 0.2, 0.9, file="response.py"),
        hit("unmeasured", 0.1, None),
    ]
    kept = chosen_ranked(found, VectorOptions()).kept
    assert [one.hit.chunk.name for one in kept] == ["send", "send_file", "unmeasured"]
