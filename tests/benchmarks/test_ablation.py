"""The ablation: every number of the ranking is left out once, whatever it is called."""

import json
from dataclasses import fields
from pathlib import Path

import pytest

from asterism.evaluation.datasets import LabelledPlace, Query
from asterism.search.ranking.options import RankOptions
from asterism.search.recall import Pools
from benchmarks.ranking.ablation import FULL, Scored, kept_always, main, variants, worth_table
from tests.evaluation.ranked_repositories import REPOSITORIES

OPTIONS = RankOptions()


def test_every_weight_and_prior_is_left_out() -> None:
    found = variants(OPTIONS)
    for field in fields(OPTIONS.weights):
        assert getattr(found[f"weights.{field.name}"].options.weights, field.name) == 0.0
    for field in fields(OPTIONS.priors):
        assert getattr(found[f"priors.{field.name}"].options.priors, field.name) == 1.0
        assert getattr(found["all priors"].options.priors, field.name) == 1.0
    for field in fields(OPTIONS):
        if isinstance(getattr(OPTIONS, field.name), float):
            assert getattr(found[field.name].options, field.name) == 1.0
    assert all(variant.options != OPTIONS for name, variant in found.items() if "." in name)
    assert found[FULL].options == OPTIONS


def test_channels_are_left_out_of_what_was_found() -> None:
    found = variants(OPTIONS)
    pools = Pools(text=("words",), definitions={"key": "name"}, places={"key": "a.py"})  # type: ignore[arg-type, dict-item]
    assert found["channel text"].pools(pools) == pools._replace(text=())
    assert found["channel definitions"].pools(pools) == Pools(text=pools.text)
    assert found["weights.text"].pools(pools) == pools
    assert "channel places" not in found


def test_the_largest_loss_stands_first() -> None:
    small, middle, large, *others = [name for name in variants(OPTIONS) if name != FULL]

    def scored(full: float, first: float, second: float) -> Scored:
        query = Query("1", "q", "a", (LabelledPlace("a"),), category="symbol")
        return Scored(query, {FULL: full, small: first, middle: second, large: 0.25})

    results = [scored(1.0, 0.75, 0.25), scored(0.5, 0.5, 0.75)]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in worth_table(results)]
    assert lines[0][4:] == ["symbol", "better", "worse"]
    assert [line[0] for line in lines[2:]] == [FULL, large, middle, small]
    assert lines[4][1:3] == ["0.5000", "-0.2500"]
    assert lines[4][4:] == ["-0.2500", "1", "1"]
    assert kept_always(results) == others


def test_from_a_dataset_to_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = {"id": "1", "query": "TokenService", "repo": "harbor"}
    right = line | {"targets": [{"path": "web/src/auth/tokenService.ts"}]}
    nothing = line | {"id": "2", "targets": []}
    (tmp_path / "set.jsonl").write_text(f"{json.dumps(right)}\n{json.dumps(nothing)}\n")
    repos = REPOSITORIES["harbor"].parent
    assert main([str(tmp_path / "set.jsonl"), "--repos-dir", str(repos)]) == 0
    printed = capsys.readouterr()
    assert "| everything" in printed.out
    assert "1.0000" in printed.out
    assert "| channel vector" in printed.out
    assert "1 questions" in printed.err
