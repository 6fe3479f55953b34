"""Whatever the user gives, the answer is one clear line and an exit code, never a traceback."""

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run, spawn

WRONG = {
    "missing file": (["outline", "no.py"], "no.py does not exist"),
    "missing file for chunks": (["chunks", "no.py"], "no.py does not exist"),
    "missing directory": (["files", "no"], "no does not exist"),
    "missing directory for index": (["index", "no"], "no does not exist; check the path"),
    "missing directory for status": (["status", "no"], "no does not exist; check the path"),
    "missing directory for watch": (["watch", "no"], "no does not exist; check the path"),
    "missing path among others": (["validate", "main.py", "no"], "no does not exist"),
    "file as directory": (["outline", "main.py/x"], "main.py/x does not exist"),
    "directory for a file": (["outline", "src"], "src is a directory"),
    "directory for chunks": (["chunks", "src"], "src is a directory"),
    "file for a directory": (["files", "main.py"], "main.py is"),
    "binary of an unknown kind": (["outline", "image.xyz"], "image.xyz is a binary file"),
    "binary for chunks": (["chunks", "image.xyz"], "image.xyz is a binary file"),
    "secret": (["outline", ".env"], ".env looks like a secret"),
    "secret for chunks": (["chunks", ".env", "--show", "source"], ".env looks like a secret"),
    "secret for validate": (["validate", ".env"], ".env looks like a secret"),
    "empty path": (["outline", ""], "is a directory"),
    "impossible path": (["outline", "a\0b"], "not a possible path"),
    "line end in a path": (["outline", "a\nb"], "a\\nb does not exist"),
    "unknown value": (["chunks", "main.py", "--show", "nothing"], "invalid choice: 'nothing'"),
    "no number": (["validate", ".", "--jobs", "two"], "invalid int value: 'two'"),
    "negative number": (["validate", ".", "--jobs", "-1"], "work.jobs = -1 is not allowed"),
    "unknown option": (["outline", "main.py", "--colour"], "unrecognized arguments: --colour"),
    "unknown command": (["find", "x"], "invalid choice: 'find'"),
    "no command": ([], "required: COMMAND"),
    "no file": (["outline"], "required: FILE"),
}


@pytest.mark.parametrize("case", WRONG)
def test_one_line_and_exit_code_two(run: Run, repository: Path, places: Path, case: str) -> None:
    arguments, expected = WRONG[case]
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert done.err.startswith("asterism")
    assert expected in done.err


@pytest.mark.parametrize("command", ["outline", "chunks"])
def test_no_permission(
    run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Root may read everything, so the refusal is played."""
    real = os.open

    def refuse(path: str, *rest: int) -> int:
        if str(path).endswith("main.py"):
            raise PermissionError(13, "Permission denied")
        return real(path, *rest)

    monkeypatch.setattr(os, "open", refuse)
    done = run(command, "main.py")
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert "main.py may not be read; check its permissions" in done.err


@pytest.mark.parametrize("case", ["missing file", "directory for a file", "unknown value"])
def test_the_same_in_a_process_of_its_own(repository: Path, case: str) -> None:
    arguments, expected = WRONG[case]
    done = spawn(arguments, repository)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert expected in done.err
