"""One setting: what it allows, who may set it, and what a repository's file may change."""

import re
import reprlib
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from asterism.telemetry.events import redacted
from asterism.types.files import display_path

Value: TypeAlias = bool | int | float | str | tuple[str, ...]

_TRUTHS: Mapping[str, bool] = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}
LARGEST = 2**53
"""No setting takes a number beyond this, where decimal numbers stop being exact."""

_ADDRESS = re.compile(r"https?://[^\s/@]+(/\S*)?")


class SettingKind(StrEnum):
    """What sort of value it is."""

    whole = "whole"
    decimal = "decimal"
    boolean = "boolean"
    text = "text"
    address = "address"
    """Of a server; one with a password in it is refused, because files are no place for it."""
    paths = "paths"


class Voice(StrEnum):
    """What a repository's own file, written by the repository's author, may do with a setting.

    A repository that the user trusts may do everything but `user`.
    """

    anyone = "anyone"
    """Set any allowed value: the setting cannot do harm."""
    only_lower = "only_lower"
    """Only a value below the user's: a limit, or a switch that a repository may only turn off."""
    only_higher = "only_higher"
    """Only a value above the user's: a pause that saves work."""
    trusted = "trusted"
    """Nothing: it decides where code goes, what it costs, or what repositories share."""
    user = "user"
    """Nothing, even where the user trusts the repository."""


class Zero(StrEnum):
    """What 0 means where it is not a number like the others."""

    number = "number"
    cores = "cores"
    """As many as this machine has cores, which is also the most that any layer may ask for."""
    automatic = "automatic"
    """Left to the provider; nothing is known to be lower."""


class Setting(NamedTuple):
    """One setting, as the reference in `docs/settings.md` lists it."""

    section: str
    name: str
    kind: SettingKind
    default: Value
    purpose: str
    voice: Voice
    """Without a default: every setting declares it."""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    zero: Zero = Zero.number
    older_variable: str | None = None
    """A name the environment may use as well, where the present one is not set."""

    @property
    def key(self) -> str:
        """How files spell it: `discovery.max_file_bytes`."""
        return f"{self.section}.{self.name}"

    @property
    def variable(self) -> str:
        """How the environment spells it."""
        return f"ASTERISM_{self.section}_{self.name}".upper()

    @property
    def allowed(self) -> str:
        """What a value may be, in words."""
        match self.kind:
            case SettingKind.whole | SettingKind.decimal:
                return f"a {self.kind} number{self._range()}"
            case SettingKind.boolean:
                return "true or false"
            case SettingKind.text if self.choices:
                return f"one of {', '.join(self.choices)}"
            case SettingKind.text:
                return "a text of one line"
            case SettingKind.address:
                return "an address with http:// or https:// and without a password, or nothing"
            case SettingKind.paths:
                return "a list of absolute paths"

    def _range(self) -> str:
        if self.minimum is None:
            return ""
        if self.maximum is None:
            return f" of {self.minimum:,} or more"
        return f" from {self.minimum:,} to {self.maximum:,}"

    def read(self, written: object) -> Value | None:
        """The value that a file or a call gives, or None if it is not allowed."""
        if isinstance(written, bool):
            return written if self.kind is SettingKind.boolean else None
        match self.kind:
            case SettingKind.boolean:
                return None
            case SettingKind.whole:
                return self._within(written) if isinstance(written, int) else None
            case SettingKind.decimal:
                return self._decimal(written) if isinstance(written, int | float) else None
            case SettingKind.text:
                return self._line(written)
            case SettingKind.address:
                fits = isinstance(written, str) and (not written or _ADDRESS.fullmatch(written))
                return self._line(written) if fits else None
            case SettingKind.paths:
                return _paths(written)

    def read_text(self, text: str, separator: str) -> Value | None:
        """The value that a variable of the environment gives, or None if it is not allowed."""
        text = text.strip()
        match self.kind:
            case SettingKind.boolean:
                return _TRUTHS.get(text.lower())
            case SettingKind.whole:
                return self.read(_number(int, text))
            case SettingKind.decimal:
                return self.read(_number(float, text))
            case SettingKind.paths:
                return self.read([part for part in text.split(separator) if part])
            case _:
                return self.read(text)

    def _decimal(self, written: int | float) -> int | float | None:
        # A whole number in a file may have more digits than a decimal one can hold.
        return None if abs(written) > LARGEST else self._within(float(written))

    def _within(self, number: int | float) -> int | float | None:
        low = -LARGEST if self.minimum is None else self.minimum
        high = LARGEST if self.maximum is None else self.maximum
        # NaN is in no range.
        return number if low <= number <= high else None

    def _line(self, written: object) -> str | None:
        if not isinstance(written, str) or not written.isprintable():
            return None
        return written if not self.choices or written in self.choices else None


def _number(kind: Callable[[str], int | float], text: str) -> int | float | None:
    try:
        return kind(text.replace("_", ""))
    except ValueError:
        return None


def _paths(written: object) -> tuple[str, ...] | None:
    if not isinstance(written, list | tuple):
        return None
    return tuple(written) if all(map(_is_path, written)) else None


def _is_path(written: object) -> bool:
    return isinstance(written, str) and (Path(written).is_absolute() or written.startswith("~/"))


def described(kind: SettingKind, default: Value, purpose: str, *, voice: Voice, **more: Any) -> Any:
    """A field that knows how its setting is described; `more` is as in `Setting`.

    `voice` has no default: each new setting has to declare what a repository may do with it.
    """
    metadata = {"kind": kind, "purpose": purpose, "voice": voice, **more}
    return field(default=default, metadata=metadata)


def whole(default: int, purpose: str, *, voice: Voice, **more: Any) -> Any:
    """The same for a whole number."""
    return described(SettingKind.whole, default, purpose, voice=voice, **more)


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
