"""A user's machine in a directory, and what to set up on it."""

from pathlib import Path

import pytest

from asterism.install.clients import CLIENTS, ClientPlaces, launch
from asterism.install.targets import ClientSetup, InstallScope, wanted

START = launch("/opt/bin/asterism", "mcp")


def places_in(root: Path) -> ClientPlaces:
    """The places of a user whose home is below a directory."""
    home = root / "home"
    return ClientPlaces(
        home,
        home / ".config",
        home / ".config",
        home / ".claude",
        home,
        home / ".codex",
        root / "p",
    )


@pytest.fixture
def places(tmp_path: Path) -> ClientPlaces:
    found = places_in(Path(tmp_path).resolve())
    found.home.mkdir()
    found.project.mkdir()
    return found


def setup(name: str, places: ClientPlaces, scope: InstallScope = InstallScope.user) -> ClientSetup:
    """What is wanted for a client."""
    (client,) = (client for client in CLIENTS if client.name == name)
    found = wanted(client, scope, places, START)
    assert found is not None
    return found


def setups(places: ClientPlaces, scope: InstallScope = InstallScope.user) -> list[ClientSetup]:
    """What is wanted for every client that knows the scope."""
    found = (wanted(client, scope, places, START) for client in CLIENTS)
    return [one for one in found if one is not None]


def put(path: Path, content: str | bytes) -> Path:
    """Write a file, with the directories above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def tree(root: Path) -> dict[str, bytes]:
    """Every file below a directory."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
