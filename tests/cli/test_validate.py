"""`asterism validate`: the summary, and an exit code that can be trusted."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from asterism.analysis.chunks.units import ChunkOptions
from asterism.analysis.chunks.validation import Violation
from asterism.evaluation import rules
from asterism.types.index import Chunk
from asterism.types.outline import Outline
from tests.cli.conftest import Run


def test_a_good_repository(run: Run, repository: Path) -> None:
    done = run("validate", ".", "--jobs", "1")
    assert (done.code, done.err) == (0, "")
    rows = dict(line.split(None, 1) for line in done.out.rstrip("\n").split("\n"))
    assert rows["Files"] == "4 passed, 0 failed"
    assert rows["Symbols"].startswith("4 and 5 root items")
    assert rows["Coverage"].startswith("100 % of ")
    assert rows["Violations"] == "0"
    assert "all ids the same in two runs" in done.out
    assert "Largest chunk" in done.out
    assert "Deepest level" in done.out


def test_json(run: Run, repository: Path) -> None:
    done = run("validate", ".", "--jobs", "1", "--json")
    found = json.loads(done.out)
    assert found["files"] == {"passed": 4, "failed": 0}
    assert found["coverage"] == 1.0
    assert found["deterministic"] is True
    assert found["violations"] == found["crashes"] == found["unread"] == []
    assert found["languages"] == {"python": 2, "text": 1, "typescript": 1}


def test_several_paths_and_processes(run: Run, repository: Path) -> None:
    done = run("validate", "main.py", "src", "--jobs", "2")
    assert done.code == 0
    assert "2 passed" in done.out


def break_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(
        outline: Outline, source: bytes, chunks: Sequence[Chunk], options: ChunkOptions
    ) -> list[Violation]:
        return [Violation(3, outline.path, 7, "is not the text of its lines")]

    monkeypatch.setattr(rules, "violations", broken)


def test_a_violation_is_an_exit_code(
    run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_a_rule(monkeypatch)
    done = run("validate", "main.py", "--jobs", "1")
    assert done.code == 1
    assert "main.py:7: rule 3 (full_source is the file's lines): is not the text" in done.out
    assert "0 passed, 1 failed" in done.out


def test_a_violation_in_json(run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    break_a_rule(monkeypatch)
    done = run("validate", "main.py", "--jobs", "1", "--json")
    assert done.code == 1
    assert json.loads(done.out)["violations"] == [
        {"file_path": "main.py", "rule": 3, "line": 7, "message": "is not the text of its lines"}
    ]


def test_a_crash_is_an_exit_code(
    run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(rules, "read_chunks", crash)
    done = run("validate", "main.py", "--jobs", "1")
    assert done.code == 1
    assert "crash: " in done.out
    assert "RecursionError: too deep" in done.out
