"""Golden ranks: how they are written, and how a changed ranking shows."""

from pathlib import Path

import pytest

from asterism.evaluation.datasets import FoundPlace
from tests.evaluation.fakes import FakeSearcher
from tests.evaluation.golden_ranks import changed_ranks, write_ranks

ANSWERS = {
    "check a\ntoken": [
        FoundPlace("src/tokens.ts", 7, 9, 3, "TokenService.validate", 0.934),
        FoundPlace("keys.ts", score=0.07),
    ],
    "limit": [FoundPlace(f"{number}.py", number, number) for number in range(1, 9)],
}

EXPECTED = """\
# What people ask.
? check a\\ntoken
  1  0.93  src/tokens.ts:7-9  TokenService.validate
  2  0.07  keys.ts

? unicorns
  nothing
? limit
  1  1.py:1-1
  2  2.py:2-2
  3  3.py:3-3
  4  4.py:4-4
  5  5.py:5-5
"""


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    path = tmp_path / "ranks.txt"
    path.write_text("# What people ask.\n? check a\\ntoken\n  1  old.py\n\n? unicorns\n? limit\n")
    return path


def test_queries_stay_and_places_are_written_anew(ranks: Path, tmp_path: Path) -> None:
    searcher = FakeSearcher(ANSWERS)
    write_ranks(ranks, searcher, tmp_path)
    assert ranks.read_text() == EXPECTED
    assert (searcher.indexed, searcher.closed) == ([tmp_path], 1)
    assert changed_ranks(ranks, FakeSearcher(ANSWERS), tmp_path) == []


def test_a_changed_ranking_shows_with_its_query(ranks: Path, tmp_path: Path) -> None:
    ranks.write_text(EXPECTED)
    swapped = {**ANSWERS, "check a\ntoken": ANSWERS["check a\ntoken"][::-1]}
    assert changed_ranks(ranks, FakeSearcher(swapped), tmp_path)[2:8] == [
        "@@ -1,9 +1,9 @@",
        " # What people ask.",
        " ? check a\\ntoken",
        "-  1  0.93  src/tokens.ts:7-9  TokenService.validate",
        "-  2  0.07  keys.ts",
        "+  1  0.07  keys.ts",
    ]


@pytest.mark.parametrize(
    ("score", "is_same"),
    [(0.934, True), (0.937, True), (0.921, True), (0.946, False), (0.9, False)],
)
def test_a_hair_is_no_change(ranks: Path, tmp_path: Path, score: float, is_same: bool) -> None:
    ranks.write_text(EXPECTED)
    first, second = ANSWERS["check a\ntoken"]
    moved = {**ANSWERS, "check a\ntoken": [first._replace(score=score), second]}
    assert (changed_ranks(ranks, FakeSearcher(moved), tmp_path) == []) is is_same


def test_a_file_without_queries_is_no_success(ranks: Path, tmp_path: Path) -> None:
    ranks.write_text("# nothing yet\n")
    assert changed_ranks(ranks, FakeSearcher(ANSWERS), tmp_path) == [
        "ranks.txt holds no query; add one as a line `? query`."
    ]
