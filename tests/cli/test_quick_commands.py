"""Commands load what they need and nothing else: no table for a status, no model for a name."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.conftest import ROOT

HEAVY = {"numpy", "lance", "pyarrow", "tokenizers", "httpx", "watchfiles", "pandas"}
NOT_FOR_SEARCH = {
    "httpx",
    "watchfiles",
    "pandas",
    "torch",
    "sentence_transformers",
    "multiprocessing",
}

SCRIPT = """
import contextlib, io, sys
from asterism.cli.main import main
with contextlib.redirect_stdout(io.StringIO()) as out:
    code = main(sys.argv[1:])
assert out.getvalue()
print(code, *sorted({name.split('.')[0] for name in sys.modules}))
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["symbols", "main"],
        ["symbols", "main", "--json"],
        ["status"],
        ["status", "--json"],
        ["repos"],
        ["repos", "--json"],
    ],
    ids=" ".join,
)
def test_nothing_heavy_is_loaded(indexed: Path, arguments: list[str]) -> None:
    loaded = loaded_by(indexed, arguments)
    assert "sqlite3" in loaded
    assert HEAVY & loaded == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ["symbol = main"],
        ["--mode", "definition", "main"],
        ["--mode", "exact", "return"],
        ["regex:ret.rn"],
    ],
    ids=" ".join,
)
def test_no_model_is_loaded_for_names_and_texts(indexed: Path, arguments: list[str]) -> None:
    loaded = loaded_by(indexed, ["search", *arguments])
    assert "lance" in loaded
    assert NOT_FOR_SEARCH & loaded == set()
    assert "tokenizers" not in loaded


def test_a_question_loads_the_local_model_and_no_other(indexed: Path) -> None:
    loaded = loaded_by(indexed, ["search", "where does it begin"])
    assert "lance" in loaded
    assert NOT_FOR_SEARCH & loaded == set()


def loaded_by(indexed: Path, arguments: list[str]) -> set[str]:
    """The top-level modules that are there when a command has run in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        cwd=indexed,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        check=True,
        text=True,
    )
    code, *loaded = done.stdout.split()
    assert code == "0"
    return set(loaded)


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


class Budget(NamedTuple):
    """What a command may load: this many modules of Asterism, and of the libraries these alone."""

    arguments: list[str]
    ours: int
    libraries: frozenset[str] = frozenset()
    given: str = ""
    """Standard input."""


STORE = frozenset({"lance", "numpy", "pyarrow", "tokenizers"})

# Figures only fall: a command that loads more starts later.
BUDGETS = {
    "version": Budget(["--version"], 16),
    "help": Budget(["--help"], 16),
    "mcp": Budget(["mcp"], 64, given=json.dumps(INITIALIZE) + "\n"),
    "index without changes": Budget(["index"], 150),
    "status": Budget(["status"], 163),
    "symbols": Budget(["symbols", "main"], 170),
    "callers": Budget(["callers", "main", "--json"], 220, frozenset({"tree_sitter"})),
    "search": Budget(["search", "main"], 224, STORE),
    "context": Budget(["search", "--format", "context", "main"], 232, STORE | {"tree_sitter"}),
}

WATCHED = {
    "anthropic",
    "anyio",
    "httpx",
    "httpx2",
    "lance",
    "mcp",
    "numpy",
    "onnxruntime",
    "openai",
    "pathspec",
    "prompt_toolkit",
    "pyarrow",
    "pydantic",
    "rich",
    "ruamel",
    "sqlalchemy",
    "starlette",
    "tokenizers",
    "tree_sitter",
    "uvicorn",
    "watchfiles",
}

COUNTED = """
import atexit, os, sys
from asterism.cli.main import main
def count():
    libraries = {name.split(".")[0] for name in sys.modules} - sys.stdlib_module_names
    ours = sum(
        name.split(".")[0] == "asterism" and not name.startswith("asterism.languages.")
        for name in sys.modules
    )
    sys.stderr.write(" ".join(["loaded", str(ours), *sorted(libraries)]) + "\\n")
atexit.register(count)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("name", BUDGETS)
def test_commands_keep_to_their_budget(indexed: Path, name: str) -> None:
    budget = BUDGETS[name]
    done = subprocess.run(
        [sys.executable, "-c", COUNTED, *budget.arguments],
        cwd=indexed,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        input=budget.given,
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stdout
    [loaded] = [line for line in done.stderr.splitlines() if line.startswith("loaded ")]
    ours, *libraries = loaded.split()[1:]
    assert {*libraries} & WATCHED == budget.libraries
    assert int(ours) <= budget.ours
