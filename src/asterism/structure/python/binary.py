"""Where the Python type checker is, and which environment a repository's imports come from."""

import os
import sysconfig
from pathlib import Path

from asterism.types.errors import ServerMissing

_ENVIRONMENTS = (".venv", "venv", "env", ".env")
_MARK = "pyvenv.cfg"


def find_checker(given: str | None = None) -> str | None:
    """The program `ty`: the one given, or the one installed beside us; None where there is none."""
    place = Path(given) if given else Path(sysconfig.get_path("scripts"), "ty")
    # A relative path could name a file of the repository.
    is_there = place.is_absolute() and place.is_file() and os.access(place, os.X_OK)
    return str(place) if is_there else None


def require_checker(given: str | None = None) -> str:
    """The program `ty`, or an error that says what to do."""
    found = find_checker(given)
    if found is None:
        raise ServerMissing(
            f"There is no type checker at {given}: the setting must name the program `ty`, by its "
            "absolute path."
            if given
            else "The Python type checker `ty` is not installed; install Asterism again."
        )
    return found


def find_environment(root: str, active: str | None = None) -> str | None:
    """The virtual environment of a repository: its own, or else the active one.

    One that is a link out of the repository is only taken if the user has activated it.
    """
    chosen = os.path.realpath(active) if active else None
    inside = os.path.realpath(root) + os.sep
    for name in _ENVIRONMENTS:
        place = Path(root, name)
        real = os.path.realpath(place)
        if (real == chosen or real.startswith(inside)) and (place / _MARK).is_file():
            return str(place)
    return active if active and Path(active, _MARK).is_file() else None
