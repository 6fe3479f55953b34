"""Commands load what they need and nothing else: no table for a status, no model for a name."""

import os
import subprocess
import sys
from pathlib import Path

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
