"""Checks that a language server can be started, and finds the user's Rust toolchain."""

import os
import tomllib
from contextlib import suppress
from pathlib import Path

from asterism.programs.start import SubprocessError, probe
from asterism.structure.servers.catalogue import Server
from asterism.types.errors import ServerMissing

CHECK_SECONDS = 10.0


def require_server(server: Server, given: str) -> str:
    """The program that a setting names, or an error that says what to do."""
    place = Path(given)
    # A relative path could name a file of the repository.
    if not (place.is_absolute() and place.is_file() and os.access(place, os.X_OK)):
        raise ServerMissing(
            f"There is no program at {given}: the setting structure.{server.family} must name "
            f"{server.program}, by its absolute path."
        )
    return str(place)


def can_start(server: Server, place: str) -> bool:
    """Whether the program runs: rustup installs a `rust-analyzer` that may only print an error.

    The probe runs in `/`, because rustup's `rust-analyzer` starts the toolchain that a
    `rust-toolchain.toml` in the working directory names.
    """
    if not server.started.probe:
        return True
    try:
        return probe(server.started, place, CHECK_SECONDS).returncode == 0
    except (OSError, SubprocessError):
        return False


def rust_toolchain() -> str:
    """The user's Rust toolchain: RUSTUP_TOOLCHAIN, or else the default of rustup.

    The name has no effect if rustup is not installed.
    """
    home = os.environ.get("RUSTUP_HOME") or os.path.join(os.environ.get("HOME", ""), ".rustup")  # noqa: PTH118
    found: object = os.environ.get("RUSTUP_TOOLCHAIN")
    with suppress(OSError, ValueError, KeyError):
        found = found or tomllib.loads(Path(home, "settings.toml").read_text())["default_toolchain"]
    return found if found and isinstance(found, str) else "stable"
