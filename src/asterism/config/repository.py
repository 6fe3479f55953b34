"""What the settings file of a repository may change, and the warning about the rest of it."""

import reprlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from asterism.config.setting import Setting, Value, Voice, Zero
from asterism.telemetry.events import redacted
from asterism.types.files import display_path

_SHOWN = reprlib.Repr()
_SHOWN.maxlevel = 2
_SHOWN.maxstring = _SHOWN.maxother = _SHOWN.maxlong = 1_000
_SHOWN.maxlist = _SHOWN.maxdict = _SHOWN.maxtuple = 3

VALUE_AT_MOST = 100
"""Characters of a value in a message."""

SHOWN_AT_MOST = 10
"""Refused values that one warning names; more are counted."""


class RefusedValue(NamedTuple):
    """A value that is not taken from a repository's file."""

    setting: Setting
    written: object
    applies: Value

    def __str__(self) -> str:
        """The key, the value, and what applies instead."""
        return f"{self.setting.key} = {shown(self.written)} ({shown(self.applies)} applies)"


class RepositoryFile(NamedTuple):
    """Whose file it is, and whether the user trusts that repository."""

    origin: str
    folder: str
    trusted: bool


def allows(setting: Setting, trusted: bool) -> bool:
    """Whether a repository may set a setting to any allowed value."""
    if setting.voice is Voice.user:
        return False
    return trusted or setting.voice is Voice.anyone


def is_within(setting: Setting, wanted: Value, users: Value, cores: int) -> bool:
    """Whether a value is on the side of the user's value that a repository may choose."""
    if setting.voice is Voice.user:
        return False
    if wanted == users:
        return True
    if setting.zero is Zero.automatic and 0 in (wanted, users):
        return False
    if setting.zero is Zero.cores:
        wanted, users = wanted or cores, users or cores
    low, high = (wanted, users) if setting.voice is Voice.only_lower else (users, wanted)
    is_limit = setting.voice in (Voice.only_lower, Voice.only_higher)
    return (
        is_limit
        and isinstance(low, bool | int | float)
        and isinstance(high, bool | int | float)
        and low <= high
    )


def warning(file: RepositoryFile, refusals: Sequence[RefusedValue]) -> str:
    """One sentence on all that a repository's file may not set."""
    users = [refusal for refusal in refusals if refusal.setting.voice is Voice.user]
    parts = [
        f"{said} {_listed(named)}"
        for voice, said in _SAID.items()
        if (named := [refusal for refusal in refusals if refusal.setting.voice is voice])
    ]
    sentences = []
    if parts:
        trust = f"`asterism trust {shlex.quote(display_path(file.folder))}`"
        sentences.append(f"a repository {', and '.join(parts)}; if you trust it, run {trust}.")
    if users:
        no_repository = "No repository may set" if parts else "no repository may set"
        sentences.append(f"{no_repository} {_listed(users)}; only your own settings can say that.")
    return f"{file.origin}: {' '.join(sentences)}"


_SAID: Mapping[Voice, str] = {
    Voice.trusted: "may not set",
    Voice.only_lower: "may only lower",
    Voice.only_higher: "may only raise",
}


def _listed(refusals: Sequence[RefusedValue]) -> str:
    more = len(refusals) - SHOWN_AT_MOST
    named = ", ".join(map(str, refusals[:SHOWN_AT_MOST]))
    return f"{named} and {more} more" if more > 0 else named


def shown(value: object) -> str:
    """A value as a message quotes it: short, on one line, and without secrets."""
    try:
        # A secret that is cut in two would not be recognised, so texts are cut last.
        text = repr(redacted(value)) if isinstance(value, str) else redacted(_SHOWN.repr(value))
    except (ValueError, RecursionError):
        # A number of thousands of digits has no decimal form.
        text = f"<{type(value).__name__}>"
    text = display_path(text)
    return text if len(text) <= VALUE_AT_MOST else f"{text[: VALUE_AT_MOST - 1]}…"


def rules(settings: Iterator[Setting]) -> Mapping[Voice, tuple[str, ...]]:
    """The keys of all settings by what a repository may do with them."""
    found: dict[Voice, list[str]] = {voice: [] for voice in Voice}
    for setting in settings:
        found[setting.voice].append(setting.key)
    return {voice: tuple(keys) for voice, keys in found.items()}
