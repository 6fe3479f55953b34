"""Where values come from, and which one wins."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import NamedTuple

from asterism.config.settings import Setting, Settings, all_settings
from asterism.domain.errors import SettingError


class Layer(NamedTuple):
    """Values of one origin, by key."""

    origin: str
    """What an error message calls it: a file's path, `the environment`, `the call`."""
    values: Mapping[str, object]
    strict: bool = True
    """Whether a bad value is an error; the environment's fall back with a warning instead."""


class Loaded(NamedTuple):
    """Settings, and what was wrong but not bad enough to stop."""

    settings: Settings
    warnings: tuple[str, ...] = ()


def resolve(layers: Sequence[Layer]) -> Loaded:
    """The settings, each from the first layer that has it."""
    known = {setting.key: setting for setting in all_settings()}
    warnings: list[str] = []
    chosen: dict[str, int] = {}
    for layer in layers:
        for key, value in layer.values.items():
            if key not in known:
                if layer.strict:
                    raise SettingError(_unknown(layer, key, known))
                continue
            number = _number(known[key], value, layer.strict)
            if number is not None:
                chosen.setdefault(key, number)
            elif layer.strict:
                raise SettingError(f"{_wrong(layer, known[key], value)}.")
            else:
                warnings.append(f"{_wrong(layer, known[key], value)}; it is ignored.")
    return Loaded(_build(chosen), tuple(warnings))


def _build(chosen: Mapping[str, int]) -> Settings:
    settings = Settings()
    for key, number in chosen.items():
        section, name = key.split(".")
        part = replace(getattr(settings, section), **{name: number})
        settings = replace(settings, **{section: part})
    return settings


def _number(setting: Setting, value: object, strict: bool) -> int | None:
    """The value as a number in range. Only the environment writes numbers as text."""
    if isinstance(value, str) and not strict:
        try:
            value = int(value.strip().replace("_", ""))
        except ValueError:
            return None
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    if value < setting.minimum or (setting.maximum is not None and value > setting.maximum):
        return None
    return value


def _wrong(layer: Layer, setting: Setting, value: object) -> str:
    name = setting.key if layer.strict else setting.variable
    return f"{layer.origin}: {name} = {value!r} is not allowed; give {setting.allowed}"


def _unknown(layer: Layer, key: str, known: Iterable[str]) -> str:
    close = get_close_matches(key, list(known), 1)
    hint = f"did you mean {close[0]}?" if close else f"the known ones are {', '.join(known)}."
    return f"{layer.origin}: there is no setting {key}; {hint}"
