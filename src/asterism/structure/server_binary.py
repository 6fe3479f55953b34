"""Whether a language server that was found or named can really be started, and with what."""

import os
import tomllib
from contextlib import suppress
from pathlib import Path

from asterism.domain.errors import ServerMissing
from asterism.programs.launching import SubprocessError, probe
from asterism.structure.servers import Server

CHECK_SECONDS = 10.0


def require_server(server: Server, given: str) -> str:
    """The program that a setting names, or an error that says what to do."""
    place = Path(given)
    # A relative path would mean a file of the repository that one happens to be in.
    if not (place.is_absolute() and place.is_file() and os.access(place, os.X_OK)):
        raise ServerMissing(
            f"There is no program at {given}: the setting structure.{server.family} must name "
            f"{server.program}, by its absolute path."
        )
    return str(place)


def can_start(server: Server, place: str) -> bool:
    """Whether a program is more than a name: some toolchains have one that only complains.

    It is asked away from every repository: rustup's `rust-analyzer` starts what a file
    `rust-toolchain.toml` in the working directory names.
    """
    if not server.started.probe:
        return True
    try:
        return probe(server.started, place, CHECK_SECONDS).returncode == 0
    except (OSError, SubprocessError):
        return False


def rust_toolchain() -> str:
    """The user's toolchain for Rust: the one of the environment, or else rustup's default.

    Without rustup the name has no effect.
    """
    home = os.environ.get("RUSTUP_HOME") or os.path.join(os.environ.get("HOME", ""), ".rustup")  # noqa: PTH118
    found: object = os.environ.get("RUSTUP_TOOLCHAIN")
    with suppress(OSError, ValueError, KeyError):
        found = found or tomllib.loads(Path(home, "settings.toml").read_text())["default_toolchain"]
    return found if found and isinstance(found, str) else "stable"
