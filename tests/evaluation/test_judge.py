"""What a model is worth as a judge: the regressions, and the way from a set to its numbers."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.judge import main
from benchmarks.judge_fit import fit_curve, fit_weights, folds
from tests.backends.weights.tiny_models import make_encoder, make_reranker
from tests.evaluation.ranked_repositories import REPOSITORIES


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


@pytest.mark.parametrize("provider", ["encoder", "local"])
def test_from_a_dataset_to_the_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], provider: str
) -> None:
    make = make_encoder if provider == "encoder" else make_reranker
    folder = make(tmp_path / "model")
    lines: list[dict[str, object]] = [
        {"query": "check a token", "repo": "harbor", "language": "typescript"},
        {"query": "TokenService", "repo": "harbor", "language": "python"},
        {"query": "price of a cart", "repo": "harbor", "language": "go", "targets": []},
    ]
    target: dict[str, object] = {"targets": [{"path": "web/src/auth/tokenService.ts"}]}
    (tmp_path / "set.jsonl").write_text(
        "".join(json.dumps({"id": str(n), **target, **line}) + "\n" for n, line in enumerate(lines))
    )
    repos, output = REPOSITORIES["harbor"].parent, tmp_path / "numbers.json"
    given = [str(tmp_path / "set.jsonl"), "--repos-dir", str(repos), "--provider", provider]
    assert main([*given, "--model", str(folder), "-o", str(output)]) == 0
    numbers = json.loads(output.read_text())
    assert {"best", "second", "whole", "calibration.offset", "by_meaning.slope"} <= numbers.keys()
    assert "CPU ms for 40 hits" in capsys.readouterr().out
