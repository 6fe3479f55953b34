"""`asterism files`: what would be indexed, what not, and why."""

import json
from pathlib import Path

from tests.cli.conftest import Run


def test_files_and_a_summary(run: Run, repository: Path) -> None:
    done = run("files", ".")
    assert (done.code, done.err) == (0, "")
    *lines, summary = done.out.rstrip("\n").split("\n")
    assert [line.split("  ")[0] for line in lines] == [
        "broken.py",
        "main.py",
        "notes.xyz",
        "src/tokens.ts",
    ]
    assert summary.startswith("4 files, ")
    assert summary.endswith("2 skipped (1 secret, 1 binary)")


def test_skipped_with_reasons(run: Run, repository: Path) -> None:
    lines = run("files", ".", "--skipped").out.split("\n")
    assert [line.split("  ")[:2] for line in lines[:2]] == [
        [".env", "secret"],
        ["image.xyz", "binary"],
    ]


def test_json(run: Run, repository: Path) -> None:
    found = json.loads(run("files", ".", "--json").out)
    assert list(found) == ["root", "files", "skipped", "counts"]
    assert found["root"] == str(repository)
    assert found["files"][1] == {"path": "main.py", "size": 25}
    assert [entry["reason"] for entry in found["skipped"]] == ["secret", "binary"]
    assert found["counts"] == {"files": 4, "skipped": {"secret": 1, "binary": 1}}


def test_nothing_to_index(run: Run, repository: Path) -> None:
    (repository / "bare").mkdir()
    done = run("files", "bare")
    assert done.code == 0
    assert "Nothing to index here." in done.out
