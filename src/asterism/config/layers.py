"""Where values come from, and which one wins."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import NamedTuple

from asterism.config.setting import Setting, Value, Voice
from asterism.config.settings import Settings, all_settings
from asterism.domain.errors import SettingError
from asterism.domain.files import display_path

SECRETS: Mapping[str, str] = {
    "embedding.api_key": "ASTERISM_EMBEDDING_API_KEY",
    "rerank.api_key": "ASTERISM_RERANK_API_KEY",
    "model.api_key": "ASTERISM_MODEL_API_KEY",
    "records.password": "ASTERISM_RECORDS_PASSWORD",
    "server.token": "ASTERISM_SERVER_TOKEN",
}
"""What only the environment may hold, as files would spell it, and its variable."""

_PASSWORD = re.compile(r"//[^/@\s]*@")


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


class Loaded(NamedTuple):
    """Settings, and what was wrong but not bad enough to stop."""

    settings: Settings
    warnings: tuple[str, ...] = ()


def resolve(layers: Sequence[Layer]) -> Loaded:
    """The settings, each from the first layer that has it."""
    known = {setting.key: setting for setting in all_settings()}
    warnings: list[str] = []
    chosen: dict[str, Value] = {}
    for layer in layers:
        _check_keys(layer, known)
        unheard = [key for key in layer.values if not _may_set(layer, known[key])]
        if unheard:
            warnings.append(_unheard(layer, unheard, known))
        for key in (key for key in layer.values if key not in unheard):
            value = _read(layer, known[key])
            if value is not None:
                chosen.setdefault(key, value)
            elif layer.strict:
                raise SettingError(f"{_wrong(layer, known[key])}.")
            else:
                warnings.append(f"{_wrong(layer, known[key])}; it is ignored.")
    return Loaded(_build(chosen), tuple(warnings))


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


def _may_set(layer: Layer, setting: Setting) -> bool:
    if layer.repository is None or setting.voice is Voice.anyone:
        return True
    return layer.trusted and setting.voice is Voice.trusted


def _read(layer: Layer, setting: Setting) -> Value | None:
    """The value, if it is allowed; only the environment writes everything as text."""
    written = layer.values[setting.key]
    if isinstance(written, str) and not layer.strict:
        return setting.read_text(written, os.pathsep)
    return setting.read(written)


def _unheard(layer: Layer, keys: Sequence[str], known: Mapping[str, Setting]) -> str:
    if all(known[key].voice is Voice.user for key in keys):
        advice = "only your own settings can say that"
    else:
        root = display_path(layer.repository or "")
        advice = f'if you trust it, add "{root}" to trust.repositories in your own settings'
    return f"{layer.origin}: not taken from a repository's file: {', '.join(keys)}; {advice}."


def _wrong(layer: Layer, setting: Setting) -> str:
    name = layer.variables.get(setting.key, setting.key)
    shown = _PASSWORD.sub("//…@", repr(layer.values[setting.key]))
    return f"{layer.origin}: {name} = {shown} is not allowed; give {setting.allowed}"


def _unknown(layer: Layer, key: str, known: Iterable[str]) -> str:
    close = get_close_matches(key, list(known), 1)
    hint = f"did you mean {close[0]}?" if close else f"the known ones are {', '.join(known)}."
    return f"{layer.origin}: there is no setting {key}; {hint}"
