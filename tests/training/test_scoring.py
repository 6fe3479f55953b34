"""Is NDCG what it is by hand, and the same as the product's own evaluation says?"""

import math
import pickle
from pathlib import Path
from typing import Any

import pytest

from asterism.evaluation.datasets import FoundPlace, LabelledPlace, PathMatch
from asterism.evaluation.runs import first_ranks
from asterism.evaluation.runs import ndcg as product_ndcg
from training.evaluation.scoring import Place, load, ndcg, one_per_file, summary

A, B, C = Place("src/a.py", 1, 9), Place("src/b.py", 1, 9), Place("src/c.py", 1, 9)
SECOND, THIRD = 1 / math.log2(3), 1 / math.log2(4)


@pytest.mark.parametrize(
    ("hits", "targets", "expected"),
    [
        ([A, B], [{"path": "src/a.py"}], 1),
        ([B, A], [{"path": "src/a.py"}], SECOND),
        ([B, C, A], [{"path": "a.py"}], THIRD),
        ([B, C], [{"path": "src/a.py"}], 0),
        ([], [{"path": "src/a.py"}], 0),
        ([A, B], [{"path": "src/a.py"}, {"path": "src/b.py"}], 1),
        ([A, C, B], [{"path": "src/a.py"}, {"path": "src/b.py"}], (1 + THIRD) / (1 + SECOND)),
        ([A], [{"path": "src/a.py", "start": 5, "end": 20}], 1),
        ([A], [{"path": "src/a.py", "start_line": 10, "end_line": 20}], 0),
        ([B] * 10 + [A], [{"path": "src/a.py"}], 0),
        ([Place("xsrc/a.py", 1, 1)], [{"path": "src/a.py"}], 0),
    ],
)
def test_ndcg(hits: list[Place], targets: list[dict[str, object]], expected: float) -> None:
    assert ndcg(hits, targets) == pytest.approx(expected)
    found = [FoundPlace(*hit) for hit in hits[:10]]
    wanted = [
        LabelledPlace(
            str(target["path"]),
            target.get("start", target.get("start_line")),  # type: ignore[arg-type]
            target.get("end", target.get("end_line")),  # type: ignore[arg-type]
        )
        for target in targets
    ]
    ranks = first_ranks(found, wanted, "", PathMatch.suffix)
    assert product_ndcg(ranks, 10) == pytest.approx(expected)


def test_one_per_file() -> None:
    later = Place("src/a.py", 20, 30)
    assert one_per_file([A, later, B, A]) == [A, B]


def test_summary() -> None:
    """Languages count the same, whatever number of questions and repositories they have."""
    questions: list[dict[str, Any]] = [
        {
            "id": "1",
            "repo": "one",
            "language": "go",
            "category": "x",
            "targets": [{"path": "a.py"}],
        },
        {
            "id": "2",
            "repo": "two",
            "language": "go",
            "category": "y",
            "targets": [{"path": "a.py"}],
        },
        {
            "id": "3",
            "repo": "two",
            "language": "go",
            "category": "y",
            "targets": [{"path": "a.py"}],
        },
        {"id": "4", "repo": "new", "language": "lua", "targets": [{"path": "a.py"}]},
        {"id": "5", "repo": "new", "language": "lua", "targets": []},
    ]
    rankings = {"1": [A], "2": [B], "3": [A], "4": [B, B, A], "5": [A]}
    found = summary(questions, rankings)
    go = (1 + 0.5) / 2
    assert found["chunks"] == pytest.approx((go + THIRD) / 2, abs=1e-4)
    assert found["files"] == pytest.approx((go + SECOND) / 2, abs=1e-4)
    assert found["x"] == 1
    assert found["y"] == 0.5
    assert found["other"] == pytest.approx(SECOND, abs=1e-4)


def test_load(tmp_path: Path) -> None:
    asked = [{"id": "1", "repo": "one", "targets": []}]
    path = tmp_path / "bench.pickle"
    path.write_bytes(pickle.dumps((asked, {"one": ("go", [("a.go", 1, 2)], ["text"])})))
    questions, collections = load(path)
    assert questions == asked
    assert collections["one"].places == [Place("a.go", 1, 2)]
    assert collections["one"].language == "go"
