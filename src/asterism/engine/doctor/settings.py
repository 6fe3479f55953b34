"""Are the settings files valid, does anything go unheard, and can the log be written?"""

import os
from collections.abc import Iterator
from pathlib import Path

from asterism.config.environment import unknown_variables, user_file
from asterism.config.files import read_layer
from asterism.config.layers import resolve
from asterism.config.load import load
from asterism.config.logs import log_options
from asterism.config.settings import Settings
from asterism.config.trust import EntryState, entries
from asterism.engine.doctor.findings import Finding, ok, problem, warning
from asterism.types.errors import SettingError
from asterism.types.files import display_path

CHECK = "Settings"


def settings_or_defaults(where: Path) -> Settings:
    """The settings for a directory; where they are broken, the rest is looked at with defaults."""
    try:
        return load(where).settings
    except (SettingError, OSError):
        return Settings()


def settings_findings(where: Path) -> Iterator[Finding]:
    """The user's own file by itself, then everything that counts for a directory."""
    own = user_file()
    try:
        layer = None if own is None else read_layer(own)
        if layer is not None:
            resolve([layer])
    except SettingError as error:
        yield problem(CHECK, str(error))
        return
    if own is not None and layer is not None:
        yield ok(CHECK, f"{display_path(str(own))} is valid")
    else:
        yield ok(CHECK, "no file of your own; everything is as usual")
    try:
        loaded = load(where)
    except SettingError as error:
        yield problem(CHECK, str(error))
        return
    for said in loaded.warnings:
        misspelt = said in unknown_variables()
        yield warning(CHECK, said, "Remove or correct the variable." if misspelt else "")
    yield from _trust(loaded.settings)
    yield from _log(loaded.settings)


def _trust(settings: Settings) -> Iterator[Finding]:
    found = entries(settings)
    advice = {
        EntryState.missing: "A directory that is created there would be trusted: remove the "
        "entry from your settings.",
        EntryState.linked: "The target of a link can change: name the directory itself, as "
        "`asterism trust` does.",
        EntryState.relative: "Name it by its absolute path, as `asterism trust` does.",
    }
    says = {
        EntryState.missing: "trust.repositories names what does not exist",
        EntryState.linked: "trust.repositories leads through a link, which does not count",
        EntryState.relative: "trust.repositories has a relative path, which does not count",
    }
    for state, text in says.items():
        if named := [one.written for one in found if one.state is state]:
            shown = ", ".join(map(display_path, named))
            yield warning("Trust", f"{text}: {shown}", advice[state])
    if trusted := [one.written for one in found if one.state is EntryState.trusted]:
        shown = ", ".join(map(display_path, trusted))
        yield ok("Trust", f"language servers, agents and all settings count of {shown}")


def _log(settings: Settings) -> Iterator[Finding]:
    options = log_options(settings)
    if not options.file:
        return
    file = Path(options.file)
    existing = next(each for each in (file, *file.parents) if os.path.lexists(each))
    shown = display_path(options.file)
    if os.access(existing, os.W_OK) and (existing == file or existing.is_dir()):
        yield ok("Log", f"{shown}, level {options.level}")
    else:
        yield problem(
            "Log", f"{shown} cannot be written", "Fix the permissions, or set another log.file."
        )
