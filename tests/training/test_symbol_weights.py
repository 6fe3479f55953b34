"""Weights of symbols: fitted near where they start, towards what separates right from wrong."""

import json
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest

from asterism.search.ranking.symbol_weights import SHORT
from training.evaluation.symbols import NAMES, Case, fit, found_within, left_out, main

TEXT, TEST = NAMES.index("text"), NAMES.index("test")


def case(repo: str, right: int, files: list[int] | None = None) -> Case:
    """Five candidates of which the right one has more text."""
    features = np.zeros((5, len(NAMES)))
    features[:, TEXT] = 0.2
    features[right, TEXT] = 0.9
    features[:, TEST] = 1.0
    wanted = np.zeros(5)
    wanted[right] = 1.0
    return Case(repo, False, features, wanted, None if files is None else np.array(files))


def test_what_separates_counts_more() -> None:
    cases = [case("shop", number) for number in range(5)]
    weights = fit(cases, np.zeros(len(NAMES)))
    assert weights[TEXT] > 0.5
    assert weights[TEST] == pytest.approx(0, abs=0.01)
    assert found_within(cases, weights, 1) == 1.0
    assert found_within(cases, -weights, 1) == 0.0


def test_the_best_symbol_represents_its_file() -> None:
    cases = [case("shop", number, [0, 0, 1, 1, 2]) for number in range(5)]
    assert fit(cases, np.zeros(len(NAMES)))[TEXT] > 0.5


def test_each_repository_is_left_out_once() -> None:
    cases = [case(repo, number) for repo in ("shop", "bank") for number in range(5)]
    assert left_out(cases, np.zeros(len(NAMES)), 1) == {"bank": 1.0, "shop": 1.0}


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repos = tmp_path / "repos"
    for name in ("shop", "bank"):
        (repos / name).mkdir(parents=True)
        (repos / name / "lamps.py").write_text(
            "def light(lamp):\n    lamp.on = True\n\n\ndef count(lamps):\n    return len(lamps)\n"
        )
    rows = [
        {"repo": name, "query": "count all the lamps", "wanted": [["lamps.py", "count"]]}
        for name in ("shop", "bank")
    ]
    queries = tmp_path / "queries.jsonl"
    queries.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main([str(queries), "--repos-dir", str(repos)]) == 0
    printed = capsys.readouterr().out
    assert "SHORT without bank: 1.00" in printed
    assert "SHORT = SymbolFeatures(text=" in printed
    assert len(astuple(SHORT)) == len(NAMES)
