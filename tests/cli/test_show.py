"""`asterism show`: a symbol by any way to write its name, or what it might be called."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def shown(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small repository, connected by name."""
    monkeypatch.setenv("ASTERISM_STRUCTURE_TYPESCRIPT", "off")
    monkeypatch.setenv("ASTERISM_STRUCTURE_PYTHON", "off")
    return indexed


NAMES = [
    "validate",
    "TokenService.validate",
    "TokenService::validate",
    "TokenService > validate",
    "src/tokens.ts > TokenService > validate",
    " validate ",
]


@pytest.mark.parametrize("name", NAMES)
def test_every_way_to_write_a_name(run: Run, name: str) -> None:
    done = run("show", name)
    assert done.code == 0
    first, _, rest = done.out.partition("\n\n")
    assert first.startswith(f'Search: "symbol = {name.strip()}" | 1 result across 1 file | ')
    assert rest.startswith("TokenService.validate\n src/tokens.ts:6-10 · method\n")
    assert "// src/tokens.ts" in rest


def test_it_is_the_search_for_the_symbol(run: Run) -> None:
    searched = run("search", "symbol = TokenService", "--format", "context")
    assert run("show", "TokenService") == searched


def test_a_name_that_is_not_there(run: Run) -> None:
    done = run("show", "TokenServce")
    assert (done.code, done.err) == (1, "")
    assert done.out.endswith("\n\nDid you mean TokenService?\n")
    found = json.loads(run("show", "TokenServce", "--json").out)
    assert (found["did_you_mean"], found["results"]) == (["TokenService"], [])


def test_only_below_a_path(run: Run) -> None:
    assert run("show", "TokenService", "src").code == 0
    assert run("show", "TokenService", "src/tokens.ts").code == 0
    assert run("show", "TokenService", "main.py").code == 1


def test_the_budget(run: Run) -> None:
    found = json.loads(run("show", "TokenService", "--tokens", "70", "--json").out)
    assert (found["budget"], found["used_tokens"] <= 70) == (70, True)


BAD = {
    "empty": (("",), "The name is empty"),
    "blank": (("  ",), "The name is empty"),
    "no such path": (("x", "nowhere"), "nowhere does not exist"),
    "tokens": (("x", "--tokens", "3"), "The token budget is 3"),
    "limit": (("x", "--limit", "0"), "The limit is 0"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_cannot_be_shown(run: Run, what: str) -> None:
    arguments, message = BAD[what]
    done = run("show", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
