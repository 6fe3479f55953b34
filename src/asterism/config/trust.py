"""The list of trusted repositories: reading it, and checking a path before it is added."""

import os
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.source.checkouts import enclosing_checkout
from asterism.config.environment import home, user_file
from asterism.config.layers import read_layer
from asterism.config.settings import Settings
from asterism.types.errors import (
    PathMissing,
    PathOutside,
    PathUnreadable,
    SettingError,
    WrongPathKind,
)
from asterism.types.files import display_path

SETTING = ("trust", "repositories")
VARIABLE = "ASTERISM_TRUST_REPOSITORIES"


class EntryState(StrEnum):
    """State of an entry of the list."""

    trusted = "trusted"
    missing = "missing"
    """The directory does not exist. One that is created there later would be trusted."""
    linked = "linked"
    """It leads through a link, whose target another user may change; it is ignored."""
    relative = "relative"
    """It depends on the working directory; it is ignored."""


class TrustEntry(NamedTuple):
    """One path of `trust.repositories`."""

    written: str
    path: str
    """With `~` replaced by the home directory."""
    state: EntryState


def entries(settings: Settings) -> tuple[TrustEntry, ...]:
    """The user's list, with the state of each entry."""
    return tuple(_entry(written) for written in settings.trust.repositories)


def is_trusted(root: Path, settings: Settings) -> bool:
    """Whether the real path of a repository's root is on the list.

    Repositories below a trusted folder are not trusted.
    """
    return is_named(os.path.realpath(root), settings)


def is_named(root: str, settings: Settings) -> bool:
    """Whether a real path is an entry that is not ignored."""
    found = entries(settings)
    return any(one.path == root and one.state is EntryState.trusted for one in found)


def _entry(written: str) -> TrustEntry:
    user = home()
    path = written
    if user and (written == "~" or written.startswith("~/")):
        # The home directory may be a link, because it belongs to the user.
        path = os.path.realpath(user) + written[1:]
    if not os.path.isabs(path):  # noqa: PTH117
        return TrustEntry(written, path, EntryState.relative)
    path = os.path.normpath(path)
    if os.path.realpath(path) != path:
        return TrustEntry(written, path, EntryState.linked)
    # pathlib raises for a directory without permission.
    is_there = os.path.isdir(path)  # noqa: PTH112
    return TrustEntry(written, path, EntryState.trusted if is_there else EntryState.missing)


def trustable(given: str, settings: Settings) -> str:
    """The real path of a directory that may be trusted; raises InputError for others."""
    written = os.path.join(os.getcwd(), given)  # noqa: PTH109, PTH118
    path = os.path.normpath(written)
    shown = display_path(path)
    if not os.path.lexists(written):
        raise PathMissing(f"There is no directory {shown}; give the root of a repository.")
    # The system resolves `link/..` to another directory than normpath does.
    real = os.path.realpath(written)
    if real != path:
        raise PathOutside(
            f"{shown} leads through a link to {display_path(real)}. The target of a link can "
            "change, so only the directory itself can be trusted: "
            f"`asterism trust {display_path(real)}`."
        )
    if not os.path.isdir(path):  # noqa: PTH112
        raise WrongPathKind(f"{shown} is not a directory; give the root of a repository.")
    if not os.access(path, os.R_OK | os.X_OK):
        raise PathUnreadable(f"{shown} cannot be read; change its permissions first.")
    around = enclosing_checkout(path)
    if around is not None and around.root != path and not is_named(around.root, settings):
        outer = display_path(around.root)
        raise PathOutside(
            f"{shown} is part of the checkout {outer}, whose files build tools read too. "
            f"Trust that first: `asterism trust {outer}`."
        )
    return real


def trust_file() -> Path:
    """The user's own settings file, which holds the list."""
    found = user_file()
    if found is None:
        raise SettingError(
            "There is no place for your settings, because HOME is not set; set it, or "
            "XDG_CONFIG_HOME."
        )
    return found


def check_not_from_environment(settings: Settings) -> None:
    """Raise SettingError if the list comes from the environment, which the file would replace."""
    layer = read_layer(trust_file())
    if settings.trust.repositories and (layer is None or ".".join(SETTING) not in layer.values):
        raise SettingError(
            f"The list comes from the variable {VARIABLE}, which a list in your settings file "
            "would replace. Unset the variable, or change it there."
        )
