"""What a chat's vector search gives its model, by the limits that the environment sets."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.llm.fake_openai import FakeOpenAI
from tests.llm.loopback import Call, Say

CALL = Call("vector_search", '{"query": "check the tokens of a service", "limit": 10}')


@pytest.fixture(autouse=True)
def _indexed(indexed: Path) -> None:
    """Every test asks about the small repository."""


def given_to_the_model(
    run: Run, monkeypatch: pytest.MonkeyPatch, **limits: str
) -> list[dict[str, Any]]:
    """The rows of a search that a model asked for."""
    with FakeOpenAI([Say(calls=(CALL,)), Say("Done.")]) as fake:
        for name, value in (("PROVIDER", "openai"), ("NAME", "fake-1"), ("URL", fake.url)):
            monkeypatch.setenv(f"ASTERISM_MODEL_{name}", value)
        for name, value in limits.items():
            monkeypatch.setenv(f"CODEINFO_{name}", value)
        done = run("ask", "who validates tokens?", "--json")
    (result,) = json.loads(done.out)["rounds"][0]["results"]
    assert not result["isError"]
    rows: list[dict[str, Any]] = result["data"]["results"]
    return rows


def test_by_default_what_is_near_enough(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = given_to_the_model(run, monkeypatch)
    assert rows
    assert all(row["score"] <= 1.4 for row in rows)
    files = [(row["repo"], row["relPath"]) for row in rows]
    assert all(files.count(file) <= 2 for file in files)


@pytest.mark.parametrize(("fallback", "count"), [("2", 2), ("1", 1), ("0", 0)])
def test_when_nothing_is_near_enough_the_best_are_given(
    run: Run, monkeypatch: pytest.MonkeyPatch, fallback: str, count: int
) -> None:
    limits = {"RETRIEVAL_DISTANCE_CUTOFF": "0.0001", "RETRIEVAL_FALLBACK_CHUNKS": fallback}
    rows = given_to_the_model(run, monkeypatch, **limits)
    assert len(rows) == count
    assert all(row["below_threshold"] for row in rows)


def test_without_the_cutoff_everything_is_eligible(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    off = {"RETRIEVAL_DISTANCE_CUTOFF": "0.0001", "RETRIEVAL_CUTOFF_DISABLED": "true"}
    rows = given_to_the_model(run, monkeypatch, **off)
    assert len(rows) > 2
    assert not any("below_threshold" in row for row in rows)


@pytest.mark.parametrize(
    ("limits", "each", "together"),
    [
        ({"TOOL_CHUNK_MAX_CHARS": "60"}, 60, 40_000),
        ({"TOOL_MAX_CHARS": "150"}, 5_000, 150),
        ({"TOOL_MAX_CHARS": "0"}, 5_000, 0),
    ],
)
def test_texts_are_limited_one_by_one_and_together(
    run: Run, monkeypatch: pytest.MonkeyPatch, limits: dict[str, str], each: int, together: int
) -> None:
    rows = given_to_the_model(run, monkeypatch, RETRIEVAL_CUTOFF_DISABLED="true", **limits)
    sizes = [len(row["chunk"]) for row in rows]
    assert all(size <= each for size in sizes)
    assert sum(sizes) <= together
    assert bool(rows) is bool(together)
