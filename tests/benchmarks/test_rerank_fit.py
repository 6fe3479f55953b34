"""The gain of a model as a reranker: the regressions, and the way from a dataset to its numbers."""

import json
from pathlib import Path

import numpy as np
import pytest

from asterism.types.errors import UsageError
from benchmarks.ranking.regression import fit_curve, fit_near, fit_weights, folds
from benchmarks.ranking.rerank import main
from tests.evaluation.ranked_repositories import REPOSITORIES
from tests.models.weights.tiny_models import make_encoder, make_reranker


def test_every_language_is_left_out_once() -> None:
    languages = {"go", "c", "php", "lua", "zig", "java", "ruby", "rust", "bash"}
    assert sorted(one for some in folds(languages) for one in some) == sorted(languages)
    assert folds({"go", "c"}) == [["c"], ["go"]]
    assert folds({"java", "c", "go"}, 2) == [["c", "java"], ["go"]]


def test_weights_are_found_again() -> None:
    """Lists whose right file was drawn with known odds; the first column counts as it is."""
    random, weights = np.random.default_rng(3), np.array([2.0, -1.0, 0.0])
    lists = []
    for _ in range(4_000):
        rows = random.normal(size=(12, 4))
        likely = np.exp(rows[:, 0] + rows[:, 1:] @ weights)
        right = np.zeros(12)
        right[random.choice(12, p=likely / likely.sum())] = 1
        lists.append((rows, right))
    lists.append((rows, np.zeros(12)))
    np.testing.assert_allclose(fit_weights(lists), weights, atol=0.1)


def test_weights_stay_near_what_is_usual_unless_many_say_otherwise() -> None:
    """Of the second nothing is known; of the first more and more."""
    rows, right = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]), np.array([0.0, 1.0])
    first = []
    for count in (1, 100, 10_000):
        found = fit_near([(rows, right)] * count, [1.0] * count, [1.0, -1.0])
        assert found[1] == pytest.approx(-1.0)
        first.append(found[0])
    assert first[0] == pytest.approx(1.0, abs=0.1)
    assert 1 > first[0] > first[1] > first[2]


def test_a_curve_is_found_again() -> None:
    random, values = np.random.default_rng(3), np.array([-1.0, 0.5, 1.0, -2.0, 0.0])
    rows = random.normal(size=(60_000, 4))
    likely = 1 / (1 + np.exp(-(values[0] + rows @ values[1:])))
    right = random.random(len(rows)) < likely
    found = fit_curve(rows, right, np.ones(len(rows), dtype=bool))
    assert [*found] == ["offset", "slope", "first", "cosine", "unsaid"]
    np.testing.assert_allclose([*found.values()], values, atol=0.1)


def test_questions_without_an_answer_weigh_half() -> None:
    rows = np.zeros((400, 4))
    answerable = np.arange(400) < 200
    found = fit_curve(rows, answerable, answerable)
    assert 1 / (1 + np.exp(-found["offset"])) == pytest.approx(2 / 3, abs=0.01)


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    """A small set about the example, as arguments."""
    lines: list[dict[str, object]] = [
        {"query": "check a token", "repo": "harbor", "language": "typescript"},
        {"query": "TokenService", "repo": "harbor", "language": "python"},
        {"query": "price of a cart", "repo": "harbor", "language": "go", "targets": []},
    ]
    target: dict[str, object] = {"targets": [{"path": "web/src/auth/tokenService.ts"}]}
    (tmp_path / "set.jsonl").write_text(
        "".join(json.dumps({"id": str(n), **target, **line}) + "\n" for n, line in enumerate(lines))
    )
    return [str(tmp_path / "set.jsonl"), "--repos-dir", str(REPOSITORIES["harbor"].parent)]


def test_from_two_datasets_to_the_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: list[str]
) -> None:
    output = tmp_path / "numbers.json"
    given += ["--beside", given[0], "--beside-repos-dir", given[2]]
    assert main([*given, "--provider", "encoder", "--sure", "inf", "-o", str(output)]) == 0
    numbers = json.loads(output.read_text())
    assert {"keeps", "best", "whole", "calibration.offset", "by_meaning.slope"} <= numbers.keys()
    assert "sure" not in numbers
    said = capsys.readouterr().out
    assert said.count("Asked for 100% of the questions.") == 2
    assert "CPU ms for 40 hits" in said


@pytest.mark.parametrize("provider", ["encoder", "local"])
def test_a_reranker_with_one_score_has_no_numbers(
    tmp_path: Path, given: list[str], provider: str
) -> None:
    make = make_encoder if provider == "encoder" else make_reranker
    given += ["--provider", provider, "--model", str(make(tmp_path / "model"))]
    with pytest.raises(UsageError, match="No query was reranked"):
        main(given)
