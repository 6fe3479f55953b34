"""The command line in this process or in its own, and a small repository to run it on."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from asterism.cli.main import main

ROOT = Path(__file__).resolve().parents[2]

SERVICE = """\
import jwt from "jsonwebtoken";
import { Key } from "./keys";

/** Checks tokens. */
export class TokenService {
  /** Validates one. */
  @traced
  async validate(token: string): Promise<Key> {
    return jwt.verify(token, this.key());
  }
  private key(): Key { return 1; }
}
start();
"""


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a few files, as the current directory."""
    root = tmp_path / "shop"
    (root / "src").mkdir(parents=True)
    (root / "src" / "tokens.ts").write_text(SERVICE)
    (root / "main.py").write_text("def main():\n    return 1\n")
    (root / "broken.py").write_text("def f(:\n    return (\n")
    (root / "notes.xyz").write_text("some words\n")
    (root / "image.xyz").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    (root / ".env").write_text("KEY=1\n")
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path))
    return root


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process."""

    def call(*arguments: str) -> Outcome:
        try:
            code = main(list(arguments))
        except SystemExit as stopped:
            code = stopped.code if isinstance(stopped.code, int) else 1
        out, err = capsys.readouterr()
        return Outcome(code, out, err)

    return call


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where indexes and cached vectors of a test are: `data` and `cache` below this."""
    monkeypatch.setenv("ASTERISM_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("ASTERISM_CACHE_DIR", str(tmp_path / "cache"))
    # However slow the machine is, a question sees the files as they are.
    monkeypatch.setenv("ASTERISM_INDEX_SYNC_SECONDS", "600")
    return tmp_path


@pytest.fixture
def indexed(repository: Path, places: Path, run: Run) -> Path:
    """The small repository with its index."""
    assert run("index").code == 0
    return repository


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch, typed: str) -> Iterator[None]:
    """Standard input is a terminal, at which this is typed."""
    ours, theirs = os.openpty()
    with os.fdopen(ours, "wb", buffering=0) as user, os.fdopen(theirs) as screen:
        user.write(typed.encode())
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdin", screen)
            yield


def spawn(arguments: Sequence[str | bytes], where: Path, **environment: str) -> Outcome:
    """Run a command in a process of its own."""
    command = [sys.executable, "-m", "asterism.cli", *arguments]
    search = {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        command,
        cwd=where,
        env={**os.environ, **search, **environment},
        capture_output=True,
        check=False,
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())
