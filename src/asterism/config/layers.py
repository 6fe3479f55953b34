"""Where values come from, and which one wins."""

import errno
import os
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from asterism.config.setting import (
    RefusedValue,
    RepositoryFile,
    Setting,
    Value,
    Zero,
    allows,
    is_within,
    shown,
    warning,
)
from asterism.config.settings import Settings, all_settings
from asterism.types.errors import SettingError
from asterism.types.files import display_path

SECRETS: Mapping[str, str] = {
    "embedding.api_key": "ASTERISM_EMBEDDING_API_KEY",
    "rerank.api_key": "ASTERISM_RERANK_API_KEY",
    "model.api_key": "ASTERISM_MODEL_API_KEY",
    "records.password": "ASTERISM_RECORDS_PASSWORD",
    "server.token": "ASTERISM_SERVER_TOKEN",
}
"""What only the environment may hold, as files would spell it, and its variable."""

UNKNOWN_CORES = 1
"""Where the caller does not say how many there are, a repository gets no more than one process."""


KEY_AT_MOST = 80
"""Characters of an unknown key in a message; the longest known one has 26."""


class Layer(NamedTuple):
    """Values of one origin, by key."""

    origin: str
    """What an error message calls it: a file's path, `the environment`, `the call`."""
    values: Mapping[str, object]
    strict: bool = True
    """Whether a bad value is an error; the environment's fall back with a warning instead."""
    variables: Mapping[str, str] = {}
    """How the environment spelled a key."""
    repository: str | None = None
    """The folder of the repository whose own file this is; None if the user says it."""
    trusted: bool = False
    """Whether the user trusts that repository."""


class Limited(NamedTuple):
    """A repository's file of which some values do not count, and the warning about them."""

    file: str
    warning: str


class Loaded(NamedTuple):
    """Settings, and what was wrong but not bad enough to stop."""

    settings: Settings
    warnings: tuple[str, ...] = ()
    limited: Limited | None = None
    """The file whose warning is among them, where there is one."""


def resolve(layers: Sequence[Layer], cores: int | None = None) -> Loaded:
    """The settings, each from the first layer that may set it; `cores` is what the machine has.

    No layer may ask for more processes than cores.
    """
    known = {setting.key: setting for setting in all_settings()}
    warnings: list[str] = []
    limited = None
    chosen: dict[str, Value] = {}
    origins: dict[str, Layer] = {}
    for position, layer in enumerate(layers):
        _check_keys(layer, known)
        read = dict(_read_all(layer, known, warnings))
        if layer.repository is not None:
            weaker = _first_values(layers[position + 1 :], known)
            refusals = list(_refusals(layer, read, known, weaker, cores or UNKNOWN_CORES))
            if refusals:
                file = RepositoryFile(layer.origin, layer.repository, layer.trusted)
                limited = Limited(layer.origin, warning(file, refusals))
                warnings.append(limited.warning)
            for refusal in refusals:
                del read[refusal.setting.key]
        for key, value in read.items():
            if key not in chosen:
                chosen[key], origins[key] = value, layer
    if cores is not None:
        warnings += _capped(chosen, origins, known, cores)
    return Loaded(_build(chosen), tuple(warnings), limited)


def _read_all(
    layer: Layer, known: Mapping[str, Setting], warnings: list[str]
) -> Iterator[tuple[str, Value]]:
    """Every allowed value of a layer; one that is not is an error, or a warning."""
    for key in layer.values:
        value = _read(layer, known[key])
        if value is not None:
            yield key, value
        elif layer.strict:
            raise SettingError(f"{_wrong(layer, known[key])}.")
        else:
            warnings.append(f"{_wrong(layer, known[key])}; it is ignored.")


def _refusals(
    layer: Layer,
    read: Mapping[str, Value],
    known: Mapping[str, Setting],
    users: Mapping[str, Value],
    cores: int,
) -> Iterator[RefusedValue]:
    for key, value in read.items():
        setting = known[key]
        own = users.get(key, setting.default)
        if not (allows(setting, layer.trusted) or is_within(setting, value, own, cores)):
            yield RefusedValue(setting, layer.values[key], own)


def _first_values(layers: Sequence[Layer], known: Mapping[str, Setting]) -> dict[str, Value]:
    """The values of weaker layers; their errors are reported when they are read."""
    values: dict[str, Value] = {}
    for layer in layers:
        for key in layer.values.keys() & known.keys():
            value = _read(layer, known[key])
            if value is not None:
                values.setdefault(key, value)
    return values


def _capped(
    chosen: dict[str, Value],
    origins: Mapping[str, Layer],
    known: Mapping[str, Setting],
    cores: int,
) -> Iterator[str]:
    """Lower what is more than the machine has, with a warning each."""
    for key, value in chosen.items():
        if known[key].zero is Zero.cores and isinstance(value, int) and value > cores:
            chosen[key] = cores
            yield (
                f"{origins[key].origin}: {origins[key].variables.get(key, key)} = {value} is more "
                f"than the {cores} cores of this machine; {cores} applies."
            )


def _build(chosen: Mapping[str, Value]) -> Settings:
    settings = Settings()
    for key, value in chosen.items():
        section, name = key.split(".")
        part = replace(getattr(settings, section), **{name: value})
        settings = replace(settings, **{section: part})
    return settings


def _check_keys(layer: Layer, known: Mapping[str, Setting]) -> None:
    for key in layer.values:
        if key in SECRETS:
            raise SettingError(
                f"{layer.origin}: {key} is a secret and does not belong here; remove it, and set "
                f"the environment variable {SECRETS[key]} instead."
            )
        if key not in known:
            raise SettingError(_unknown(layer, key, known))


def _read(layer: Layer, setting: Setting) -> Value | None:
    """The value, if it is allowed; only the environment writes everything as text."""
    written = layer.values[setting.key]
    if isinstance(written, str) and not layer.strict:
        return setting.read_text(written, os.pathsep)
    return setting.read(written)


def _wrong(layer: Layer, setting: Setting) -> str:
    name = layer.variables.get(setting.key, setting.key)
    written = shown(layer.values[setting.key])
    return f"{layer.origin}: {name} = {written} is not allowed; give {setting.allowed}"


def _unknown(layer: Layer, key: str, known: Iterable[str]) -> str:
    # A key of a repository's file may be of any length and any characters.
    close = get_close_matches(key[:KEY_AT_MOST], list(known), 1)
    hint = f"did you mean {close[0]}?" if close else f"the known ones are {', '.join(known)}."
    shortened = f"{key[:KEY_AT_MOST]}…" if len(key) > KEY_AT_MOST else key
    return f"{layer.origin}: there is no setting {display_path(shortened)}; {hint}"


REPOSITORY_FILE = "asterism.toml"
USER_FILE = "asterism/config.toml"

MOST_BYTES = 64_000
"""Every setting with a comment of its own takes a tenth of it."""
LONGEST_LINE = 1_000
"""Characters of a line in a repository's file: parsing a key takes the square of its parts."""
REASON_AT_MOST = 200
"""Characters of the parser's message, which may quote a key of any length."""


def read_layer(path: Path) -> Layer | None:
    """The values of the user's settings file by key; None if there is no such file."""
    data = _files_read(path, os.O_RDONLY)
    return None if data is None else _layer(path, data)


def read_repository_layer(folder: Path) -> Layer | None:
    """The same of the file in a repository, which may be written to do harm.

    A link is refused: its target may be any file of the user, and messages quote keys and values.
    """
    path = folder / REPOSITORY_FILE
    data = _files_read(path, os.O_RDONLY | os.O_NOFOLLOW)
    if data is None:
        return None
    if max(map(len, data.splitlines()), default=0) > LONGEST_LINE:
        raise SettingError(
            f"{_shown(path)} has a line of more than {LONGEST_LINE:,} bytes; break it, or remove "
            "the file."
        )
    return _layer(path, data)._replace(repository=str(folder.resolve()))


def _files_read(path: Path, flags: int) -> bytes | None:
    """The bytes of a plain file of a sensible size; a pipe is not waited for."""
    try:
        handle = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise SettingError(f"{_shown(path)} is a link; put the file itself there.") from error
        raise _unreadable(path, error) from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise SettingError(f"{_shown(path)} is not a plain file; remove it.")
        with os.fdopen(handle, "rb", closefd=False) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise _unreadable(path, error) from error
    finally:
        os.close(handle)
    if len(data) > MOST_BYTES:
        raise SettingError(f"{_shown(path)} is larger than {MOST_BYTES:,} bytes; shorten it.")
    return data


def _layer(path: Path, data: bytes) -> Layer:
    try:
        content = tomllib.loads(data.decode("utf-8"))
    except RecursionError:
        # Without a cause: its traceback has a thousand frames.
        raise SettingError(
            f"{_shown(path)} nests lists or tables too deeply; correct or remove it."
        ) from None
    except ValueError as error:
        # Also a number of too many digits, which the parser does not map.
        reason = display_path(str(error))[:REASON_AT_MOST]
        raise SettingError(
            f"{_shown(path)} is not valid TOML: {reason}; correct or remove it."
        ) from error
    values: dict[str, object] = {}
    for section, entries in content.items():
        if not isinstance(entries, dict):
            values[section] = entries
            continue
        for name, value in entries.items():
            values[f"{section}.{name}"] = value
    return Layer(_shown(path), values)


def _unreadable(path: Path, error: OSError) -> SettingError:
    return SettingError(f"{_shown(path)} cannot be read ({error.strerror}); check it.")


def _shown(path: Path) -> str:
    return display_path(str(path))
