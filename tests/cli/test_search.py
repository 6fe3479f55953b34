"""`asterism search`: hits for people and programs, filters, pages, and bad input."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_a_question_in_words(run: Run, indexed: Path) -> None:
    done = run("search", "validate a token")
    assert done.code == 0
    first = done.out.splitlines()[0]
    assert first.startswith("1. src/tokens.ts:")
    assert "TokenService" in first


def test_json_accounts_for_everything(run: Run, indexed: Path) -> None:
    done = run("search", "TokenService validate", "--limit", "2", "--json", "--explain")
    reply = json.loads(done.out)
    assert (done.code, reply["mode"], reply["query"]) == (0, "hybrid", "TokenService validate")
    assert reply["returned_count"] == len(reply["results"]) == 2
    assert reply["total_count"] == reply["returned_count"] + sum(reply["dropped"].values())
    assert reply["index_state"] == {"message": "", "behind": 0}
    assert reply["total_is_exact"] is False
    best = reply["results"][0]
    assert best["file_path"] == "src/tokens.ts"
    assert 0 <= best["similarity_score"] <= 1
    assert {signal["name"] for signal in best["why"]} & {"text", "vector", "name"}


@pytest.mark.parametrize(
    ("query", "options", "names"),
    [
        ("symbol = TokenService > validate", [], ["TokenService.validate"]),
        ("symbol = validate", [], ["TokenService.validate"]),
        ("regex:jwt\\.ver", [], ["TokenService.validate"]),
        ('"Checks tokens."', ["--mode", "exact"], ["TokenService"]),
        ("TokenService", ["--mode", "definition"], ["TokenService"]),
    ],
)
def test_what_is_exact_is_complete(
    run: Run, indexed: Path, query: str, options: list[str], names: list[str]
) -> None:
    reply = json.loads(run("search", query, *options, "--json").out)
    assert [row["name"] for row in reply["results"]] == names
    assert (reply["total_matches"], reply["total_is_exact"]) == (len(names), True)


def test_filters_narrow_and_are_echoed(run: Run, indexed: Path) -> None:
    reply = json.loads(run("search", "main", "--filter", "languages=python", "--json").out)
    assert {Path(row["file_path"]).suffix for row in reply["results"]} == {".py"}
    assert reply["filters_applied"]["languages"] == ["python"]


def test_pages_hold_everything_once(run: Run, indexed: Path) -> None:
    seen: list[str] = []
    more: list[str] = []
    while True:
        command = ["search", "regex:.", "--exhaustive", "--limit", "3", "--json", *more]
        reply = json.loads(run(*command).out)
        seen += [row["chunk_id"] for row in reply["results"]]
        if reply["cursor"] is None:
            break
        more = ["--cursor", reply["cursor"]]
    assert len(seen) == len(set(seen)) > 3


def test_new_code_is_found_at_once(run: Run, indexed: Path) -> None:
    (indexed / "late.py").write_text("def serendipity():\n    return 1\n")
    assert run("search", "serendipity").out.startswith("1. late.py:1–2")


def test_nothing_found(run: Run, indexed: Path) -> None:
    done = run("search", "symbol = validat")
    assert done.code == 1
    assert done.out.startswith("Nothing here matches.\nDid you mean ")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([""], "empty"),
        (["???"], "words"),
        (["regex:("], "regular expression"),
        (["x", "--filter", "colour=red"], "colour"),
        (["x", "--limit", "0"], "limit"),
        (["x", "--limit", "1000000000"], "limit"),
        (["x", "--cursor", "abc"], "--exhaustive"),
        (["x", "--exhaustive", "--cursor", "abc"], "cursor"),
        (["x", "nowhere"], "does not exist"),
    ],
)
def test_bad_input_is_one_line(run: Run, indexed: Path, arguments: list[str], says: str) -> None:
    done = run("search", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("asterism: ")
    assert done.err.count("\n") == 1
    assert says in done.err
