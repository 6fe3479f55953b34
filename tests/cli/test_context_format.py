"""`asterism search --format context`: the graph and the code on standard output, notes elsewhere."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

BY_NAME = "Connected by name: The setting structure.typescript is off."


@pytest.fixture
def asked(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small repository, connected by name: what is printed does not depend on compilers."""
    monkeypatch.setenv("ASTERISM_STRUCTURE_TYPESCRIPT", "off")
    monkeypatch.setenv("ASTERISM_STRUCTURE_PYTHON", "off")
    return indexed


def test_the_graph_and_then_the_code(asked: Path, run: Run) -> None:
    done = run("search", "symbol = TokenService.validate", "--format", "context")
    assert (done.code, done.err) == (0, f"asterism: {BY_NAME}\n")
    graph, blank, code = done.out.partition("\n\n// src/tokens.ts\n")
    assert blank
    assert graph.startswith('Search: "symbol = TokenService.validate" | 1 result across 1 file | ')
    assert "async validate" not in graph
    assert "async validate(token: string): Promise<Key>" in code
    assert code.count("class TokenService") == 1
    assert "return jwt.verify(token, this.key());" in code
    assert "start();" not in code
    assert "\x1b" not in done.out


def test_json_has_the_same_parts(asked: Path, run: Run) -> None:
    words = ("search", "symbol = TokenService.validate", "--format", "context")
    text = run(*words).out
    found = json.loads(run(*words, "--json").out)
    *parts, notes = found["parts"]
    assert notes["text"] == f"Notes:\n- {BY_NAME}"
    assert "\n\n".join(part["text"].rstrip("\n") for part in parts) + "\n" == text
    assert [part["priority"] for part in parts] == [1.0, 1.0]
    assert (found["budget"], found["used_tokens"]) == (
        8000,
        sum(-(-len(p["text"]) // 4) for p in parts),
    )
    assert [(row["qualified_name"], row["detail"]) for row in found["results"]] == [
        ("TokenService.validate", "full")
    ]
    assert found["notes"] == [BY_NAME]
    assert found["index_state"] == {"message": "", "behind": 0}
    assert (found["total_count"], found["returned_count"], found["truncated"]) == (1, 1, False)
    assert found["dropped"] == {"below_gate": 0, "per_file": 0, "duplicate": 0, "budget": 0}
    assert found["truncation_info"]["limit_tokens"] == 8000


def test_the_budget(asked: Path, run: Run) -> None:
    done = run("search", "symbol = TokenService", "--format", "context", "--tokens", "60", "--json")
    found = json.loads(done.out)
    assert (done.code, found["budget"], found["truncated"]) == (0, 60, True)
    assert found["used_tokens"] <= 60
    assert found["truncation_info"]["reason"] == "single_result_too_large"


def test_the_gate(asked: Path, run: Run) -> None:
    words = ("search", "validates one token", "--format", "context", "--min-score")
    none = run(*words, "1")
    assert none.code == 1
    assert none.out.startswith('Search: "validates one token" | 0 results across 0 files | ')
    assert "Nothing here is a likely answer: " in none.err
    some = run(*words, "0")
    assert (some.code, "TokenService" in some.out) == (0, True)


def test_a_name_that_is_not_there(asked: Path, run: Run) -> None:
    done = run("search", "symbol = TokenServce", "--format", "context")
    assert done.code == 1
    assert done.out.endswith("\n\nDid you mean TokenService?\n")


def test_a_list_stays_a_list(asked: Path, run: Run) -> None:
    words = ("search", "symbol = TokenService")
    assert run(*words).out.splitlines()[:2] == run(*words, "--format", "list").out.splitlines()[:2]
    assert run(*words).out.startswith("1. src/tokens.ts:4–12")


REFUSED = {
    "--exhaustive": (),
    "--cursor": ("abc",),
    "--explain": (),
    "--context-lines": ("3",),
}


@pytest.mark.parametrize("option", REFUSED)
def test_what_only_a_list_has(asked: Path, run: Run, option: str) -> None:
    done = run("search", "token", "--format", "context", option, *REFUSED[option])
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"asterism: {option} belongs to a list of hits; leave it out, or leave out "
        "--format context.\n"
    )


@pytest.mark.parametrize("tokens", ["0", "-5", "49"])
def test_a_budget_for_nothing(asked: Path, run: Run, tokens: str) -> None:
    done = run("search", "token", "--format", "context", "--tokens", tokens)
    assert (done.code, done.err) == (
        2,
        f"asterism: The token budget is {tokens}; give 50 or more.\n",
    )


def test_a_format_that_does_not_exist(run: Run) -> None:
    done = run("search", "token", "--format", "poem")
    assert (done.code, "invalid choice: 'poem'" in done.err) == (2, True)
