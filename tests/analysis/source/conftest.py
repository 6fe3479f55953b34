"""Repositories for the discovery tests: made by real git, shielded from the host's configuration."""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from asterism.analysis.source.discovery import DiscoveryOptions, discover
from asterism.types.files import Discovery

CODE = "def f():\n    return 1\n"
Git = Callable[..., bytes]
Tree = Callable[[Path, Mapping[str, str | bytes]], None]


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Return a function that runs git in a directory and gives back what it printed."""
    nowhere = tmp_path / "no-config"
    nowhere.mkdir()
    monkeypatch.setenv("HOME", str(nowhere))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(nowhere / "xdg"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in [name for name in os.environ if name.startswith("GIT_") and "NOSYSTEM" not in name]:
        monkeypatch.delenv(name)

    def run(
        where: Path, *arguments: str, given: bytes | None = None, codes: tuple[int, ...] = (0,)
    ) -> bytes:
        settings = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always"]
        command = ["git", "-C", str(where), *settings, *arguments]
        done = subprocess.run(command, input=given, capture_output=True, check=False)
        assert done.returncode in codes, done.stderr.decode()
        return done.stdout

    return run


@pytest.fixture
def tree() -> Tree:
    """Return a function that writes files, given as path to content; a path ending in `/` is empty."""

    def write(root: Path, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = root / name
            if name.endswith("/"):
                path.mkdir(parents=True, exist_ok=True)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    return write


def outline(found: Discovery) -> dict[str, str]:
    """Return each path with `indexed` or its reason."""
    judged = {file.path: "indexed" for file in found.files}
    judged.update({entry.path: entry.reason.value for entry in found.skipped})
    assert len(judged) == len(found.files) + len(found.skipped), "a path was listed twice"
    return judged


def check(root: Path, expected: Mapping[str, str], **options: int | bool | str) -> None:
    found = discover(str(root), DiscoveryOptions(**options))  # type: ignore[arg-type]
    assert outline(found) == dict(expected)
