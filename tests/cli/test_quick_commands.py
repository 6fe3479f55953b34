"""Commands that ask the catalogue alone load neither vectors nor the tables they are kept in."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT

HEAVY = {"numpy", "lance", "pyarrow", "tokenizers", "httpx", "watchfiles", "pandas"}

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
    assert "sqlite3" in loaded
    assert HEAVY & set(loaded) == set()
